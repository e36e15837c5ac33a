/* A QEMU plugin for whole machines: how often each call instruction of a firmware executes
 * and is taken. It does not see what LITIFUT makes of the program, only addresses:
 *
 *   -plugin system.so,sites=FILE,out=FILE
 *
 * `sites` has one hexadecimal address a line; `out` gets "ADDRESS COUNT TAKEN" for each of
 * them that was executed, then "instructions COUNT". An instruction was taken when the next
 * one to execute is not the one behind it.
 *
 * An address may be followed by that where the call returns to. Then the line has four numbers
 * more: calls that have returned, their instructions, and those of the shortest and of the
 * longest. Calls return in the order of one stack; interrupts do as well.
 *
 * With order=FILE that file gets a line for each execution of a site, in order: `e ADDRESS', and
 * `t ADDRESS' behind it if it was taken.
 *
 * With stamps=FILE that file gets "ADDRESS TAKEN INSTRUCTIONS" for each execution of a site:
 * whether it was taken, and how many were executed before it.
 *
 * With masked=FILE that file gets "INSTRUCTIONS CYCLES ADDRESS" for each `cpsid i': the longest
 * time with interrupts off, up to the next instruction that writes PRIMASK, but for the first time,
 * when what it protects may begin. Cycles are those of a Cortex-M3 without wait states (DDI
 * 0337H 3.3.1, a refill of the pipeline taken as 3).
 *
 * With cycles=on "cycles COUNT" follows: those of a Cortex-M0+ without wait states, with the fast
 * multiplier (DDI 0484C 3.3), for its instructions alone, and without interrupts. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/oracle/qemu_plugin.h"

QEMU_PLUGIN_EXPORT int qemu_plugin_version = QEMU_PLUGIN_VERSION;

struct site {
	uint64_t address;
	uint64_t executed;
	uint64_t taken;
	uint64_t back; /* where it returns to; 0: that is not asked */
	uint64_t returned;
	uint64_t sum, least, most; /* instructions */
};

/* Calls that have not returned. */
#define OPEN_MAX 4096
static struct {
	struct site *site;
	uint64_t since;
} open_calls[OPEN_MAX];
static unsigned open_count;

static struct site *sites;
static size_t site_count;
static const char *out;
static FILE *order, *stamps;
static uint64_t stamp; /* of the pending site */
static uint64_t instructions;

/* The site that was executed last, and the address behind it. */
static struct site *pending;
static uint64_t behind;

static int by_address(const void *left, const void *right)
{
	const struct site *a = left;
	const struct site *b = right;

	return a->address < b->address ? -1 : a->address > b->address;
}

static struct site *find(uint64_t address)
{
	const struct site key = {.address = address};

	return bsearch(&key, sites, site_count, sizeof(*sites), by_address);
}

/* Is this the return point of an open call? Those above it have ended without a return. */
static void return_to(uint64_t address)
{
	for (unsigned i = open_count; i-- > 0;) {
		struct site *site = open_calls[i].site;
		uint64_t time = instructions - open_calls[i].since;

		if (site->back != address)
			continue;
		site->sum += time;
		if (!site->returned || time < site->least)
			site->least = time;
		if (time > site->most)
			site->most = time;
		site->returned++;
		open_count = i;
		return;
	}
}

/* An instruction that can be among those with interrupts off. */
struct step {
	uint64_t address;
	unsigned bytes;
	unsigned cycles;
	bool begins, ends, again;
	uint64_t most, most_cycles;
	struct step *before;
};

static FILE *masked;
static struct step *steps;
static struct step *masked_since;
static uint64_t masked_instructions, masked_cycles, masked_next;

static unsigned ones(unsigned bits)
{
	unsigned count = 0;

	for (; bits; bits &= bits - 1)
		count++;
	return count;
}

static unsigned cycles_of(unsigned first, unsigned second, unsigned bytes)
{
	if (bytes == 2) {
		if (first >> 12 == 0xc)
			return 1 + ones(first & 0xff); /* stm, ldm */
		if ((first & 0xf600) == 0xb400)
			return 1 + ones(first & 0x1ff); /* push, pop */
		if (first >> 11 == 9 || first >> 12 == 5 || first >> 13 == 3 || first >> 12 == 8 ||
		    first >> 12 == 9 || (first & 0xffe0) == 0xb660)
			return 2; /* loads and stores, cps */
		return 1;
	}
	if ((first & 0xfe40) == 0xe800)
		return 1 + ones(second);
	if ((first & 0xfe40) == 0xe840)
		return (first & 0xffe0) == 0xe840 ? 2 : 3; /* ldrex, strex; ldrd, strd */
	if ((first & 0xfe00) == 0xf800 || (first & 0xffc0) == 0xf380)
		return 2; /* loads and stores; mrs, msr */
	return 1;
}

