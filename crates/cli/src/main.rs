//! The `nearkin` command.

fn main() -> std::process::ExitCode {
    nearkin_cli::main(std::env::args_os()).into()
}
