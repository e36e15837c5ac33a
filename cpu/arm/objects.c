/* ARM objects: which are for us, and what their calls look like. */
#include "cpu/arm/arm.h"

#include <elf.h>

#include "common/bytes.h"

enum { A32 = LITIFUT_CODE_PLAIN, T32 = LITIFUT_CODE_THUMB };

static const char *const hard_float[] = {"arm-linux-gnueabihf", "armv7l-linux-gnueabihf",
					 "arm-linux-musleabihf", "arm-linux-gnueabi", NULL};
static const char *const soft_float[] = {"arm-linux-gnueabi", "arm-linux-musleabi",
					 "arm-linux-gnueabihf", NULL};
static const char *const hard_float_hints[] = {"ld-linux-armhf", "gnueabihf", NULL};

#define NO_BIG_ENDIAN "big-endian ARM is not supported"

static const struct litifut_emulation emulations[] = {
	{"armelf_linux_eabi", true, NULL, soft_float, hard_float_hints, hard_float},
	{"armelf_linux", true, NULL, soft_float, hard_float_hints, hard_float},
	{"armelf", false, NULL, soft_float, hard_float_hints, hard_float},
	{"armelfb_linux_eabi", false, NO_BIG_ENDIAN, NULL, NULL, NULL},
	{NULL, false, NULL, NULL, NULL, NULL},
};

static const char *describe(unsigned char data)
{
	return data == ELFDATA2LSB ? "ARM" : "ARM, big endian";
}

static const char *refuse(unsigned flags, unsigned char data)
{
	if (data != ELFDATA2LSB)
		return NO_BIG_ENDIAN;
	/* Objects from before the EABI have other rules for calls; LTO objects have
	 * no flags at all. */
	if (flags && EF_ARM_EABI_VERSION(flags) < EF_ARM_EABI_VER4)
		return "ARM without EABI is not supported";
	return NULL;
}

static const char *tracer(unsigned char data)
{
	return data == ELFDATA2LSB ? "arm" : NULL;
}

/* A32 and T32 are the numbers of their states. */
static unsigned encoding(const char *symbol)
{
	enum litifut_code_state state;

	return litifut_arm_mapping(symbol, &state) ? (unsigned)state : 0;
}

static void count_a32(const uint8_t *bytes, size_t size, struct litifut_census *census)
{
	for (size_t at = 0; at + 4 <= size; at += 4) {
		uint32_t word = litifut_get32(false, bytes + at);

		if ((word & 0x0f000000) == 0x0b000000 || (word & 0xfe000000) == 0xfa000000)
			census->direct++; /* bl, blx label */
		else if ((word & 0x0ffffff0) == 0x012fff30)
			census->indirect++; /* blx rN */
		else if ((word & 0x0ffffff0) == 0x012fff10 && (word & 15) != 14)
			census->tails++; /* bx rN */
		else if ((word & 0x0fffffff) == 0x01a0e00f || (word & 0x0ffff000) == 0x028fe000) {
			census->indirect++; /* mov lr, pc; add lr, pc, #n: half a call */
			census->cramped++;
		}
	}
}

static void count_t32(const uint8_t *bytes, size_t size, struct litifut_census *census)
{
	for (size_t at = 0; at + 2 <= size; at += 2) {
		unsigned first = (unsigned)bytes[at] | (unsigned)bytes[at + 1] << 8;
		unsigned second;

		if ((first & 0xff87) == 0x4780) {
			census->indirect++; /* blx rN */
			census->cramped++;
		} else if ((first & 0xff87) == 0x4700 && first != 0x4770) {
			census->tails++; /* bx rN */
		}
		if (first < 0xe800 || at + 4 > size)
			continue;
		at += 2;
		second = (unsigned)bytes[at] | (unsigned)bytes[at + 1] << 8;
		if ((first & 0xf800) == 0xf000 && (second & 0xc000) == 0xc000)
			census->direct++; /* bl, blx label */
	}
}

static void census(const uint8_t *bytes, size_t size, unsigned encodings, bool big_endian,
		   struct litifut_census *census)
{
	(void)big_endian; /* the code of an object that refuse() lets pass never is */
	if (encodings & A32)
		count_a32(bytes, size, census);
	if (encodings & T32)
		count_t32(bytes, size, census);
}

static enum litifut_relocation relocation(unsigned type)
{
	switch (type) {
	case R_ARM_JUMP24:
	case R_ARM_THM_JUMP24:
		return LITIFUT_RELOCATION_JUMP;
	case R_ARM_CALL:
	case R_ARM_PC24:
	case R_ARM_PLT32:
	case R_ARM_THM_PC22: /* THM_CALL of newer names */
		return LITIFUT_RELOCATION_CALL;
	default:
		return LITIFUT_RELOCATION_OTHER;
	}
}

static const char *const triplets[] = {"arm*-*", NULL};

const struct cpu_objects litifut_objects_arm = {
	.triplets = triplets,
	.describe = describe,
	.emulations = emulations,
	.refuse = refuse,
	.tracer = tracer,
	.encoding = encoding,
	.gold_is_low = true,
	.census = census,
	.relocation = relocation,
	.firmware_register_bytes = 4,
	.newer_tracer = "armv7",
	.cpu_section = ".ARM.attributes",
	.is_for_newer = litifut_arm_attributes_v7,
};
