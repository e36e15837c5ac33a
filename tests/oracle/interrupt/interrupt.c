/* SIGUSR1 at a chosen instruction: a QEMU user-mode plugin.
 *
 *   qemu-arm -plugin interrupt.so,after=ADDRESS,from=ADDRESS,to=ADDRESS,before=COUNT PROGRAM
 *
 * The signal is sent when the instruction at `after` has been executed and then COUNT instructions
 * from `from` to `to`, and QEMU handles it where the block of instructions ends that this one is
 * in. The addresses are those in memory, in hex. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/oracle/qemu_plugin.h"

int qemu_plugin_version = QEMU_PLUGIN_VERSION;

static uint64_t after;
static uint64_t from;
static uint64_t to;
static long before;
static int counting;

static void begun(unsigned cpu, void *user)
{
	(void)cpu;
	(void)user;
	counting = 1;
}

static void executed(unsigned cpu, void *user)
{
	(void)cpu;
	(void)user;
	if (counting && !before--)
		syscall(SYS_tgkill, getpid(), syscall(SYS_gettid), SIGUSR1);
}

static void translated(qemu_plugin_id_t id, struct qemu_plugin_tb *block)
{
	(void)id;
	for (size_t i = 0; i < qemu_plugin_tb_n_insns(block); i++) {
		struct qemu_plugin_insn *instruction = qemu_plugin_tb_get_insn(block, i);
		uint64_t address = qemu_plugin_insn_vaddr(instruction);

		if (address == after)
			qemu_plugin_register_vcpu_insn_exec_cb(instruction, begun,
							       QEMU_PLUGIN_CB_NO_REGS, NULL);
		if (address >= from && address < to)
			qemu_plugin_register_vcpu_insn_exec_cb(instruction, executed,
							       QEMU_PLUGIN_CB_NO_REGS, NULL);
	}
}

QEMU_PLUGIN_EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info, int argc,
					   char **argv)
{
	(void)info;
	for (int i = 0; i < argc; i++) {
		if (!strncmp(argv[i], "after=", 6))
			after = strtoull(argv[i] + 6, NULL, 16);
		else if (!strncmp(argv[i], "from=", 5))
			from = strtoull(argv[i] + 5, NULL, 16);
		else if (!strncmp(argv[i], "to=", 3))
			to = strtoull(argv[i] + 3, NULL, 16);
		else if (!strncmp(argv[i], "before=", 7))
			before = strtol(argv[i] + 7, NULL, 10);
	}
	if (!after || from >= to || before < 0) {
		fprintf(stderr, "interrupt: which instructions?\n");
		return 1;
	}
	qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
	return 0;
}
