/* The oracle: a QEMU user-mode plugin that writes down which calls a program
 * really makes, as the CPU makes them, and counts executed instructions.
 *
 *   qemu-arm -plugin oracle.so,calls=PREFIX,through=FILE,count=FILE PROGRAM
 *
 * calls=PREFIX   PREFIX.PID.places holds the places in the code as lines
 *                "NUMBER ADDRESS OFFSET PATH"; PREFIX.PID.TID.calls the calls of
 *                a thread, in order, as pairs of 32-bit place numbers: call
 *                instruction, first instruction of the callee; 0 0 ends them.
 * through=FILE   code ranges (see places.h) that only pass a call on: a call
 *                into them has as callee what executes first after them.
 * count=FILE     at exit, "TOTAL THROUGH": all executed guest instructions,
 *                and how many of them lay in the `through` ranges.
 * blocks=PREFIX  PREFIX.PID.places as above, and PREFIX.PID.TID.blocks: for each block that
 *                QEMU has translated and executed, in order, two words: its place and its bytes,
 *                0 for the delay slot of the block before, if that is on another page
 * steps=PREFIX   PREFIX.PID.places as above, and at exit PREFIX.PID.steps, lines "FROM TO
 *                COUNT": how often the block that ends with the instruction at one place
 *                (MIPS: with the delay slot of it) was followed by that at another.
 * returns=1      The events of a thread have four words, with the time: how many
 *                instructions the process has executed, but for those in `through`
 *                ranges. Besides calls there are events of one place:
 *                {site, RETURNED}, the call has returned;
 *                {site, AGAIN}, control came to its return address otherwise;
 *                {count, CUT}, so many open calls have ended without a return.
 * clock=1        a program that maps the page at LITIFUT_CLOCK_PAGE_ADDRESS reads this
 *                time there, as a 64-bit number of its own byte order.
 *
 * The plugin interface shows no registers, so the callee of a call is what
 * executes next (after the delay slot on MIPS). A signal may come in between:
 * handlers are known from the system calls that install them, and what such
 * a handler calls is logged separately, before the call that it put off.
 *
 * Longer than 500 lines, because a plugin's callbacks share the state of the threads. */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <litifut/clock_page.h>

#include "tests/oracle/decode.h"
#include "tests/oracle/places.h"
#include "tests/oracle/qemu_plugin.h"
#include "tests/oracle/registers.h"
#include "tests/oracle/shadow.h"
#include "tests/oracle/steps.h"

/* A cbz before a moved call or tail call leads so far past the branch that stands in its place. */
#define SKIPPED_BYTES 160u

enum { WINDOW_BYTES = 1 << 20, MAX_HANDLERS = 64, MAX_NESTED = 32 };

struct event {
	uint32_t site;
	uint32_t callee;
	uint32_t time[2]; /* low, high; with returns=1, else not in the file */
};

/* In the place of a callee; see above. */
enum { RETURNED = -1, AGAIN = -2, CUT = -3 };
/* In the upper half of the time of a call: it ends with the call that is open. */
#define TAIL 0x80000000u

/* A call instruction has executed and its callee has not. */
struct pending {
	const struct oracle_place *call;
	bool through; /* it has reached a `through` range */
	/* and gone on to the kernel's helper page: the callee, unless it comes back
	 * into the range, which then has used the helper itself */
	const struct oracle_place *helper;
	unsigned signal_depth;
};

struct thread {
	int file;
	off_t file_bytes;
	uint8_t *window;
	size_t used; /* bytes of the window */
	struct pending pending;
	struct pending nested[MAX_NESTED];
	unsigned nested_count;
	unsigned signal_depth;
	const struct oracle_place *branch;  /* that ended the block before */
	const struct oracle_place *stepped; /* the same, for steps */
	struct oracle_shadow shadow;
};

int qemu_plugin_version = QEMU_PLUGIN_VERSION;

