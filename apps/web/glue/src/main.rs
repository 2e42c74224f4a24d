//! `fracas-web-glue IN.wasm OUT-FOLDER [--stripped]`: what the program `wasm-bindgen` does, as a
//! library of the very version that the wasm was compiled against; and square roots as
//! instructions (see `instructions`), unless the wasm is stripped of the names that this needs.

mod instructions;

use std::process::ExitCode;

use wasm_bindgen_cli_support::Bindgen;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (input, folder, is_stripped) = match arguments.as_slice() {
        [input, folder] => (input, folder, false),
        [input, folder, word] if word == "--stripped" => (input, folder, true),
        _ => {
            eprintln!("usage: fracas-web-glue IN.wasm OUT-FOLDER [--stripped]");
            return ExitCode::from(2);
        }
    };
    match write(input, folder, is_stripped) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn write(input: &str, folder: &str, is_stripped: bool) -> Result<(), String> {
    let text = |error| format!("{error:#}");
    let mut bindgen = Bindgen::new();
    bindgen.input_path(input).out_name("fracas");
    // Names are needed here and not in the page.
    bindgen.typescript(true).remove_name_section(true);
    let web = bindgen.web(true).map_err(text)?;
    let mut output = web.generate_output().map_err(text)?;
    if !is_stripped {
        let swapped = instructions::take_for_libm(output.wasm_mut())?;
        println!("   {swapped} calls of libm are instructions of wasm");
    }
    output.emit(folder).map_err(text)
}
