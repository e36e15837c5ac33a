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
 * `t ADDRESS' behind it if it was taken. */
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
static FILE *order;
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

/* `user`: the address of the instruction. */
static void execute(unsigned cpu, void *user)
{
	uint64_t address = (uint64_t)(uintptr_t)user;

	(void)cpu;
	instructions++;
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
	}
}

static void report(qemu_plugin_id_t id, void *user)
{
	FILE *file = fopen(out, "w");

	if (order)
		fclose(order);
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
	}
	if (!info->system_emulation || !out) {
		fprintf(stderr, "oracle: system emulation, sites= and out= are needed\n");
		return -1;
	}
	qemu_plugin_register_vcpu_tb_trans_cb(id, translate);
	qemu_plugin_register_atexit_cb(id, report, NULL);
	return 0;
}