static enum { CPU_ARM, CPU_MIPS_LITTLE, CPU_MIPS_BIG } cpu;
static const char *calls_prefix, *steps_prefix, *blocks_prefix, *count_path;
static uint64_t executed[2]; /* elsewhere, in `through` ranges */
static bool with_returns, with_clock;
static bool clock_is_mapped;
static uintptr_t guest_base;
static bool guest_base_known;
static uint32_t handlers[MAX_HANDLERS];
static unsigned handler_count;
static pid_t first_pid;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static __thread struct thread *self;

static void fail(const char *what)
{
	perror(what);
	abort();
}

static struct thread *this_thread(void)
{
	if (!self) {
		self = calloc(1, sizeof(*self));
		if (!self)
			fail("oracle");
		self->file = -1;
	}
	return self;
}

/* The log is mapped, so that a killed program leaves all it had done. */
static void next_window(struct thread *thread)
{
	char path[4200];

	if (thread->file < 0) {
		snprintf(path, sizeof(path), "%s.%d.%ld.%s",
			 blocks_prefix ? blocks_prefix : calls_prefix, (int)getpid(),
			 syscall(SYS_gettid), blocks_prefix ? "blocks" : "calls");
		thread->file = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
		if (thread->file < 0)
			fail(path);
		thread->file_bytes = 0;
	} else {
		munmap(thread->window, WINDOW_BYTES);
	}
	if (ftruncate(thread->file, thread->file_bytes + WINDOW_BYTES))
		fail("oracle: log");
	thread->window = mmap(NULL, WINDOW_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, thread->file,
			      thread->file_bytes);
	if (thread->window == MAP_FAILED)
		fail("oracle: log");
	thread->file_bytes += WINDOW_BYTES;
	thread->used = 0;
}

/* `tail`: 0, or TAIL. */
static void log_words(struct thread *thread, uint32_t first, uint32_t second, uint32_t tail)
{
	struct event event = {
		first, second, {(uint32_t)executed[0], (uint32_t)(executed[0] >> 32) | tail}};
	size_t bytes = with_returns ? sizeof(event) : sizeof(event) - sizeof(event.time);

	if (!calls_prefix && !blocks_prefix)
		return;
	if (thread->file < 0 || thread->used == WINDOW_BYTES)
		next_window(thread);
	memcpy(thread->window + thread->used, &event, bytes);
	thread->used += bytes;
}

static uint32_t register_of(const uint32_t *registers, unsigned on_arm, unsigned on_mips)
{
	return registers[cpu == CPU_ARM ? on_arm : on_mips];
}

/* Before the first instruction of a block outside of the `through` ranges. */
static void see_return(struct thread *thread, const struct oracle_place *here,
		       const uint32_t *registers)
{
	const struct oracle_place *site;
	uint32_t cut;
	uint32_t sp = register_of(registers, ORACLE_ARM_SP, ORACLE_MIPS_SP);
	enum oracle_arrival arrival =
		oracle_shadow_arrive(&thread->shadow, here->address, sp, &cut, &site);

	if (arrival == ORACLE_ELSEWHERE)
		return;
	if (cut)
		log_words(thread, cut, (uint32_t)CUT, 0);
	log_words(thread, site->number, (uint32_t)(arrival == ORACLE_RETURNED ? RETURNED : AGAIN),
		  0);
}

/* Where a call returns to, be it moved or not. 0: a plain branch, perhaps a tail call. */
static uint32_t returns_to(const struct oracle_place *site)
{
	return site->moved_return ? site->address + site->moved_return : site->return_address;
}

