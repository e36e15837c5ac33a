/* Reading .ARM.attributes: may the image use Thumb-2? That decides how far a
 * T32 bl reaches. Is it for ARMv7 or later? Then it can have thunks. Format: Addenda to the ABI for
 * the ARM Architecture, "Build attributes": 'A', then a vendor subsection (length, name), in it tag
 * 1 (the whole file) with its length, then tag and value pairs. Values are ULEB128 numbers, but
 * strings for tags 4, 5 and 67 and odd tags above 32. */
#include "cpu/arm/arm.h"

#define TAG_CPU_RAW_NAME 4
#define TAG_CPU_NAME 5
#define TAG_CPU_ARCH 6
#define TAG_CPU_ARCH_PROFILE 7
#define TAG_THUMB_ISA_USE 9
#define TAG_COMPATIBILITY 32
#define TAG_CONFORMANCE 67
#define CPU_ARCH_V6T2 8
#define CPU_ARCH_V7 10
#define CPU_ARCH_V6_M 11
#define CPU_ARCH_V6S_M 12
#define CPU_ARCH_V8_M_BASE 16

static uint32_t read_uleb(const uint8_t *bytes, uint32_t size, uint32_t *at)
{
	uint32_t value = 0;

	for (unsigned shift = 0; *at < size; shift += 7) {
		uint8_t byte = bytes[(*at)++];

		if (shift < 32)
			value |= (uint32_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			break;
	}
	return value;
}

static void skip_string(const uint8_t *bytes, uint32_t size, uint32_t *at)
{
	while (*at < size && bytes[*at])
		++*at;
	++*at;
}

/* False: there are no attributes. */
static bool read_attributes(const uint8_t *bytes, uint32_t size, uint32_t *thumb, uint32_t *cpu,
			    uint32_t *profile)
{
	uint32_t at = 5; /* 'A' and the length of the subsection */

	*thumb = 0;
	*cpu = 0;
	*profile = 0;
	if (!bytes || size < 16 || bytes[0] != 'A')
		return false;
	skip_string(bytes, size, &at);
	if (at + 5 > size || bytes[at] != 1)
		return false;
	at += 5;
	while (at < size) {
		uint32_t tag = read_uleb(bytes, size, &at);

		if (tag == TAG_CPU_RAW_NAME || tag == TAG_CPU_NAME || tag == TAG_CONFORMANCE ||
		    (tag > TAG_COMPATIBILITY && tag & 1)) {
			skip_string(bytes, size, &at);
			continue;
		}
		uint32_t value = read_uleb(bytes, size, &at);

		if (tag == TAG_THUMB_ISA_USE)
			*thumb = value;
		else if (tag == TAG_CPU_ARCH)
			*cpu = value;
		else if (tag == TAG_CPU_ARCH_PROFILE)
			*profile = value;
		else if (tag == TAG_COMPATIBILITY)
			skip_string(bytes, size, &at);
	}
	return true;
}

bool litifut_arm_attributes_thumb2(const uint8_t *bytes, uint32_t size)
{
	uint32_t thumb;
	uint32_t cpu;
	uint32_t profile;

	/* Without attributes: all Linux ports that emit Thumb today emit Thumb-2. */
	if (!read_attributes(bytes, size, &thumb, &cpu, &profile))
		return true;
	/* 2: Thumb-2; 3: whatever the architecture has. */
	return thumb == 2 || (thumb == 3 && (cpu == CPU_ARCH_V6T2 || cpu >= CPU_ARCH_V7));
}

bool litifut_arm_attributes_v7(const uint8_t *bytes, uint32_t size)
{
	uint32_t thumb;
	uint32_t cpu;
	uint32_t profile;

	return read_attributes(bytes, size, &thumb, &cpu, &profile) && cpu >= CPU_ARCH_V7 &&
	       cpu != CPU_ARCH_V6_M && cpu != CPU_ARCH_V6S_M;
}

enum litifut_arm_microcontroller litifut_arm_attributes_microcontroller(const uint8_t *bytes,
									uint32_t size)
{
	uint32_t thumb;
	uint32_t cpu;
	uint32_t profile;

	if (!read_attributes(bytes, size, &thumb, &cpu, &profile) || profile != 'M')
		return LITIFUT_ARM_NO_MICROCONTROLLER;
	return cpu == CPU_ARCH_V6_M || cpu == CPU_ARCH_V6S_M || cpu == CPU_ARCH_V8_M_BASE
		       ? LITIFUT_ARM_BASELINE
		       : LITIFUT_ARM_MAINLINE;
}
