// Runs a program and lets one of its calls for files go wrong: for scripts/faults, which compiles it.
//
//   faults FOLDER FAULT N PROGRAM ARGUMENT…
//
// Calls count from the first on that names a path in FOLDER, so that starting the program is left alone. FAULT is what becomes
// of call N: `eio`, `enospc` (of calls that write), `eintr`, `short` (a byte is read or written), `late` (30 ms), or `full`
// (from call N on nothing can be written). With N = 0 nothing goes wrong. The last line on descriptor 9 says how many calls
// there were, and what call N was. Calls are caught in the kernel (ptrace), so it does not matter how they are made.

#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef __x86_64__
int main(void) { return 77; }
#else

enum { WRITES = 1, SHORTENS = 2, PATH_0 = 4, PATH_1 = 8 };

static const struct {
    long number;
    const char *name;
    int what;
} CALLS[] = {
    {SYS_open, "open", PATH_0},
    {SYS_openat, "openat", PATH_1},
    {SYS_read, "read", SHORTENS},
    {SYS_pread64, "pread", SHORTENS},
    {SYS_readv, "readv", 0},
    {SYS_write, "write", WRITES | SHORTENS},
    {SYS_pwrite64, "pwrite", WRITES | SHORTENS},
    {SYS_writev, "writev", WRITES},
    {SYS_copy_file_range, "copy_file_range", WRITES},
    {SYS_sendfile, "sendfile", WRITES},
    {SYS_fsync, "fsync", WRITES},
    {SYS_fdatasync, "fdatasync", WRITES},
    {SYS_ftruncate, "ftruncate", WRITES},
    {SYS_fallocate, "fallocate", WRITES},
    {SYS_rename, "rename", WRITES | PATH_0},
    {SYS_renameat, "renameat", WRITES | PATH_1},
    {SYS_renameat2, "renameat2", WRITES | PATH_1},
    {SYS_linkat, "linkat", WRITES | PATH_1},
    {SYS_mkdir, "mkdir", WRITES | PATH_0},
    {SYS_mkdirat, "mkdirat", WRITES | PATH_1},
    {SYS_unlink, "unlink", PATH_0},
    {SYS_unlinkat, "unlinkat", PATH_1},
    {SYS_rmdir, "rmdir", PATH_0},
    {SYS_stat, "stat", PATH_0},
    {SYS_lstat, "lstat", PATH_0},
    {SYS_fstat, "fstat", 0},
    {SYS_newfstatat, "newfstatat", PATH_1},
    {SYS_statx, "statx", PATH_1},
    {SYS_fchmod, "fchmod", 0},
    {SYS_getdents64, "getdents", 0},
    {SYS_lseek, "lseek", 0},
    {SYS_flock, "flock", 0},
};

static const char *folder, *fault;
static long wanted, seen;
static int begun;
static char hit[64] = "-";

static int find(long number) {
    for (unsigned i = 0; i < sizeof CALLS / sizeof *CALLS; i++)
        if (CALLS[i].number == number) return (int)i;
    return -1;
}

static int names_folder(pid_t thread, unsigned long address) {
    char path[4096];
    size_t length = 0;
    // To the end of a page at a time: what follows may not be there.
    while (length < sizeof path - 1) {
        size_t piece = 4096 - (address + length) % 4096;
        if (piece > sizeof path - 1 - length) piece = sizeof path - 1 - length;
        struct iovec to = {path + length, piece}, from = {(void *)(address + length), piece};
        ssize_t got = process_vm_readv(thread, &to, 1, &from, 1, 0);
        if (got <= 0) break;
        length += (size_t)got;
        if (memchr(path, 0, length)) break;
    }
    path[length] = 0;
    return strncmp(path, folder, strlen(folder)) == 0;
}

// What the call gives instead of its own result; 1 if it is made as it is.
static long meddle(pid_t thread, struct user_regs_struct *registers) {
    int call = find((long)registers->orig_rax);
    if (call < 0) return 1;
    int what = CALLS[call].what;
    if (!begun) {
        unsigned long path = what & PATH_0 ? registers->rdi : what & PATH_1 ? registers->rsi : 0;
        if (!path || !names_folder(thread, path)) return 1;
        begun = 1;
    }
    seen++;
    if (!wanted || seen < wanted) return 1;
    if (seen == wanted) {
        int is_said = registers->rdi == 2 && (what & SHORTENS);
        snprintf(hit, sizeof hit, "%s%s", CALLS[call].name, is_said ? " to standard error" : "");
    }
    if (strcmp(fault, "full") == 0) return what & WRITES && registers->rdi != 2 ? -ENOSPC : 1;
    if (seen > wanted) return 1;
    if (strcmp(fault, "eio") == 0) return -EIO;
    if (strcmp(fault, "enospc") == 0) return what & WRITES ? -ENOSPC : 1;
    if (strcmp(fault, "eintr") == 0) return what & SHORTENS || CALLS[call].number == SYS_openat ? -EINTR : 1;
    if (strcmp(fault, "late") == 0) usleep(30000);
    if (strcmp(fault, "short") == 0 && what & SHORTENS && registers->rdx > 1) {
        registers->rdx = 1;
        ptrace(PTRACE_SETREGS, thread, 0, registers);
    }
    return 1;
}

int main(int count, char **arguments) {
    if (count < 5) return 2;
    folder = arguments[1];
    fault = arguments[2];
    wanted = atol(arguments[3]);
    pid_t program = fork();
    if (program == 0) {
        ptrace(PTRACE_TRACEME, 0, 0, 0);
        raise(SIGSTOP);
        execv(arguments[4], arguments + 4);
        _exit(127);
    }
    int status, result = 1;
    waitpid(program, &status, 0);
    if (ptrace(PTRACE_SETOPTIONS, program, 0,
               PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL) != 0)
        return 77;
    ptrace(PTRACE_SYSCALL, program, 0, 0);
    pid_t thread;
    // Of each thread that stands in a call whose result was chosen here: that result.
    static struct { pid_t thread; long result; } chosen[1024];
    static pid_t inside[1024];
    while ((thread = waitpid(-1, &status, __WALL)) > 0) {
        int signal = 0, place = thread % 1024;
        if (WIFEXITED(status) || WIFSIGNALED(status)) {
            if (thread == program) result = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
            inside[place] = 0;
            chosen[place].thread = 0;
            continue;
        }
        if (!WIFSTOPPED(status)) continue;
        if (WSTOPSIG(status) == (SIGTRAP | 0x80)) {
            struct user_regs_struct registers;
            if (ptrace(PTRACE_GETREGS, thread, 0, &registers) == 0) {
                if (inside[place] != thread) {
                    inside[place] = thread;
                    long given = meddle(thread, &registers);
                    if (given <= 0) {
                        chosen[place].thread = thread;
                        chosen[place].result = given;
                        registers.orig_rax = (unsigned long long)-1; // no call at all
                        ptrace(PTRACE_SETREGS, thread, 0, &registers);
                    }
                } else {
                    inside[place] = 0;
                    if (chosen[place].thread == thread) {
                        chosen[place].thread = 0;
                        registers.rax = (unsigned long long)chosen[place].result;
                        ptrace(PTRACE_SETREGS, thread, 0, &registers);
                    }
                }
            }
        } else if (WSTOPSIG(status) != SIGTRAP && WSTOPSIG(status) != SIGSTOP) {
            signal = WSTOPSIG(status);
        }
        ptrace(PTRACE_SYSCALL, thread, 0, signal);
    }
    dprintf(9, "%ld %s\n", seen, hit);
    return result;
}
#endif
