/* A program that crashes calls backtrace() in its signal handler, and what crashes it
 * is often the instruction before a call through a pointer, which stands in a
 * trampoline now. In the exception tables an entry says of a whole function how to get
 * to its caller from where it has made its frame; so the trampoline's is the same as
 * that of the function which the instruction was moved from.
 *
 * "Exception Handling ABI for the Arm Architecture", 6 and 7: the data of an entry are
 * instructions themselves (bit 31 set; the first byte is 0x80, three instructions
 * follow), or lead to a table: in a compact form (bit 31 set), or with the personality
 * routine of a language, a word with the number of further words and three
 * instructions, and the language's own data. These count from the start of the function
 * and mean nothing elsewhere, so such a table is not used for what has been moved. No
 * exception comes from there, but for what a signal handler throws.
 *
 * Thunks, and trampolines that have pushed something, have one entry together, which names a
 * routine of the tracer (tracer/arm/backtrace.c).
 *
 * Unwinders take 2 off an address before they look for it, since it mostly is a return
 * address: so each entry begins 2 bytes before its code. */
#include "rewriter/arm/unwind.h"

#include <elf.h>

#include "cpu/arm/arm.h"
#include "rewriter/arm/trampoline.h"

#define ENTRY_BYTES 8
/* The gate's two, the end, one that the linker may drop, some for code that was moved for
 * stepping stones, of which every program has two in its start-up code; and one behind
 * each thunk for a register, which stand among the trampolines. */
#define FIXED_ENTRIES (12 + 13)
/* The gate's two, that of the thunks, the end, and one that the linker may drop. */
#define LEAST_ENTRIES 5
#define LOOKED_FOR_BEFORE 2
#define PUSH_BYTES 2 /* in T32 code */

#define CANNOT_UNWIND 1u
#define INLINE_DATA 0x80000000u
#define COMPACT_0 0x80u
#define RETURNS_TO_LR 0x80b0b0b0u    /* finish */
#define RETURNS_OVER_TWO 0x8001b0b0u /* vsp += 8, finish */

/* The linker drops entries that say the same as the one before, so those that keep room
 * differ: vsp += 132 or 136. Their functions stand nowhere, the relative address is 0. */
static void reserve(uint8_t *bytes, size_t entries)
{
	for (size_t i = 0; i < entries; i++) {
		litifut_put32(false, bytes + i * ENTRY_BYTES, 0);
		litifut_put32(false, bytes + i * ENTRY_BYTES + 4,
			      INLINE_DATA | (0x20u + (i & 1)) << 16 | 0xb0b0);
	}
}

static uint32_t relative_to(uint32_t address, uint32_t place)
{
	return (address - place) & 0x7fffffffu;
}

static uint32_t absolute(uint32_t value, uint32_t place)
{
	return place + ((value << 1 & 0x80000000u) | (value & 0x7fffffffu));
}

/* What the word `data`, which stands at `place` in .ARM.exidx of `image` and says how
 * to unwind a function, becomes at `to` for code that has been moved out of that
 * function: the same, without what it says of exceptions. */
static uint32_t moved_unwind_data(const struct litifut_image *image, uint32_t data, uint32_t place,
				  uint32_t to)
{
	uint32_t address = absolute(data, place);
	const struct litifut_section *section;
	const uint8_t *bytes;

	if (data == CANNOT_UNWIND || data & INLINE_DATA)
		return data;
	section = litifut_image_section_at(image, address, 8);
	if (!section)
		return CANNOT_UNWIND;
	bytes = section->bytes + (address - section->address);
	if (litifut_get32(false, bytes) & INLINE_DATA)
		return relative_to(address, to);
	data = litifut_get32(false, bytes + 4);
	return data >> 24 ? CANNOT_UNWIND : COMPACT_0 << 24 | data;
}

/* The table, and the entries in it that are the tracer's: [first, last). */
struct table {
	const struct litifut_image *image;
	const struct litifut_section *section;
	size_t count;
	size_t first;
	size_t last;
	size_t used;                         /* by new entries */
	const struct litifut_symbol *thunks; /* what leads to the tracer's routine; or NULL */
};

static uint32_t word_at(const struct table *table, size_t entry, unsigned word)
{
	return litifut_get32(false, table->section->bytes + entry * ENTRY_BYTES + 4 * word);
}

static uint32_t place_of(const struct table *table, size_t entry)
{
	return table->section->address + (uint32_t)entry * ENTRY_BYTES;
}

