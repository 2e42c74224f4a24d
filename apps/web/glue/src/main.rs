//! `fracas-web-glue IN.wasm OUT-FOLDER`: what the program `wasm-bindgen` does, as a
//! library of the very version that the wasm was compiled against.

use std::process::ExitCode;

use wasm_bindgen_cli_support::Bindgen;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [input, folder] = arguments.as_slice() else {
        eprintln!("usage: fracas-web-glue IN.wasm OUT-FOLDER");
        return ExitCode::from(2);
    };
    let written = Bindgen::new()
        .input_path(input)
        .out_name("fracas")
        .web(true)
        .and_then(|b| b.typescript(true).generate(folder));
    match written {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}
