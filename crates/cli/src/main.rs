//! The `nearkin` command.

#[global_allocator]
static MEMORY: nearkin_kernels::SystemMemory = nearkin_kernels::SystemMemory;

fn main() -> std::process::ExitCode {
    nearkin_kernels::keep_freed_memory();
    nearkin_kernels::when_refused(nearkin_cli::out_of_memory);
    nearkin_cli::when_threads_are_refused();
    nearkin_cli::main(std::env::args_os()).into()
}