/* The callee of the call that is pending begins. */
static void see_call(struct thread *thread, const struct oracle_place *callee,
		     const uint32_t *registers)
{
	const struct oracle_place *site = thread->pending.call;
	uint32_t link = register_of(registers, ORACLE_ARM_LR, ORACLE_MIPS_RA) & ~1u;
	uint32_t sp = register_of(registers, ORACLE_ARM_SP, ORACLE_MIPS_SP);
	uint32_t cut = 0;
	/* A plain branch to a call that was moved also leads on in the same function where the
	 * condition before that call was false. */
	bool may_begin = site->return_address || link == returns_to(site) ||
			 callee->address - site->address >= SKIPPED_BYTES;
	/* Of a function in the ranges only the return is seen here, where its call is known
	 * by no more than a branch. */
	bool is_tail = with_returns &&
		       (link == callee->address ||
			!oracle_shadow_call(&thread->shadow, site, link, sp, may_begin, &cut));

	if (cut)
		log_words(thread, cut, (uint32_t)CUT, 0);
	log_words(thread, site->number, callee->number, is_tail ? TAIL : 0);
}

static void show_clock(void)
{
	uint8_t *page = (uint8_t *)(guest_base + LITIFUT_CLOCK_PAGE_ADDRESS);

	for (unsigned i = 0; i < 8; i++)
		page[cpu == CPU_MIPS_BIG ? 7 - i : i] = (uint8_t)(executed[0] >> 8 * i);
}

static void on_instruction(unsigned index, void *user)
{
	(void)index, (void)user;
	if (clock_is_mapped)
		show_clock();
}

static void places_log(void)
{
	char path[4200];

	snprintf(path, sizeof(path), "%s.%d.places",
		 calls_prefix   ? calls_prefix
		 : steps_prefix ? steps_prefix
				: blocks_prefix,
		 (int)getpid());
	if (!oracle_places_open_log(path))
		abort();
}

/* A forked child has one thread and files of its own. */
static void after_fork(void)
{
	if (self && self->file >= 0) {
		close(self->file);
		munmap(self->window, WINDOW_BYTES);
		self->file = -1;
	}
	oracle_steps_clear();
	places_log();
}

static void on_step(unsigned index, void *user)
{
	const struct oracle_place *here = user;
	struct thread *thread = this_thread();

	(void)index;
	if (here->slot_only) /* the branch before it is not done */
		return;
	oracle_step(thread->stepped, here);
	thread->stepped = here->branch;
}

static void on_executed(unsigned index, void *user)
{
	const struct oracle_place *here = user;
	struct thread *thread = this_thread();
	const struct oracle_place *branch = thread->branch;

	(void)index;
	thread->branch = here->branch;
	/* the delay slot of that branch, on the next page: nothing has led to it */
	const bool is_slot = branch && here->slot_only && here->address == branch->address + 4;
	log_words(thread, here->number, is_slot ? 0 : here->bytes, 0);
}

static bool is_handler(uint32_t address)
{
	for (unsigned i = 0; i < handler_count; i++) {
		if (handlers[i] == address)
			return true;
	}
	return false;
}

/* Whether `address` is simply what comes after the call. Of what another plain
 * branch to the ranges does, the reader of the log must judge. */
static bool goes_on(const struct oracle_place *call, uint32_t address)
{
	return address == returns_to(call);
}

