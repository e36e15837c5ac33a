/* Linux, with glibc and with others (musl, uClibc). */
#include "platform/platform.h"

/* On ARM and MIPS. */
static const char *const glibc_files[] = {"libc.so.6", "ld-linux", "ld.so.1", NULL};
static const char *const glibc_loaders[] = {"ld.so",     "ld.so.*",   "ld-*.so",
					    "ld-*.so.*", "vdso*.so*", NULL};
static const char *const other_loaders[] = {"ld*-uClibc*", "ld-musl-*", NULL};
static const char *const process_makers[] = {"vfork",   "__vfork", "_Fork", "clone",
					     "__clone", "syscall", NULL};
static const char *const confiners[] = {"prctl", "seccomp_load", NULL};
/* Those of exec that come late lead to the first of them. */
static const char *const enders[] = {"_exit",  "_Exit",   "abort",  "quick_exit", "execve",
				     "execvp", "execv",   "execlp", "execl",      "execvpe",
				     "execle", "fexecve", NULL};
static const char *const complainers[] = {"__assert_fail", "__assert", "err", "errx",
					  "verr",          "verrx",    NULL};

const struct platform platform_linux_glibc = {
	.name = "linux-glibc",
	.files = glibc_files,
	.static_function = "__libc_setup_tls",
	.loaders = glibc_loaders,
	.has_spare_word = true,
	.registers_fork_handlers = "__register_atfork",
	.forks = "__libc_fork",
	.process_makers = process_makers,
	.confiners = confiners,
	.enders = enders,
	.complainers = complainers,
};

const struct platform platform_linux = {
	.name = "linux",
	.loaders = other_loaders,
	.process_makers = process_makers,
	.confiners = confiners,
	.enders = enders,
	.complainers = complainers,
	/* musl's _Fork. In glibc's the kernel writes the id. */
	.early_child = "_Fork",
	.no_early_child = "__libc_early_init",
};
