//! `fracas view`: serves the page to this machine alone and opens it.
//!
//! A file server of the plainest kind: GET and HEAD, one answer a connection, files
//! of one folder and the one file the user named. It listens on the loopback address
//! only and answers only requests that are addressed to it by that name, so that no
//! other page can reach it by a name of its own.

use std::error::Error;
use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::{Component, Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use fracas_scenes::rigid::SCENES;
use fracas_scenes::soft::SoftScene;

use crate::output::say;

/// Arguments of `fracas view`.
#[derive(Args)]
#[command(
    after_help = "Examples:\n  fracas view\n  fracas view plates\n  fracas run piggy-bank --recording pig.film && fracas view pig.film\n  fracas view model.glb\n\nThe page is built by `cargo xtask web`."
)]
pub struct View {
    /// A scene's name, a recording (.film) or a mesh file.
    what: Option<String>,
    /// Where to listen, on the loopback address (0: any free port).
    #[arg(long, default_value_t = 0)]
    port: u16,
    /// The folder of the page (default: apps/web/dist).
    #[arg(long, value_name = "FOLDER")]
    page: Option<PathBuf>,
    /// Print the address and open no browser.
    #[arg(long)]
    no_open: bool,
}

/// What is served.
struct Site {
    folder: PathBuf,
    /// The user's file, as `/open/NAME`.
    file: Option<(String, PathBuf)>,
    port: u16,
}

/// Sent with every answer: nothing is fetched from elsewhere, no other page may show this
/// one in a frame, and it stands apart from all others, so that threads may be had.
const SHELTER: &str = "Content-Security-Policy: default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; worker-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'\r\n\
    Cross-Origin-Opener-Policy: same-origin\r\n\
    Cross-Origin-Embedder-Policy: require-corp\r\n\
    Cross-Origin-Resource-Policy: same-origin\r\n\
    Referrer-Policy: no-referrer\r\n\
    X-Content-Type-Options: nosniff\r\n";

/// Longest request line and header that is read.
const MOST_HEADER: u64 = 16 * 1024;

/// Serves until interrupted.
pub fn run(options: &View) -> Result<(), Box<dyn Error>> {
    let folder = page_folder(options.page.as_deref())?;
    let (query, file) = asked(options.what.as_deref())?;
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, options.port))
        .map_err(|e| format!("cannot listen on port {}: {e}; try another", options.port))?;
    let port = listener.local_addr()?.port();
    let address = format!("http://127.0.0.1:{port}/{query}");
    say!("{address}");
    if !options.no_open && !open_browser(&address) {
        say!("(no browser could be opened: go there yourself)");
    }
    say!("Ctrl-C ends it.");
    let site = Arc::new(Site { folder, file, port });
    for stream in listener.incoming() {
        let Ok(stream) = stream else { continue };
        let site = Arc::clone(&site);
        std::thread::spawn(move || {
            // The other side went away: nobody is left to tell.
            let _ = answer(stream, &site);
        });
    }
    Ok(())
}

/// The folder of the built page: as given, below here, or below where the program is.
fn page_folder(given: Option<&Path>) -> Result<PathBuf, String> {
    let program = std::env::current_exe().ok();
    let ancestors = program.iter().flat_map(|p| p.ancestors());
    let near = ancestors.map(|p| p.join("apps/web/dist"));
    let mut places: Box<dyn Iterator<Item = PathBuf>> = match given {
        Some(folder) => Box::new(std::iter::once(folder.to_owned())),
        None => Box::new(std::iter::once(PathBuf::from("apps/web/dist")).chain(near)),
    };
    places
        .find(|p| p.join("index.html").is_file())
        .and_then(|p| p.canonicalize().ok())
        .ok_or_else(|| match given {
            Some(folder) => format!("there is no page in {}", folder.display()),
            None => "the page is not built: run `cargo xtask web` first".into(),
        })
}

type Asked = (String, Option<(String, PathBuf)>);