/* Called before the first instruction of each block. */
static __attribute__((used)) void on_block(unsigned index, void *user, const uint32_t *registers)
{
	const struct oracle_place *here = user;
	struct thread *thread = this_thread();
	struct pending *pending = &thread->pending;
	const struct oracle_place *branch = thread->branch;

	(void)index;
	thread->branch = here->branch;
	if (branch && here->slot_only && here->address == branch->address + 4)
		thread->branch = branch;
	if (handler_count && is_handler(here->address) &&
	    !(pending->call && pending->call->target == here->address)) {
		thread->signal_depth++;
		if (with_returns)
			oracle_shadow_signal(&thread->shadow);
		if (pending->call && thread->nested_count < MAX_NESTED) {
			pending->signal_depth = thread->signal_depth;
			thread->nested[thread->nested_count++] = *pending;
		}
		pending->call = NULL;
		return;
	}
	/* A signal came at the delay slot: the kernel has the call executed again after it. */
	if (cpu != CPU_ARM && pending->call && !pending->through &&
	    here->address == pending->call->address)
		pending->call = NULL;
	if (with_returns && !here->through && !here->slot_only &&
	    (!pending->call || (!pending->through && goes_on(pending->call, here->address))))
		see_return(thread, here, registers);
	/* A tail call, or a call that had no room and was moved elsewhere, comes
	 * into these ranges by a plain branch. */
	if (!pending->call && here->through && branch && !branch->plain) {
		*pending = (struct pending){.call = branch, .through = true};
		return;
	}
	if (!pending->call)
		return;
	/* a delay slot that QEMU made a block of its own */
	if (cpu != CPU_ARM && !pending->through && here->address == pending->call->address + 4)
		return;
	if (here->through) {
		pending->through = true;
		pending->helper = NULL;
		return;
	}
	if (cpu == CPU_ARM && pending->through && here->address >= 0xffff0000u) {
		pending->helper = here;
		return;
	}
	if (pending->helper)
		here = pending->helper;
	/* The condition was false, it was not a call, or it called one of the ranges. */
	if (!goes_on(pending->call, here->address))
		see_call(thread, here, registers);
	pending->call = NULL;
}

ORACLE_WITH_STATE(on_block);
void on_block_with_state(unsigned index, void *user);

static void on_call(unsigned index, void *user)
{
	struct thread *thread = this_thread();

	(void)index;
	thread->pending = (struct pending){.call = user};
}

static uint32_t guest_word(uint32_t address)
{
	const uint8_t *bytes = (const uint8_t *)(guest_base + address);

	if (cpu == CPU_MIPS_BIG)
		return (uint32_t)bytes[0] << 24 | bytes[1] << 16 | bytes[2] << 8 | bytes[3];
	return (uint32_t)bytes[3] << 24 | bytes[2] << 16 | bytes[1] << 8 | bytes[0];
}

/* steps=PREFIX: what this process has done up to now. */
static void write_steps(void)
{
	char path[4200];

	if (!steps_prefix)
		return;
	oracle_step(this_thread()->stepped, NULL);
	snprintf(path, sizeof(path), "%s.%d.steps", steps_prefix, (int)getpid());
	if (!oracle_steps_write(path))
		fail(path);
}

static void signal_returns(void)
{
	struct thread *thread = this_thread();

	if (thread->nested_count &&
	    thread->nested[thread->nested_count - 1].signal_depth == thread->signal_depth)
		thread->pending = thread->nested[--thread->nested_count];
	if (thread->signal_depth)
		thread->signal_depth--;
	if (with_returns) {
		uint32_t cut = oracle_shadow_signal_ends(&thread->shadow);

		if (cut)
			log_words(thread, cut, (uint32_t)CUT, 0);
	}
}

static void on_system_call(qemu_plugin_id_t id, unsigned index, int64_t number, uint64_t a1,
			   uint64_t a2, uint64_t a3, uint64_t a4, uint64_t a5, uint64_t a6,
			   uint64_t a7, uint64_t a8)
{
	/* the numbers of 32-bit MIPS start at 4000 */
	enum { MIPS_FIRST = 4000 };
	bool mips = cpu != CPU_ARM;
	uint32_t handler;

	(void)id, (void)index, (void)a1, (void)a3, (void)a4, (void)a5, (void)a6, (void)a7, (void)a8;
	if (mips)
		number -= MIPS_FIRST;
	switch (number) {
	case 11: /* execve: nothing announces the end of a process that goes on as another program
		  */
		write_steps();
		break;
	case 90: /* mmap, munmap, mmap2 */
	case 91:
	case 192:
	case 210:
		oracle_places_mappings_changed();
		break;
	case 119: /* sigreturn, rt_sigreturn */
		signal_returns();
		break;
	case 173:
		if (!mips)
			signal_returns();
		break;
	case 193:
		if (mips)
			signal_returns();
		break;
	case 67: /* sigaction, rt_sigaction */
	case 174:
	case 194:
		if ((number == 174 && mips) || (number == 194 && !mips) || !(uint32_t)a2 ||
		    !guest_base_known)
			break;
		/* MIPS has the flags in front of it */
		handler = guest_word((uint32_t)a2 + (mips ? 4 : 0)) & (mips ? ~0u : ~1u);
		pthread_mutex_lock(&lock);
		if (handler > 1 && !is_handler(handler) && handler_count < MAX_HANDLERS)
			handlers[handler_count++] = handler;
		pthread_mutex_unlock(&lock);
		break;
	}
}