static bool find_table(const struct litifut_image *image, struct table *table)
{
	*table = (struct table){.image = image};
	for (size_t i = 1; i < image->section_count; i++)
		if (image->sections[i].type == SHT_ARM_EXIDX && image->sections[i].bytes &&
		    !(image->sections[i].flags & SHF_EXECINSTR))
			table->section = &image->sections[i];
	if (!table->section)
		return false;
	table->count = table->section->size / ENTRY_BYTES;
	while (table->first < table->count && word_at(table, table->first, 0))
		table->first++;
	table->last = table->first;
	while (table->last < table->count && !word_at(table, table->last, 0))
		table->last++;
	return table->first < table->last;
}

/* The last of [low, high) that begins at `address` or below; `high`: there is none. */
static size_t search(const struct table *table, size_t low, size_t high, uint32_t address)
{
	const size_t none = high;
	const size_t start = low;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (absolute(word_at(table, middle, 0), place_of(table, middle)) <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low > start ? low - 1 : none;
}

static void add(struct table *table, uint32_t address, uint32_t data)
{
	size_t entry = table->first + table->used++;
	uint8_t *bytes = table->section->bytes + entry * ENTRY_BYTES;

	litifut_put32(false, bytes,
		      relative_to(address - LOOKED_FOR_BEFORE, place_of(table, entry)));
	litifut_put32(false, bytes + 4, data);
}

static size_t left(const struct table *table)
{
	return table->last - table->first - table->used;
}

/* As the function that `instruction` was moved from; the entry goes to the next place. */
static uint32_t moved_data(const struct table *table, uint32_t instruction)
{
	uint32_t to = place_of(table, table->first + table->used) + 4;
	size_t entry = search(table, table->last, table->count, instruction);

	if (entry == table->count)
		entry = search(table, 0, table->first, instruction);
	if (entry == table->first)
		return CANNOT_UNWIND;
	return moved_unwind_data(table->image, word_at(table, entry, 1), place_of(table, entry) + 4,
				 to);
}

/* A call's trampoline, or that of a tail call with something before its push: the
 * function's frame is gone there, and lr leads to its caller. */
static bool has_moved(const struct litifut_frame_code *code)
{
	return code->instruction || (code->step_count && code->steps[0].at > PUSH_BYTES);
}

/* What has no separate entry, thunks above all, is left to the tracer; a backtrace ends there if
 * branches are recorded. */
static void add_others(struct table *table, uint32_t address)
{
	add(table, address,
	    table->thunks ? relative_to(table->thunks->address,
					place_of(table, table->first + table->used) + 4)
			  : CANNOT_UNWIND);
}

static const struct litifut_section *write(const struct litifut_image *image,
					   const struct litifut_arch_context *context,
					   const struct litifut_symbol *room,
					   const struct litifut_frame_code *codes, size_t count)
{
	struct table table;
	uint32_t end = room->address + LITIFUT_ARM_GATE_BYTES;
	uint32_t data;

	if (!find_table(image, &table) || left(&table) < 3)
		return NULL;
	if (!context->edges)
		table.thunks = litifut_image_symbol(
			image, context->thunks && litifut_arm_shares_thunks(&context->cpu)
				       ? "litifut_unwind_shared"
				       : "litifut_unwind_thunks");
	/* The last call of a function may end where the room begins: only if it is none of these,
	 * the first instruction has its entry. */
	add(&table,
	    room->address + (table.first && word_at(&table, table.first - 1, 1) == CANNOT_UNWIND
				     ? 0
				     : LOOKED_FOR_BEFORE),
	    RETURNS_TO_LR);
	add(&table, room->address + LITIFUT_ARM_GATE_LR, RETURNS_OVER_TWO);
	for (size_t i = 0; i < count && left(&table) >= 3; i++) {
		if (!has_moved(&codes[i]) || codes[i].start - room->address >= room->size)
			continue;
		if (codes[i].start != end)
			add_others(&table, end);
		data = codes[i].instruction ? moved_data(&table, codes[i].instruction)
					    : RETURNS_TO_LR;
		if (codes[i].start != end || !(data & INLINE_DATA) ||
		    data != word_at(&table, table.first + table.used - 1, 1))
			add(&table, codes[i].start, data);
		/* the stack is the function's up to there */
		end = codes[i].start +
		      (codes[i].step_count ? codes[i].steps[0].at : codes[i].bytes);
	}
	add_others(&table, end);
	while (left(&table))
		add(&table, (room->address + room->size) & ~3u, CANNOT_UNWIND);
	return table.section;
}

const struct litifut_unwind_table litifut_arm_unwind_table = {
	.section = ".ARM.exidx",
	.relocations = ".rel.ARM.exidx",
	.type = SHT_ARM_EXIDX,
	.entry_bytes = ENTRY_BYTES,
	.least_entries = LEAST_ENTRIES,
	.fixed_entries = FIXED_ENTRIES,
	.call_entries = 1,
	.reserve = reserve,
	.write = write,
};
