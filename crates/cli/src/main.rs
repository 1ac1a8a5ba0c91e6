//! The `nearkin` command.

fn main() -> std::process::ExitCode {
    nearkin_kernels::keep_freed_memory();
    nearkin_cli::main(std::env::args_os()).into()
}