static void on_system_call_return(qemu_plugin_id_t id, unsigned index, int64_t number,
				  int64_t result)
{
	(void)id, (void)index, (void)number;
	if ((uint32_t)result == LITIFUT_CLOCK_PAGE_ADDRESS && guest_base_known)
		clock_is_mapped = true;
}

/* Whether a block is T32 code. QEMU does not tell, and a block of 4-byte
 * instructions at an even word may be either. Where both readings of the bytes
 * can be a call, the disassembly, which has the mode, decides. */
static bool is_thumb(const struct qemu_plugin_tb *block)
{
	size_t count = qemu_plugin_tb_n_insns(block);
	struct qemu_plugin_insn *last;
	struct oracle_call a32, t32;
	const uint8_t *bytes;
	uint32_t address, word;
	bool thumb, t32_call, a32_call;
	char *text;

	if (qemu_plugin_tb_vaddr(block) & 2)
		return true;
	for (size_t i = 0; i < count; i++) {
		struct qemu_plugin_insn *each = qemu_plugin_tb_get_insn(block, i);

		bytes = qemu_plugin_insn_data(each);
		if (qemu_plugin_insn_size(each) == 2)
			return true;
		/* no 32-bit T32 instruction begins like this, but QEMU gives a 16-bit
		 * one 4 bytes when the next would cross the end of a page */
		if (bytes[1] < 0xe8 && (qemu_plugin_insn_vaddr(each) & 0xfff) != 0xffc)
			return false;
	}
	/* only a call matters, and calls end blocks */
	last = qemu_plugin_tb_get_insn(block, count - 1);
	address = (uint32_t)qemu_plugin_insn_vaddr(last);
	bytes = qemu_plugin_insn_data(last);
	word = (uint32_t)bytes[3] << 24 | bytes[2] << 16 | bytes[1] << 8 | bytes[0];
	t32_call = oracle_decode_t32(address, (uint16_t)word, (uint16_t)(word >> 16), 4, &t32);
	a32_call = oracle_decode_a32(address, word, 0, &a32);
	if (!t32_call && !a32_call)
		return false;
	text = qemu_plugin_insn_disas(last);
	if (!text)
		return t32_call;
	if (!oracle_text_is_call(text))
		thumb = !t32_call; /* no call: take the reading that agrees */
	else if (t32_call && a32_call && strchr(text, '#'))
		thumb = (uint32_t)strtoul(strchr(text, '#') + 1, NULL, 16) == t32.target;
	else
		thumb = t32_call;
	free(text);
	return thumb;
}

static uint32_t mips_word(const struct qemu_plugin_insn *instruction)
{
	const uint8_t *b = qemu_plugin_insn_data(instruction);

	return cpu == CPU_MIPS_BIG ? (uint32_t)b[0] << 24 | b[1] << 16 | b[2] << 8 | b[3]
				   : (uint32_t)b[3] << 24 | b[2] << 16 | b[1] << 8 | b[0];
}

