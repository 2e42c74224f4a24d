//! `fracas-web-glue IN.wasm OUT-FOLDER`: what the program `wasm-bindgen` does, as a
//! library of the very version that the wasm was compiled against; and square roots as
//! instructions (see `instructions`).

mod instructions;

use std::process::ExitCode;

use wasm_bindgen_cli_support::Bindgen;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [input, folder] = arguments.as_slice() else {
        eprintln!("usage: fracas-web-glue IN.wasm OUT-FOLDER");
        return ExitCode::from(2);
    };
    match write(input, folder) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn write(input: &str, folder: &str) -> Result<(), String> {
    let text = |error| format!("{error:#}");
    let mut bindgen = Bindgen::new();
    bindgen.input_path(input).out_name("fracas");
    // Names are needed here and not in the page.
    bindgen.typescript(true).remove_name_section(true);
    let web = bindgen.web(true).map_err(text)?;
    let mut output = web.generate_output().map_err(text)?;
    let swapped = instructions::take_for_libm(output.wasm_mut())?;
    println!("   {swapped} calls of libm are instructions of wasm");
    output.emit(folder).map_err(text)
}
