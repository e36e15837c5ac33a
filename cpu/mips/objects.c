/* MIPS objects: which are for us, and what their calls look like. */

#include "cpu/mips/mips.h"

#include <elf.h>
#include <string.h>

#include "common/bytes.h"

#define ARCH_32R6 0x90000000u
#define ABI_MASK 0x0000f000u

static const char *const big_triplets[] = {"mips-linux-gnu", "mips-linux-musl", "mipsel-linux-gnu",
					   NULL};
static const char *const little_triplets[] = {"mipsel-linux-gnu", "mipsel-linux-musl",
					      "mips-linux-gnu", NULL};

#define NO_N32 "the MIPS n32 ABI is not supported"
#define NO_N64 "the MIPS n64 ABI is not supported"

static const struct litifut_emulation emulations[] = {
	{"elf32ltsmip", true, NULL, little_triplets, NULL, NULL},
	{"elf32btsmip", true, NULL, big_triplets, NULL, NULL},
	{"elf32lmip", false, NULL, NULL, NULL, NULL},
	{"elf32bmip", false, NULL, NULL, NULL, NULL},
	{"elf32ltsmipn32", false, NO_N32, NULL, NULL, NULL},
	{"elf32btsmipn32", false, NO_N32, NULL, NULL, NULL},
	{"elf64ltsmip", false, NO_N64, NULL, NULL, NULL},
	{"elf64btsmip", false, NO_N64, NULL, NULL, NULL},
	{NULL, false, NULL, NULL, NULL, NULL},
};

static const char *describe(unsigned char data)
{
	return data == ELFDATA2LSB ? "MIPS, little endian" : "MIPS, big endian";
}

static const char *refuse(unsigned flags, unsigned char data)
{
	(void)data;
	if (flags & EF_MIPS_ABI2)
		return NO_N32;
	if ((flags & EF_MIPS_ARCH) >= ARCH_32R6)
		return "MIPS release 6 is not supported";
	return NULL;
}

static const char *tracer(unsigned char data)
{
	return data == ELFDATA2LSB ? "mipsel" : "mips";
}

static void census(const uint8_t *bytes, size_t size, unsigned encodings, bool big_endian,
		   struct litifut_census *census)
{
	(void)encodings;
	for (size_t at = 0; at + 4 <= size; at += 4) {
		uint32_t word = litifut_get32(big_endian, bytes + at);

		if ((word & 0xfc000000) == 0x0c000000 || (word & 0xffff0000) == 0x04110000) {
			census->direct++; /* jal, bal */
		} else if ((word & 0xfc1f003f) == 0x00000009) {
			census->indirect++; /* jalr */
			census->cramped +=
				at + 8 <= size &&
				litifut_mips_writes(litifut_get32(big_endian, bytes + at + 4),
						    word >> 21 & 31);
		} else if (word == 0x03200008) {
			census->tails++; /* jr $t9 */
		}
	}
}

static enum litifut_relocation relocation(unsigned type)
{
	switch (type) {
	case R_MIPS_JALR:
		return LITIFUT_RELOCATION_NEAR_CALL;
	case R_MIPS_26:
	case R_MIPS_PC16:
		return LITIFUT_RELOCATION_CALL;
	default:
		return LITIFUT_RELOCATION_OTHER;
	}
}

static const char *const triplets[] = {"mips*-*", NULL};

const struct cpu_objects litifut_objects_mips = {
	.triplets = triplets,
	.describe = describe,
	.emulations = emulations,
	.refuse = refuse,
	.tracer = tracer,
	/* nan2008, 64-bit FPU registers, the ABI */
	.shared_flags = EF_MIPS_NAN2008 | EF_MIPS_FP64 | ABI_MASK,
	.absolute_unwind_table = true,
	.census = census,
	.relocation = relocation,
};