static bool decode(const struct qemu_plugin_insn *instruction, bool thumb, struct oracle_call *call)
{
	const uint8_t *b = qemu_plugin_insn_data(instruction);
	uint32_t address = (uint32_t)qemu_plugin_insn_vaddr(instruction);
	unsigned length = (unsigned)qemu_plugin_insn_size(instruction);
	uint32_t before;

	if (thumb)
		return oracle_decode_t32(address, (uint16_t)(b[0] | b[1] << 8),
					 length == 4 ? (uint16_t)(b[2] | b[3] << 8) : 0, length,
					 call);
	if (length != 4)
		return false;
	if (cpu != CPU_ARM)
		return oracle_decode_mips(address, mips_word(instruction), call);
	before = guest_base_known && address & 0xfff ? guest_word(address - 4) : 0;
	return oracle_decode_a32(address, (uint32_t)b[3] << 24 | b[2] << 16 | b[1] << 8 | b[0],
				 before, call);
}

static void on_translation(qemu_plugin_id_t id, struct qemu_plugin_tb *block)
{
	size_t count = qemu_plugin_tb_n_insns(block);
	struct qemu_plugin_insn *first = qemu_plugin_tb_get_insn(block, 0);
	uint8_t *host = qemu_plugin_insn_haddr(first);
	uint32_t address = (uint32_t)qemu_plugin_tb_vaddr(block);
	struct oracle_place *here;
	struct oracle_call call;
	bool thumb;

	(void)id;
	pthread_mutex_lock(&lock);
	if (host && !guest_base_known) {
		guest_base = (uintptr_t)host - address;
		guest_base_known = true;
	}
	if (!host && guest_base_known)
		host = (uint8_t *)(guest_base + address);
	here = oracle_place_at(address, host);
	if (!here)
		fail("oracle");
	if (count_path || with_returns || with_clock) {
		for (size_t i = 0; i < count; i++)
			qemu_plugin_register_vcpu_insn_exec_inline(
				qemu_plugin_tb_get_insn(block, i), QEMU_PLUGIN_INLINE_ADD_U64,
				&executed[here->through], 1);
	}
	/* Blocks end where pages do, so a clock of blocks would depend on addresses. */
	for (size_t i = 0; i < count && with_clock; i++)
		qemu_plugin_register_vcpu_insn_exec_cb(qemu_plugin_tb_get_insn(block, i),
						       on_instruction, QEMU_PLUGIN_CB_NO_REGS,
						       NULL);
	if (blocks_prefix) {
		struct qemu_plugin_insn *last = qemu_plugin_tb_get_insn(block, count - 1);
		const uint32_t at = (uint32_t)qemu_plugin_insn_vaddr(last);

		here->bytes = at + (uint32_t)qemu_plugin_insn_size(last) - address;
		here->slot_only = cpu != CPU_ARM && count == 1 && !(at & 0xfff);
		if (cpu != CPU_ARM && oracle_has_delay_slot(mips_word(last)))
			here->branch = oracle_place_at(at, host ? host + (at - address) : NULL);
		qemu_plugin_register_vcpu_tb_exec_cb(block, on_executed, QEMU_PLUGIN_CB_NO_REGS,
						     here);
	}
	if (steps_prefix)
		qemu_plugin_register_vcpu_tb_exec_cb(block, on_step, QEMU_PLUGIN_CB_NO_REGS, here);
	if (calls_prefix || with_clock)
		qemu_plugin_register_vcpu_tb_exec_cb(block, on_block_with_state,
						     QEMU_PLUGIN_CB_NO_REGS, here);
	if (calls_prefix || with_clock || steps_prefix) {
		thumb = cpu == CPU_ARM && is_thumb(block);
		if (!here->through || steps_prefix) {
			/* on MIPS the delay slot comes last, unless it is on another page:
			 * then it is a block of its own */
			struct qemu_plugin_insn *end = qemu_plugin_tb_get_insn(block, count - 1);
			uint32_t at = (uint32_t)qemu_plugin_insn_vaddr(end);

			here->slot_only = cpu != CPU_ARM && count == 1 && !(at & 0xfff);
			if (cpu != CPU_ARM && count > 1 && !oracle_has_delay_slot(mips_word(end))) {
				end = qemu_plugin_tb_get_insn(block, count - 2);
				at = (uint32_t)qemu_plugin_insn_vaddr(end);
			}
			here->branch = oracle_place_at(at, host ? host + (at - address) : NULL);
		}
		/* calls end blocks; on MIPS with the delay slot after them */
		for (size_t i = count > 1 ? count - 2 : 0;
		     i < count && !here->through && !steps_prefix; i++) {
			struct qemu_plugin_insn *each = qemu_plugin_tb_get_insn(block, i);
			uint32_t at = (uint32_t)qemu_plugin_insn_vaddr(each);
			struct oracle_place *site;

			if (cpu == CPU_ARM && i + 1 < count)
				continue;
			if (!decode(each, thumb, &call))
				continue;
			site = oracle_place_at(at, host ? host + (at - address) : NULL);
			if (!site)
				fail("oracle");
			site->target = call.target;
			site->return_address = call.return_address;
			qemu_plugin_register_vcpu_insn_exec_cb(each, on_call,
							       QEMU_PLUGIN_CB_NO_REGS, site);
		}
	}
	pthread_mutex_unlock(&lock);
}