static void step(unsigned cpu, void *user)
{
	struct step *now = user;

	(void)cpu;
	if (masked_since) {
		masked_instructions++;
		masked_cycles += now->cycles + (now->address == masked_next ? 0 : 3);
		masked_next = now->address + now->bytes;
		if (now->ends) {
			if (masked_since->again && masked_instructions > masked_since->most)
				masked_since->most = masked_instructions;
			if (masked_since->again && masked_cycles > masked_since->most_cycles)
				masked_since->most_cycles = masked_cycles;
			masked_since->again = true;
			masked_since = NULL;
		}
	}
	if (now->begins && !masked_since) {
		masked_since = now;
		masked_instructions = 0;
		masked_cycles = 0;
		masked_next = now->address + now->bytes;
	}
}

static void watch_step(struct qemu_plugin_insn *instruction)
{
	struct step *new = calloc(1, sizeof(*new));
	const uint8_t *code = qemu_plugin_insn_data(instruction);
	unsigned first, second = 0;

	if (!new)
		return;
	new->address = qemu_plugin_insn_vaddr(instruction);
	new->bytes = (unsigned)qemu_plugin_insn_size(instruction);
	first = code[0] | (unsigned)code[1] << 8;
	if (new->bytes == 4)
		second = code[2] | (unsigned)code[3] << 8;
	new->begins = first == 0xb672;
	new->ends = first == 0xb662 || ((first & 0xfff0) == 0xf380 && second == 0x8810);
	new->cycles = cycles_of(first, second, new->bytes);
	new->before = steps;
	steps = new;
	qemu_plugin_register_vcpu_insn_exec_cb(instruction, step, QEMU_PLUGIN_CB_NO_REGS, new);
}

/* Of a Cortex-M0+. */
static struct timed {
	uint64_t address;
	unsigned bytes, cycles;
	bool branches; /* by b: one cycle more if it does */
	struct timed *before;
} * timed, *timed_last;
static bool counts_cycles;
static uint64_t cycles;

static unsigned baseline_cycles(unsigned first, unsigned bytes)
{
	if (bytes == 4)
		return 3; /* bl, mrs, msr, dsb */
	if (first >> 12 == 0xc)
		return 1 + ones(first & 0xff);
	if ((first & 0xf600) == 0xb400)
		return ((first & 0xff00) == 0xbd00 ? 3 : 1) + ones(first & 0x1ff);
	if ((first & 0xff00) == 0x4700 || (first & 0xfd87) == 0x4487 || first >> 11 == 9 ||
	    first >> 12 == 5 || first >> 13 == 3 || first >> 12 == 8 || first >> 12 == 9)
		return 2; /* bx, blx; mov and add to pc; loads and stores */
	return 1;
}

static void count_cycles(unsigned cpu, void *user)
{
	struct timed *now = user;

	(void)cpu;
	cycles += now->cycles;
	if (timed_last && timed_last->branches &&
	    timed_last->address + timed_last->bytes != now->address)
		cycles++;
	timed_last = now;
}

static void time_instruction(struct qemu_plugin_insn *instruction)
{
	struct timed *new = calloc(1, sizeof(*new));
	const uint8_t *code = qemu_plugin_insn_data(instruction);
	const unsigned first = code[0] | (unsigned)code[1] << 8;

	if (!new)
		return;
	new->address = qemu_plugin_insn_vaddr(instruction);
	new->bytes = (unsigned)qemu_plugin_insn_size(instruction);
	new->cycles = baseline_cycles(first, new->bytes);
	new->branches = new->bytes == 2 && (first >> 12 == 0xd || first >> 11 == 0x1c);
	new->before = timed;
	timed = new;
	qemu_plugin_register_vcpu_insn_exec_cb(instruction, count_cycles, QEMU_PLUGIN_CB_NO_REGS,
					       new);
}

