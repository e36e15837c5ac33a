/* The clock of timed events. */

#include <linux/elf.h>
#include <stddef.h>

#include "tracer/recorder.h"
#include "tracer/system.h"

#define LITIFUT_SECOND_NS 1000000000u

/* The table entry of this type in the vDSO's dynamic section, as an address. */
static uint32_t litifut_vdso_table(uint32_t base, uint32_t type, uint32_t bias)
{
	const Elf32_Ehdr *header = (const Elf32_Ehdr *)base;
	const Elf32_Phdr *segment = (const Elf32_Phdr *)(base + header->e_phoff);

	for (uint32_t i = 0; i < header->e_phnum; i++) {
		const Elf32_Dyn *entry;

		if (segment[i].p_type != PT_DYNAMIC)
			continue;
		entry = (const Elf32_Dyn *)(bias + segment[i].p_vaddr);
		for (; entry->d_tag != DT_NULL; entry++)
			if ((uint32_t)entry->d_tag == type)
				return bias + entry->d_un.d_ptr;
	}
	return 0;
}

static uint32_t litifut_vdso_bias(uint32_t base)
{
	const Elf32_Ehdr *header = (const Elf32_Ehdr *)base;
	const Elf32_Phdr *segment = (const Elf32_Phdr *)(base + header->e_phoff);

	for (uint32_t i = 0; i < header->e_phnum; i++)
		if (segment[i].p_type == PT_LOAD)
			return base + segment[i].p_offset - segment[i].p_vaddr;
	return base;
}

/* The address of a function in the vDSO; 0 when the kernel gives none, or none
 * that is faster than the system call (it takes the name away then). */
static uint32_t litifut_vdso_function(uint32_t base, const char *name)
{
	uint32_t bias;
	uint32_t symbols;
	uint32_t strings;
	uint32_t hash;

	if (!base)
		return 0;
	bias = litifut_vdso_bias(base);
	symbols = litifut_vdso_table(base, DT_SYMTAB, bias);
	strings = litifut_vdso_table(base, DT_STRTAB, bias);
	hash = litifut_vdso_table(base, DT_HASH, bias);
	if (!symbols || !strings || !hash)
		return 0;
	for (uint32_t i = 0; i < ((const uint32_t *)hash)[1]; i++) {
		const Elf32_Sym *symbol = (const Elf32_Sym *)symbols + i;

		if (symbol->st_shndx &&
		    litifut_equal((const char *)strings + symbol->st_name, name))
			return bias + symbol->st_value;
	}
	return 0;
}

uint64_t litifut_nanoseconds(uint32_t clock)
{
	struct litifut_recorder *r = &litifut_recorder;
	uint32_t time[2] = {0, 0};

	if (!r->clock_gettime || r->clock_gettime(clock, time))
		LITIFUT_CALL2(clock_gettime, clock, time);
	return (uint64_t)time[0] * LITIFUT_SECOND_NS + time[1];
}

void litifut_clock_start(void)
{
	struct litifut_recorder *r = &litifut_recorder;

	r->clock_gettime = (long (*)(uint32_t, uint32_t *))litifut_vdso_function(
		r->vdso, "__vdso_clock_gettime");
	r->clock = r->settings.clock;
	if (r->clock == LITIFUT_CLOCK_UNSET)
		r->clock = r->clock_gettime ? LITIFUT_CLOCK_MONOTONIC : LITIFUT_CLOCK_NONE;
	/* A CPU without a counter that programs may read, or with one of 32 bits
	 * that goes round in seconds: the header tells what was taken. */
	if (r->clock == LITIFUT_CLOCK_CYCLE && !r->features.counter)
		r->clock = LITIFUT_CLOCK_MONOTONIC;
}

uint64_t litifut_clock_now(void)
{
	if (litifut_recorder.clock == LITIFUT_CLOCK_CYCLE)
		return litifut_port_counter();
	return litifut_nanoseconds(1);
}