static void at_exit(qemu_plugin_id_t id, void *user)
{
	char path[4200];
	FILE *file;

	(void)id, (void)user;
	write_steps();
	if (!count_path)
		return;
	if (getpid() == first_pid)
		snprintf(path, sizeof(path), "%s", count_path);
	else
		snprintf(path, sizeof(path), "%s.%d", count_path, (int)getpid());
	file = fopen(path, "we");
	if (!file)
		fail(path);
	fprintf(file, "%llu %llu\n", (unsigned long long)(executed[0] + executed[1]),
		(unsigned long long)executed[1]);
	fclose(file);
}

int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info, int argc, char **argv)
{
	if (!strcmp(info->target_name, "arm"))
		cpu = CPU_ARM;
	else if (!strcmp(info->target_name, "mipsel"))
		cpu = CPU_MIPS_LITTLE;
	else if (!strcmp(info->target_name, "mips"))
		cpu = CPU_MIPS_BIG;
	else {
		fprintf(stderr, "oracle: no target %s\n", info->target_name);
		return 1;
	}
	for (int i = 0; i < argc; i++) {
		if (!strncmp(argv[i], "calls=", 6)) {
			calls_prefix = strdup(argv[i] + 6);
		} else if (!strncmp(argv[i], "steps=", 6)) {
			steps_prefix = strdup(argv[i] + 6);
		} else if (!strncmp(argv[i], "blocks=", 7)) {
			blocks_prefix = strdup(argv[i] + 7);
		} else if (!strncmp(argv[i], "count=", 6)) {
			count_path = strdup(argv[i] + 6);
		} else if (!strcmp(argv[i], "returns=1")) {
			with_returns = true;
		} else if (!strcmp(argv[i], "clock=1")) {
			with_clock = true;
		} else if (!strncmp(argv[i], "through=", 8)) {
			if (!oracle_places_read_ranges(argv[i] + 8))
				return 1;
		} else {
			fprintf(stderr, "oracle: unknown option %s\n", argv[i]);
			return 1;
		}
	}
	first_pid = getpid();
	if (calls_prefix || steps_prefix || blocks_prefix) {
		places_log();
		pthread_atfork(NULL, NULL, after_fork);
	}
	qemu_plugin_register_vcpu_tb_trans_cb(id, on_translation);
	qemu_plugin_register_vcpu_syscall_cb(id, on_system_call);
	if (with_clock)
		qemu_plugin_register_vcpu_syscall_ret_cb(id, on_system_call_return);
	qemu_plugin_register_atexit_cb(id, at_exit, NULL);
	return 0;
}