/// The address's query and the file that it names.
fn asked(what: Option<&str>) -> Result<Asked, String> {
    let Some(what) = what else {
        return Ok((String::new(), None));
    };
    let soft = SoftScene::NAMES.into_iter();
    let there: Vec<_> = SCENES.iter().map(|s| s.name).chain(soft).collect();
    if there.contains(&what) {
        return Ok((format!("?scene={what}"), None));
    }
    let path = Path::new(what);
    if !path.is_file() {
        return Err(format!(
            "`{what}` is neither a file nor a scene; the scenes are: {}",
            there.join(", ")
        ));
    }
    let name = path
        .file_name()
        .map_or_else(String::new, |n| n.to_string_lossy().into_owned());
    let query = format!("?open=open/{}", encoded(&name));
    Ok((query, Some((name, path.to_owned()))))
}

/// A name as a part of an address.
fn encoded(name: &str) -> String {
    let plain = |b: u8| b.is_ascii_alphanumeric() || b"-_.~".contains(&b);
    name.bytes()
        .map(|b| match b {
            b if plain(b) => char::from(b).to_string(),
            b => format!("%{b:02X}"),
        })
        .collect()
}

/// The other way; `None` for what is no name.
fn decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::new();
    let mut rest = text.bytes();
    while let Some(b) = rest.next() {
        bytes.push(match b {
            b'%' => {
                let hex = [rest.next()?, rest.next()?];
                u8::from_str_radix(std::str::from_utf8(&hex).ok()?, 16).ok()?
            }
            b => b,
        });
    }
    String::from_utf8(bytes).ok()
}

fn open_browser(address: &str) -> bool {
    let (program, before): (&str, &[&str]) = if cfg!(target_os = "macos") {
        ("open", &[])
    } else if cfg!(windows) {
        ("cmd", &["/C", "start", ""])
    } else {
        ("xdg-open", &[])
    };
    Command::new(program)
        .args(before)
        .arg(address)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .is_ok()
}

fn answer(stream: TcpStream, site: &Site) -> io::Result<()> {
    stream.set_read_timeout(Some(Duration::from_secs(5)))?;
    stream.set_write_timeout(Some(Duration::from_secs(30)))?;
    let mut reader = BufReader::new(stream.try_clone()?.take(MOST_HEADER));
    let mut line = String::new();
    reader.read_line(&mut line)?;
    let mut host = String::new();
    loop {
        let mut header = String::new();
        if reader.read_line(&mut header)? == 0 || header.trim().is_empty() {
            break;
        }
        if let Some((name, value)) = header.split_once(':')
            && name.eq_ignore_ascii_case("host")
        {
            host = value.trim().to_owned();
        }
    }
    let mut stream = stream;
    let mut words = line.split_whitespace();
    let (method, target) = (words.next().unwrap_or(""), words.next().unwrap_or(""));
    let ours = [
        format!("127.0.0.1:{0}", site.port),
        format!("localhost:{}", site.port),
    ];
    let (status, kind, body) = if !ours.contains(&host) {
        ("403 Forbidden", "text/plain", b"not for this host".to_vec())
    } else if !["GET", "HEAD"].contains(&method) {
        ("405 Method Not Allowed", "text/plain", b"only GET".to_vec())
    } else {
        match site.file(target).map(|p| (kind(&p), std::fs::read(p))) {
            Some((kind, Ok(body))) => ("200 OK", kind, body),
            _ => ("404 Not Found", "text/plain", b"no such file".to_vec()),
        }
    };
    write!(
        stream,
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\nCache-Control: no-cache\r\n{SHELTER}Connection: close\r\n\r\n",
        body.len()
    )?;
    if method != "HEAD" {
        stream.write_all(&body)?;
    }
    stream.flush()
}

impl Site {
    /// The file behind a request's target, if it may be seen.
    fn file(&self, target: &str) -> Option<PathBuf> {
        let path = decoded(target.split(['?', '#']).next()?)?;
        let path = path.strip_prefix('/')?;
        if let Some((name, file)) = &self.file
            && path.strip_prefix("open/") == Some(name)
        {
            return Some(file.clone());
        }
        let path = Path::new(if path.is_empty() { "index.html" } else { path });
        let plain = path.components().all(|c| matches!(c, Component::Normal(_)));
        let found = self.folder.join(path).canonicalize().ok()?;
        // A link may lead out of the folder: what counts is where the file is.
        (plain && found.starts_with(&self.folder) && found.is_file()).then_some(found)
    }
}

