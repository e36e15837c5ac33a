/* Exception landing pads.
 *
 * Linux Standard Base, "Exception Frames": .eh_frame has an entry (FDE) for each
 * function; what entries share stands in another (CIE), whose augmentation string says
 * what they hold: with an 'L' the address of the language's own data. For C++ (and C
 * with the cleanup attribute) that is a table in .gcc_except_table, made of call sites
 * with their landing pads, counted from the start of the function. */
#include "rewriter/landing_pads.h"

#include <elf.h>
#include <string.h>

/* Encodings of numbers, DWARF "DW_EH_PE_*". */
enum {
	ABSOLUTE = 0x00,
	ULEB128 = 0x01,
	UDATA4 = 0x03,
	SDATA4 = 0x0b,
	FORMAT = 0x0f,
	RELATION = 0x70,
	PC_RELATIVE = 0x10,
	INDIRECT = 0x80,
	OMITTED = 0xff
};

static uint8_t read_byte(struct litifut_reader *reader)
{
	if (reader->at == reader->end) {
		reader->failed = true;
		return 0;
	}
	return *reader->at++;
}

static uint32_t read_uleb(struct litifut_reader *reader)
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

/* A number in this encoding, one of DWARF's DW_EH_PE_* without what it is relative to. */
static uint32_t read_number(struct litifut_reader *reader, uint8_t encoding)
{
	uint32_t value;

	if (encoding == ULEB128)
		return read_uleb(reader);
	if ((encoding != ABSOLUTE && encoding != UDATA4 && encoding != SDATA4) ||
	    reader->end - reader->at < 4) {
		reader->failed = true;
		return 0;
	}
	value = litifut_get32(reader->big_endian, reader->at);
	reader->at += 4;
	return value;
}

void litifut_landing_pads_read(struct litifut_reader *reader, uint32_t function,
			       litifut_take_region *take, void *context)
{
	uint8_t encoding = read_byte(reader);

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
		uint32_t start = function + read_number(reader, encoding);
		uint32_t length = read_number(reader, encoding);
		uint32_t pad = read_number(reader, encoding);

		read_uleb(reader); /* action */
		if (!reader->failed)
			take(context, start, start + length, pad ? function + pad : 0);
	}
}

/* What a CIE says about its entries. */
struct shared {
	uint8_t address_encoding;
	uint8_t data_encoding;
	bool has_length; /* of the augmentation data */
};

/* .eh_frame as it is read. */
struct table {
	const struct litifut_image *image;
	const struct litifut_section *section;
	litifut_take_region *take;
	void *context;
};

static struct litifut_reader reader_at(const struct table *table, uint32_t from, uint32_t bytes)
{
	return (struct litifut_reader){.at = table->section->bytes + from,
				       .end = table->section->bytes + from + bytes,
				       .big_endian = table->image->file.big_endian};
}

static uint32_t read_address(const struct table *table, struct litifut_reader *reader,
			     uint8_t encoding)
{
	uint32_t place = table->section->address + (uint32_t)(reader->at - table->section->bytes);
	uint32_t value = read_number(reader, encoding & FORMAT);

	if ((encoding & RELATION) == PC_RELATIVE)
		return value ? place + value : 0;
	if (encoding & RELATION)
		reader->failed = true;
	return value;
}

/* `reader` stands behind the CIE's id. */
static struct shared read_shared(const struct table *table, struct litifut_reader *reader)
{
	struct shared shared = {.data_encoding = OMITTED};
	uint8_t version = read_byte(reader);
	const char *augmentation = (const char *)reader->at;

	while (read_byte(reader) && !reader->failed)
		;
	read_uleb(reader); /* code alignment */
	read_uleb(reader); /* data alignment */
	if (version == 1)  /* the return address' register */
		read_byte(reader);
	else
		read_uleb(reader);
	if (reader->failed || *augmentation != 'z')
		return shared;
	shared.has_length = true;
	read_uleb(reader);
	for (augmentation++; *augmentation && !reader->failed; augmentation++) {
		uint8_t encoding;

		switch (*augmentation) {
		case 'R':
			shared.address_encoding = read_byte(reader);
			break;
		case 'L':
			shared.data_encoding = read_byte(reader);
			break;
		case 'P':
			encoding = read_byte(reader);
			read_address(table, reader, encoding & ~(unsigned)INDIRECT & 0xff);
			break;
		case 'S':
		case 'B':
			break;
		default:
			reader->failed = true;
		}
	}
	return shared;
}

/* `reader` stands behind the FDE's reference to its CIE. */
static void read_entry(const struct table *table, struct litifut_reader *reader,
		       const struct shared *shared)
{
	uint32_t function = read_address(table, reader, shared->address_encoding);
	const struct litifut_section *section;

	read_number(reader, shared->address_encoding & FORMAT); /* its size */
	if (!shared->has_length || shared->data_encoding == OMITTED)
		return;
	read_uleb(reader);
	uint32_t data = read_address(table, reader, shared->data_encoding);

	if (reader->failed || !data)
		return;
	section = litifut_image_section_at(table->image, data, 1);
	if (!section)
		return;
	struct litifut_reader sites = {
		.at = section->bytes + (data - section->address),
		.end = section->bytes + section->size,
		.big_endian = table->image->file.big_endian,
	};

	litifut_landing_pads_read(&sites, function, table->take, table->context);
}

static void read_table(const struct table *table)
{
	const uint32_t size = table->section->size;

	for (uint32_t at = 0; at + 8 <= size;) {
		struct litifut_reader reader = reader_at(table, at, 8);
		uint32_t length = read_number(&reader, UDATA4);
		uint32_t back = read_number(&reader, UDATA4);

		if (!length) { /* the end of one object's */
			at += 4;
			continue;
		}
		if (length < 4 || length > size - at - 4)
			return;
		if (back && back <= at + 4 && at + 4 - back + 8 <= size) {
			uint32_t cie = at + 4 - back;
			struct litifut_reader head = reader_at(table, cie, 8);
			uint32_t bytes = read_number(&head, UDATA4);

			if (bytes < 4 || bytes > size - cie - 4)
				return;
			head = reader_at(table, cie + 8, bytes - 4);
			struct shared shared = read_shared(table, &head);

			reader = reader_at(table, at + 8, length - 4);
			if (!head.failed)
				read_entry(table, &reader, &shared);
		}
		at += 4 + length;
	}
}

void litifut_landing_pads_of_frames(const struct litifut_image *image, litifut_take_region *take,
				    void *context)
{
	const struct table table = {image, litifut_image_section(image, ".eh_frame"), take,
				    context};

	if (table.section && table.section->bytes)
		read_table(&table);
}

static void add_pad(void *targets, uint32_t start, uint32_t end, uint32_t pad)
{
	(void)start;
	(void)end;
	if (pad)
		litifut_targets_add(targets, pad);
}

void litifut_landing_pads_add(const struct litifut_image *image, const struct litifut_arch *arch,
			      struct litifut_targets *targets)
{
	if (LITIFUT_ARCH_GET(arch, flow, landing_pads))
		arch->flow->landing_pads(image, add_pad, targets);
}
