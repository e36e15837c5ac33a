/* AVR objects: which of them can be traced, and what their calls look like. */
#include <elf.h>
#include <string.h>

#include "cpu/avr/avr.h"

/* From binutils' include/elf/avr.h. */
#define R_AVR_CALL 18

#define SUPPORTED ": those that can be traced are avr25, avr35, avr4, avr5, avr51 and avr6"
#define NO_FAMILY(name) "devices of the AVR family " name " are not supported" SUPPORTED
#define NO_REDUCED NO_FAMILY("avrtiny (reduced core)")
#define NO_XMEGA "AVR XMEGA and newer families are not supported" SUPPORTED

static const char *const avr_triplets[] = {"avr", NULL};

static const struct litifut_emulation emulations[] = {
	{"avr", false, NULL, avr_triplets, NULL, NULL},
	{"avr1", false, NO_FAMILY("avr1"), avr_triplets, NULL, NULL},
	{"avr2", false, NO_FAMILY("avr2"), avr_triplets, NULL, NULL},
	{"avr25", false, NULL, avr_triplets, NULL, NULL},
	{"avr3", false, NO_FAMILY("avr3"), avr_triplets, NULL, NULL},
	{"avr31", false, NO_FAMILY("avr31"), avr_triplets, NULL, NULL},
	{"avr35", false, NULL, avr_triplets, NULL, NULL},
	{"avr4", false, NULL, avr_triplets, NULL, NULL},
	{"avr5", false, NULL, avr_triplets, NULL, NULL},
	{"avr51", false, NULL, avr_triplets, NULL, NULL},
	{"avr6", false, NULL, avr_triplets, NULL, NULL},
	{"avrtiny", false, NO_REDUCED, avr_triplets, NULL, NULL},
	{"avrxmega1", false, NO_FAMILY("avrxmega1"), avr_triplets, NULL, NULL},
	{"avrxmega2", false, NO_FAMILY("avrxmega2"), avr_triplets, NULL, NULL},
	{"avrxmega3", false, NO_FAMILY("avrxmega3"), avr_triplets, NULL, NULL},
	{"avrxmega4", false, NO_FAMILY("avrxmega4"), avr_triplets, NULL, NULL},
	{"avrxmega5", false, NO_FAMILY("avrxmega5"), avr_triplets, NULL, NULL},
	{"avrxmega6", false, NO_FAMILY("avrxmega6"), avr_triplets, NULL, NULL},
	{"avrxmega7", false, NO_FAMILY("avrxmega7"), avr_triplets, NULL, NULL},
	{NULL, false, NULL, NULL, NULL, NULL},
};

/* Families of which a device was simulated, or that differ from such a family in nothing
 * that the tracer's code uses. avr1 and avr2 are not here: they have no lpm with increment. */
static const struct {
	unsigned number;
	const char *name;
	struct litifut_avr_facts facts;
} families[] = {
	{25, "avr25", {.small = true}},
	{4, "avr4", {.small = true}},
	{35, "avr35", {0}},
	{5, "avr5", {0}},
	{51, "avr51", {0}},
	{6, "avr6", {.wide_return = true}},
};

bool litifut_avr_family(unsigned elf_flags, struct litifut_avr_facts *facts, const char **name)
{
	for (size_t i = 0; i < sizeof(families) / sizeof(*families); i++) {
		if (families[i].number != (elf_flags & LITIFUT_AVR_FAMILY))
			continue;
		if (facts)
			*facts = families[i].facts;
		if (name)
			*name = families[i].name;
		return true;
	}
	return false;
}

static const char *describe(unsigned char data)
{
	(void)data;
	return "AVR";
}

/* Objects of link-time optimisation have a family as well. */
static const char *refuse(unsigned flags, unsigned char data)
{
	if (data != ELFDATA2LSB)
		return "not an AVR object";
	if ((flags & LITIFUT_AVR_FAMILY) >= 100)
		return (flags & LITIFUT_AVR_FAMILY) == 100 ? NO_REDUCED : NO_XMEGA;
	return litifut_avr_family(flags, NULL, NULL)
		       ? NULL
		       : "this family of AVR devices is not supported" SUPPORTED;
}

/* There is no Linux for it; what firmware is linked with is named by its family. */
static const char *tracer(unsigned char data)
{
	(void)data;
	return NULL;
}

static void census(const uint8_t *bytes, size_t size, unsigned encodings, bool big_endian,
		   struct litifut_census *census)
{
	const struct cpu_context context = {0};

	(void)encodings;
	(void)big_endian;
	for (size_t at = 0; at + 2 <= size;) {
		struct litifut_instruction instruction;
		unsigned length = litifut_avr_decode(&context, bytes + at, size - at, (uint32_t)at,
						     LITIFUT_CODE_PLAIN, &instruction);

		if (!length)
			break;
		at += length;
		census->direct += instruction.class == LITIFUT_CLASS_CALL_DIRECT;
		if (instruction.class == LITIFUT_CLASS_CALL_INDIRECT) {
			census->indirect++;
			census->cramped++;
		}
		census->tails += instruction.class == LITIFUT_CLASS_BRANCH_INDIRECT;
	}
}

/* The same type stands on call and jmp. */
static enum litifut_relocation relocation(unsigned type)
{
	return type == R_AVR_CALL ? LITIFUT_RELOCATION_CALL : LITIFUT_RELOCATION_OTHER;
}

static const char *const triplets[] = {"avr", NULL};

/* The relocations are needed to distinguish code from data. The start-up code initialises memory
 * only in a program that has some of its own, unless it is asked for. */
static const char *const firmware_options[] = {"-q", "-u", "__do_copy_data", "-u", "__do_clear_bss",
					       NULL};

static const char *const firmware_fast[] = {"-u", "litifut_count_carry", NULL};
static const char *const firmware_bytes[] = {"-u", "litifut_byte_carry", NULL};

const struct cpu_objects litifut_objects_avr = {
	.triplets = triplets,
	.describe = describe,
	.emulations = emulations,
	.refuse = refuse,
	.tracer = tracer,
	.census = census,
	.relocation = relocation,
	.firmware_options = firmware_options,
	.firmware_fast = firmware_fast,
	.firmware_bytes = firmware_bytes,
	.firmware_clock = "timer1",
	.firmware_handlers = "__vector_N",
	.firmware_register_bytes = 1,
	.firmware_relaxes = true,
};
