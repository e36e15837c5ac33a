/* Exception landing pads: code that only the unwinder jumps to, so that no
 * branch and no pointer tells of it.
 *
 * "Exception Handling ABI for the Arm Architecture": .ARM.exidx has two words
 * for each function, its address and its unwind data, both relative to where
 * they stand (31 bits). Data in the generic model begin with the address of a
 * personality routine, then a byte with the number of further words of unwind
 * instructions, then the data of the language: for C++ (and C with the cleanup
 * attribute) the table that other CPUs have in .gcc_except_table, made of
 * call sites with their landing pads, counted from the start of the function. */
#include "rewriter/arm/landing_pads.h"

#include <stddef.h>

#define SHT_ARM_EXIDX 0x70000001u
#define CANNOT_UNWIND 1u
#define COMPACT_MODEL 0x80000000u

/* Encodings of numbers, DWARF "DW_EH_PE_*". */
#define OMITTED 0xff
#define ULEB128 0x01
#define UDATA4 0x03
#define SDATA4 0x0b

struct reader {
	const uint8_t *at;
	const uint8_t *end;
	bool failed;
};

static uint8_t read_byte(struct reader *reader)
{
	if (reader->at == reader->end) {
		reader->failed = true;
		return 0;
	}
	return *reader->at++;
}

static uint32_t read_uleb(struct reader *reader)
{
	uint32_t value = 0;
	unsigned shift = 0;
	uint8_t byte;

	do {
		byte = read_byte(reader);
		if (shift < 32)
			value |= (uint32_t)(byte & 0x7f) << shift;
		shift += 7;
	} while (byte & 0x80 && !reader->failed);
	return value;
}

static uint32_t read_number(struct reader *reader, uint8_t encoding)
{
	uint32_t value = 0;

	if (encoding == ULEB128)
		return read_uleb(reader);
	if (encoding != UDATA4 && encoding != SDATA4)
		reader->failed = true;
	for (unsigned shift = 0; shift < 32 && !reader->failed; shift += 8)
		value |= (uint32_t)read_byte(reader) << shift;
	return value;
}

/* The 31-bit relative address `value` that stands at `place`. */
static uint32_t relative(uint32_t value, uint32_t place)
{
	return place + ((value << 1 & 0x80000000u) | (value & 0x7fffffffu));
}

static void read_call_sites(struct reader *reader, uint32_t function,
			    struct litifut_targets *targets)
{
	uint8_t encoding = read_byte(reader);
	uint32_t start = function;

	if (encoding != OMITTED) /* where landing pads are counted from; never seen */
		return;
	if (read_byte(reader) != OMITTED) /* encoding of the types, offset of their table */
		read_uleb(reader);
	encoding = read_byte(reader);
	uint32_t bytes = read_uleb(reader);

	if (reader->failed || bytes > (size_t)(reader->end - reader->at))
		return;
	reader->end = reader->at + bytes;
	while (reader->at < reader->end && !reader->failed) {
		read_number(reader, encoding); /* start of the calls */
		read_number(reader, encoding); /* length */
		uint32_t pad = read_number(reader, encoding);

		read_uleb(reader); /* action */
		if (pad && !reader->failed)
			litifut_targets_add(targets, start + pad);
	}
}

static void read_entry(const struct litifut_image *image, uint32_t function, uint32_t data,
		       struct litifut_targets *targets)
{
	const struct litifut_section *section = litifut_image_section_at(image, data, 8);

	if (!section)
		return;
	const uint8_t *bytes = section->bytes + (data - section->address);
	uint32_t left = section->size - (data - section->address);

	if (litifut_get32(false, bytes) & COMPACT_MODEL)
		return;
	uint32_t skip = 4 + 4 * (1 + (litifut_get32(false, bytes + 4) >> 24));

	if (skip >= left)
		return;
	struct reader reader = {bytes + skip, bytes + left, false};

	read_call_sites(&reader, function, targets);
}

void litifut_arm_add_landing_pads(const struct litifut_image *image,
				  struct litifut_targets *targets)
{
	for (size_t i = 1; i < image->section_count; i++) {
		const struct litifut_section *section = &image->sections[i];

		if (section->type != SHT_ARM_EXIDX || !section->bytes)
			continue;
		for (uint32_t at = 0; at + 8 <= section->size; at += 8) {
			uint32_t place = section->address + at;
			uint32_t function = litifut_get32(false, section->bytes + at);
			uint32_t data = litifut_get32(false, section->bytes + at + 4);

			if (data != CANNOT_UNWIND && !(data & COMPACT_MODEL))
				read_entry(image, relative(function, place) & ~1u,
					   relative(data, place + 4), targets);
		}
	}
}
