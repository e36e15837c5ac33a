/* What this folder uses of QEMU's plugin interface, version 1. Debian's
 * qemu-user 7.2 has the interface and no header for it. The names, types and
 * values are QEMU's; the words are not. */
#ifndef LITIFUT_TESTS_QEMU_PLUGIN_H
#define LITIFUT_TESTS_QEMU_PLUGIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define QEMU_PLUGIN_EXPORT __attribute__((visibility("default")))
#define QEMU_PLUGIN_VERSION 1

typedef uint64_t qemu_plugin_id_t;

typedef struct qemu_info_t {
	const char *target_name; /* "arm", "mips", "mipsel" */
	struct {
		int min;
		int cur;
	} version;
	bool system_emulation;
	union {
		struct {
			int smp_vcpus;
			int max_vcpus;
		} system;
	};
} qemu_info_t;

struct qemu_plugin_tb;
struct qemu_plugin_insn;

enum qemu_plugin_cb_flags { QEMU_PLUGIN_CB_NO_REGS = 0 };
enum qemu_plugin_op { QEMU_PLUGIN_INLINE_ADD_U64 = 0 };

/* Defined by the plugin: the version it speaks, and where it starts. */
extern QEMU_PLUGIN_EXPORT int qemu_plugin_version;
QEMU_PLUGIN_EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info, int argc,
					   char **argv);

/* A block of instructions was translated, and may be translated again. */
void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t id,
					   void (*callback)(qemu_plugin_id_t id,
							    struct qemu_plugin_tb *block));
/* To be called each time the block / the instruction is about to execute. */
void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb *block,
					  void (*callback)(unsigned cpu, void *user),
					  enum qemu_plugin_cb_flags flags, void *user);
void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *instruction,
					    void (*callback)(unsigned cpu, void *user),
					    enum qemu_plugin_cb_flags flags, void *user);
/* To be added to a 64-bit counter each time the instruction executes. */
void qemu_plugin_register_vcpu_insn_exec_inline(struct qemu_plugin_insn *instruction,
						enum qemu_plugin_op operation, void *counter,
						uint64_t amount);

size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *block);
uint64_t qemu_plugin_tb_vaddr(const struct qemu_plugin_tb *block);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *block, size_t index);
const void *qemu_plugin_insn_data(const struct qemu_plugin_insn *instruction);
size_t qemu_plugin_insn_size(const struct qemu_plugin_insn *instruction);
uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *instruction);
void *qemu_plugin_insn_haddr(const struct qemu_plugin_insn *instruction);
/* As text; the caller frees it. */
char *qemu_plugin_insn_disas(const struct qemu_plugin_insn *instruction);

void qemu_plugin_register_vcpu_syscall_cb(qemu_plugin_id_t id,
					  void (*callback)(qemu_plugin_id_t id, unsigned cpu,
							   int64_t number, uint64_t a1, uint64_t a2,
							   uint64_t a3, uint64_t a4, uint64_t a5,
							   uint64_t a6, uint64_t a7, uint64_t a8));
void qemu_plugin_register_vcpu_syscall_ret_cb(qemu_plugin_id_t id,
					      void (*callback)(qemu_plugin_id_t id, unsigned cpu,
							       int64_t number, int64_t result));
void qemu_plugin_register_atexit_cb(qemu_plugin_id_t id,
				    void (*callback)(qemu_plugin_id_t id, void *user), void *user);

#endif