fn kind(path: &Path) -> &'static str {
    match path.extension().and_then(|e| e.to_str()) {
        Some("html") => "text/html; charset=utf-8",
        Some("js") => "text/javascript; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("wasm") => "application/wasm",
        Some("svg") => "image/svg+xml",
        Some("png") => "image/png",
        _ => "application/octet-stream",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn site() -> (std::path::PathBuf, Site) {
        let folder = std::env::temp_dir().join(format!("fracas-view-{}", std::process::id()));
        std::fs::create_dir_all(folder.join("page/assets")).unwrap();
        std::fs::write(folder.join("page/index.html"), "<p>page").unwrap();
        std::fs::write(folder.join("page/assets/a.wasm"), "wasm").unwrap();
        std::fs::write(folder.join("secret"), "secret").unwrap();
        std::fs::write(folder.join("my model.glb"), "model").unwrap();
        let site = Site {
            folder: folder.join("page").canonicalize().unwrap(),
            file: Some(("my model.glb".into(), folder.join("my model.glb"))),
            port: 4321,
        };
        (folder, site)
    }

    fn ask(site: Site, request: &str) -> String {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let address = listener.local_addr().unwrap();
        let served = std::thread::spawn(move || answer(listener.accept().unwrap().0, &site));
        let mut stream = TcpStream::connect(address).unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        let mut reply = String::new();
        stream.read_to_string(&mut reply).unwrap();
        served.join().unwrap().unwrap();
        reply
    }

    #[test]
    fn files_of_the_page_are_served_and_nothing_else() {
        let (folder, site) = site();
        let name = |target: &str| {
            site.file(target)
                .map(|p| std::fs::read_to_string(p).unwrap())
        };
        assert_eq!(name("/").as_deref(), Some("<p>page"));
        assert_eq!(name("/?scene=plates").as_deref(), Some("<p>page"));
        assert_eq!(name("/assets/a.wasm").as_deref(), Some("wasm"));
        assert_eq!(name("/open/my%20model.glb").as_deref(), Some("model"));
        for bad in [
            "/../secret",
            "/%2e%2e/secret",
            "/assets/../../secret",
            "//secret",
            "/open/secret",
            "secret",
            "",
            "/assets",
            "/%zz",
        ] {
            assert_eq!(name(bad), None, "{bad}");
        }
        let get = |line: &str, host: &str| format!("{line}\r\nHost: {host}\r\n\r\n");
        let reply = ask(site, &get("GET / HTTP/1.1", "127.0.0.1:4321"));
        assert!(reply.starts_with("HTTP/1.1 200") && reply.ends_with("<p>page"));
        assert!(reply.contains("frame-ancestors 'none'"), "{reply}");
        let (_, site) = self::site();
        let reply = ask(site, &get("GET / HTTP/1.1", "evil.example:4321"));
        assert!(reply.starts_with("HTTP/1.1 403"), "{reply}");
        let (_, site) = self::site();
        let reply = ask(site, &get("POST / HTTP/1.1", "localhost:4321"));
        assert!(reply.starts_with("HTTP/1.1 405"), "{reply}");
        std::fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn every_scene_is_shown_soft_ones_too() {
        for name in ["plates", "torus-on-cube", "ball-tears-cloth"] {
            assert_eq!(asked(Some(name)).unwrap().0, format!("?scene={name}"));
        }
        assert!(asked(Some("nope")).unwrap_err().contains("torus-on-cube"));
    }

    #[test]
    fn names_survive_the_address() {
        for name in ["a.obj", "zwei Hasen & ein Käfer?.glb", "100%.ply", "#1"] {
            assert_eq!(decoded(&encoded(name)).as_deref(), Some(name));
        }
    }
}