/* `user`: the address of the instruction. */
static void execute(unsigned cpu, void *user)
{
	uint64_t address = (uint64_t)(uintptr_t)user;

	(void)cpu;
	instructions++;
	if (pending && stamps)
		fprintf(stamps, "%llx %d %llu\n", (unsigned long long)pending->address,
			address != behind, (unsigned long long)stamp);
	if (pending && address != behind) {
		pending->taken++;
		if (order)
			fprintf(order, "t %llx\n", (unsigned long long)pending->address);
		if (pending->back && open_count < OPEN_MAX) {
			open_calls[open_count].site = pending;
			open_calls[open_count++].since = instructions - 1;
		}
	}
	if (open_count)
		return_to(address);
	pending = find(address);
	stamp = instructions - 1;
	if (pending) {
		pending->executed++;
		if (order)
			fprintf(order, "e %llx\n", (unsigned long long)address);
		/* All sites are 2 or 4 bytes; the low bit of nothing else is in use. */
		behind = address + 2;
	}
}

static void execute_wide(unsigned cpu, void *user)
{
	execute(cpu, user);
	if (pending)
		behind += 2;
}

static void translate(qemu_plugin_id_t id, struct qemu_plugin_tb *block)
{
	(void)id;
	for (size_t i = 0; i < qemu_plugin_tb_n_insns(block); i++) {
		struct qemu_plugin_insn *instruction = qemu_plugin_tb_get_insn(block, i);
		uint64_t address = qemu_plugin_insn_vaddr(instruction);

		qemu_plugin_register_vcpu_insn_exec_cb(
			instruction,
			qemu_plugin_insn_size(instruction) == 4 ? execute_wide : execute,
			QEMU_PLUGIN_CB_NO_REGS, (void *)(uintptr_t)address);
		if (masked)
			watch_step(instruction);
		if (counts_cycles)
			time_instruction(instruction);
	}
}

static void report(qemu_plugin_id_t id, void *user)
{
	FILE *file = fopen(out, "w");

	if (order)
		fclose(order);
	if (stamps)
		fclose(stamps);
	for (const struct step *at = steps; at; at = at->before)
		if (at->most)
			fprintf(masked, "%llu %llu %llx\n", (unsigned long long)at->most,
				(unsigned long long)at->most_cycles,
				(unsigned long long)at->address);
	if (masked)
		fclose(masked);
	(void)id;
	(void)user;
	if (!file)
		return;
	for (size_t i = 0; i < site_count; i++)
		if (sites[i].executed)
			fprintf(file, "%08llx %llu %llu %llu %llu %llu %llu\n",
				(unsigned long long)sites[i].address,
				(unsigned long long)sites[i].executed,
				(unsigned long long)sites[i].taken,
				(unsigned long long)sites[i].returned,
				(unsigned long long)sites[i].sum,
				(unsigned long long)sites[i].least,
				(unsigned long long)sites[i].most);
	fprintf(file, "instructions %llu\n", (unsigned long long)instructions);
	if (counts_cycles)
		fprintf(file, "cycles %llu\n", (unsigned long long)cycles);
	fclose(file);
}

static bool read_sites(const char *path)
{
	FILE *file = fopen(path, "r");
	char line[64];

	if (!file)
		return false;
	while (fgets(line, sizeof(line), file)) {
		char *end;
		unsigned long long address = strtoull(line, &end, 16);
		struct site *grown = realloc(sites, (site_count + 1) * sizeof(*sites));

		if (!grown)
			break;
		sites = grown;
		sites[site_count++] =
			(struct site){.address = address, .back = strtoull(end, NULL, 16)};
	}
	fclose(file);
	qsort(sites, site_count, sizeof(*sites), by_address);
	return true;
}

QEMU_PLUGIN_EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info, int argc,
					   char **argv)
{
	for (int i = 0; i < argc; i++) {
		if (!strncmp(argv[i], "sites=", 6) && !read_sites(argv[i] + 6)) {
			fprintf(stderr, "oracle: can't read %s\n", argv[i] + 6);
			return -1;
		}
		if (!strncmp(argv[i], "out=", 4))
			out = strdup(argv[i] + 4);
		if (!strncmp(argv[i], "order=", 6))
			order = fopen(argv[i] + 6, "w");
		if (!strncmp(argv[i], "stamps=", 7))
			stamps = fopen(argv[i] + 7, "w");
		if (!strncmp(argv[i], "masked=", 7))
			masked = fopen(argv[i] + 7, "w");
		counts_cycles |= !strcmp(argv[i], "cycles=on");
	}
	if (!info->system_emulation || !out) {
		fprintf(stderr, "oracle: system emulation, sites= and out= are needed\n");
		return -1;
	}
	qemu_plugin_register_vcpu_tb_trans_cb(id, translate);
	qemu_plugin_register_atexit_cb(id, report, NULL);
	return 0;
}
