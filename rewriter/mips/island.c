/* Islands, and the gate that they lead to. */
#include "rewriter/mips/mips.h"

#include <litifut/module_format.h>
#include <string.h>

/* Numbers stand in the upper half of $at: the lower half says how a site came to the gate, or
 * counts the tables before that of the trampoline. */
static unsigned grain_of(const struct litifut_arch_context *context)
{
	_Static_assert(LITIFUT_MIPS_TRAMPOLINE_BYTES == 1 << 4, "what is numbered");
	return context->grain ? context->grain : 4;
}

static unsigned tables_of(const struct litifut_arch_context *context)
{
	return context->tables ? context->tables : 1;
}

bool litifut_mips_number(const struct litifut_arch_context *context, uint32_t offset,
			 uint32_t *word, unsigned *entry)
{
	const unsigned grain = grain_of(context);
	const uint32_t number = offset >> grain;
	const uint32_t table = number >> 16;

	*word = 0x3c010000 | (number & 0xffff);
	*entry = LITIFUT_MIPS_ENTRY_TABLE(table);
	return !(offset & ((1u << grain) - 1)) && table < tables_of(context);
}

/* srl at, at, n */
static uint32_t number_to_distance(const struct litifut_arch_context *context)
{
	return 0x00010802 | (16 - grain_of(context)) << 6;
}

/* An island: entries for the three ways in which a site can arrive, from which
 * it jumps to the gate, which sorts them again. It can stand anywhere, in any
 * module, and changes nothing but $at ($1), the assembler's own, which never
 * lives across a call. What is in $at says how the site came: a site with a
 * trampoline of its own has put the number of that there.
 *
 *    0  b     8+4               jalr $t9
 *    4  addiu at, zero, -1
 *    8  addiu at, zero, 0x7fff  other calls
 *   12  addiu sp, sp, -8        at holds a number
 *   16  sw    ra, 4(sp)
 *   20  bal   28                ra = address + 28
 *   24  sw    at, 0(sp)
 *   28  lui   at, %hi(distance)
 *   32  addiu at, at, %lo(distance)
 *   36  addu  at, at, ra
 *   40  jr    at
 *   44  lw    ra, 4(sp)
 *
 * Behind that stand a shorter way, and two thunks, so that most calls need not go so
 * far (thunk.c).
 */
static void write_ways(const struct litifut_arch_context *context, uint32_t address,
		       const uint32_t *entries, uint8_t *code, uint32_t *island_entries)
{
	uint32_t distance = entries[LITIFUT_MIPS_ENTRY_GATE] - (address + 28);
	const uint32_t words[] = {
		0x10000002,
		0x24010000 | (LITIFUT_MIPS_CAME_BY_T9 & 0xffff),
		0x24010000 | LITIFUT_MIPS_CAME_BY_CALL,
		0x27bdfff8,
		0xafbf0004,
		0x04110001,
		0xafa10000,
		0x3c010000 | litifut_mips_high(distance),
		0x24210000 | (distance & 0xffff),
		0x003f0821,
		0x00200008,
		0x8fbf0004,
	};

	_Static_assert(sizeof(words) == LITIFUT_MIPS_WAYS_BYTES, "size of the ways");
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		litifut_put32(context->cpu.big_endian, code + 4 * i, words[i]);
	memset(island_entries, 0, LITIFUT_ENTRIES_MAX * sizeof(*island_entries));
	island_entries[LITIFUT_MIPS_ENTRY_T9] = address;
	island_entries[LITIFUT_MIPS_ENTRY_THUNK_T9] = address;
	island_entries[LITIFUT_MIPS_ENTRY_THUNK_NEAR] = address;
	island_entries[LITIFUT_MIPS_ENTRY_THUNK_T9_OWN] = address;
	island_entries[LITIFUT_MIPS_ENTRY_THUNK_NEAR_OWN] = address;
	island_entries[LITIFUT_MIPS_ENTRY_CALL] = address + 8;
	island_entries[LITIFUT_MIPS_ENTRY_NUMBERED] = address + 12;
}

/* As write_numbered(), for several tables. An entry for each adds their number to $at, and what is
 * there turned by 12 bits (16 less the grain) is the distance from the first trampoline:
 *
 *	addiu at, at, 1		that of the last table, ...
 *	addiu at, at, 1		of the one behind the first
 *    0	addiu sp, sp, -8	of the first
 *    4	sw    ra, 4(sp)
 *    8	sll   ra, at, 20	16 and the grain
 *   12	srl   at, at, 12
 *   16	addu  at, at, ra
 *   20	bal   28
 *   24	addiu at, at, %lo(distance)
 *   28	addu  at, at, ra
 *   32	lui   ra, %hi(distance)
 *   36	addu  at, at, ra
 *   40	lw    ra, 4(sp)
 *   44	jr    at
 *   48	addiu sp, sp, 8
 */
static void write_tables(const struct litifut_arch_context *context, uint32_t address,
			 const uint32_t *entries, uint8_t *code, uint32_t *island_entries)
{
	const unsigned before = tables_of(context) - 1;
	const uint32_t distance = entries[LITIFUT_MIPS_ENTRY_GATE] + LITIFUT_MIPS_GATE_BYTES -
				  (address + 4 * before + 28);
	const uint32_t words[] = {
		0x27bdfff8,
		0xafbf0004,
		0x0001f800 | (16 + grain_of(context)) << 6,
		number_to_distance(context),
		0x003f0821,
		0x04110001,
		0x24210000 | (distance & 0xffff),
		0x003f0821,
		0x3c1f0000 | litifut_mips_high(distance),
		0x003f0821,
		0x8fbf0004,
		0x00200008,
		0x27bd0008,
	};

	_Static_assert(sizeof(words) + 4 * (LITIFUT_MIPS_TABLES - 1) == LITIFUT_MIPS_NUMBERED_BYTES,
		       "size of the numbered way");
	for (unsigned i = 0; i < before; i++)
		litifut_put32(context->cpu.big_endian, code + 4 * i, 0x24210001);
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		litifut_put32(context->cpu.big_endian, code + 4 * (before + i), words[i]);
	for (unsigned i = 0; i <= before; i++)
		island_entries[LITIFUT_MIPS_ENTRY_TABLE(i)] = address + 4 * (before - i);
}

/* To the trampoline whose number is in at, without the gate. The distance is that of
 * the first of them from address + 16.
 *
 *    0  addiu sp, sp, -8
 *    4  sw    ra, 4(sp)
 *    8  bal   16                ra = address + 16
 *   12  srl   at, at, 12
 *   16  addu  at, at, ra
 *   20  lui   ra, %hi(distance)
 *   24  addu  at, at, ra
 *   28  lw    ra, 4(sp)
 *   32  addiu at, at, %lo(distance)
 *   36  jr    at
 *   40  addiu sp, sp, 8
 */
static void write_numbered(const struct litifut_arch_context *context, uint32_t address,
			   const uint32_t *entries, uint8_t *code, uint32_t *island_entries)
{
	uint32_t distance =
		entries[LITIFUT_MIPS_ENTRY_GATE] + LITIFUT_MIPS_GATE_BYTES - (address + 16);
	const uint32_t words[] = {
		0x27bdfff8,
		0xafbf0004,
		0x04110001,
		number_to_distance(context),
		0x003f0821,
		0x3c1f0000 | litifut_mips_high(distance),
		0x003f0821,
		0x8fbf0004,
		0x24210000 | (distance & 0xffff),
		0x00200008,
		0x27bd0008,
	};

	_Static_assert(sizeof(words) <= LITIFUT_MIPS_NUMBERED_BYTES, "size of the numbered way");
	if (tables_of(context) > 1) {
		write_tables(context, address, entries, code, island_entries);
		return;
	}
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		litifut_put32(context->cpu.big_endian, code + 4 * i, words[i]);
	island_entries[LITIFUT_MIPS_ENTRY_NUMBERED] = address;
}

void litifut_mips_write_piece(const struct litifut_arch_context *context, size_t piece,
			      uint32_t address, const uint32_t *entries, uint8_t *code,
			      uint32_t *island_entries)
{
	switch ((enum litifut_mips_piece)piece) {
	case LITIFUT_MIPS_PIECE_WAYS:
		write_ways(context, address, entries, code, island_entries);
		break;
	case LITIFUT_MIPS_PIECE_NUMBERED:
		write_numbered(context, address, entries, code, island_entries);
		break;
	case LITIFUT_MIPS_PIECE_NEAR:
		litifut_mips_write_island_thunk(context, LITIFUT_MIPS_ENTRY_THUNK_NEAR, address,
						code, island_entries);
		break;
	case LITIFUT_MIPS_PIECE_INDIRECT:
		litifut_mips_write_island_thunk(context, LITIFUT_MIPS_ENTRY_THUNK_T9, address, code,
						island_entries);
		break;
	}
}

void litifut_mips_write_island(const struct litifut_arch_context *context, uint32_t address,
			       const uint32_t *entries, uint8_t *code, uint32_t *island_entries)
{
	for (size_t i = 0, at = 0; i < LITIFUT_HOST_PIECES; i++) {
		litifut_mips_write_piece(context, i, address + (uint32_t)at, entries, code + at,
					 island_entries);
		at += litifut_mips_borrow.host_pieces[i].bytes - LITIFUT_MIPS_WAY_BYTES;
	}
}

/* The gate of edges, for numbers alone:
 *
 *    0  lw    at, 0(sp)
 *    4  bal   12                    ra = address + 12, and at 4(sp) what it was
 *    8  srl   at, at, 16 - grain
 *   12  addu  at, at, ra
 *   16  lw    ra, 4(sp)
 *   20  addiu at, at, 52            the first code is at 64
 *   24  jr    at
 *   28  addiu sp, sp, 8
 */
static void write_edges_gate(const struct litifut_arch_context *context, uint8_t *code)
{
	const uint32_t words[] = {
		0x8fa10000, 0x04110001, number_to_distance(context),
		0x003f0821, 0x8fbf0004, 0x24210000 | (LITIFUT_MIPS_GATE_BYTES - 12),
		0x00200008, 0x27bd0008,
	};

	memset(code, 0, LITIFUT_MIPS_GATE_BYTES);
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		litifut_put32(context->cpu.big_endian, code + 4 * i, words[i]);
}

/* The gate stands before the trampolines, all islands lead to it, and it takes
 * back what the island did.
 *
 *    0  lh    at, 0(sp)             the lower half; big endian: 2(sp)
 *    4  bltzl at, litifut_stub_jalr, or litifut_thunk_jalr_own
 *    8  addiu sp, sp, 8             only if that branches
 *   12  bgtzl at, litifut_stub_jal
 *   16  addiu sp, sp, 8             only then
 *   20  lw    at, 0(sp)             the number of a trampoline, of the first table
 *   24  bal   32                    ra = address + 32, and at 4(sp) what it was
 *   28  srl   at, at, 12
 *   32  addu  at, at, ra
 *   36  lw    ra, 4(sp)
 *   40  addiu at, at, 32            the first trampoline is at 64
 *   44  jr    at
 *   48  addiu sp, sp, 8
 *   52  nop, nop, nop
 */
void litifut_mips_write_gate(const struct litifut_arch_context *context, uint32_t address,
			     const uint32_t *entries, uint8_t *code)
{
	uint32_t through_t9 =
		entries[context->thunks ? LITIFUT_MIPS_ENTRY_THUNK_T9_OWN : LITIFUT_MIPS_ENTRY_T9];
	const uint32_t words[LITIFUT_MIPS_GATE_BYTES / 4] = {
		0x87a10000 | (context->cpu.big_endian ? 2 : 0),
		litifut_mips_branch(0x04220000, address + 4, through_t9),
		0x27bd0008,
		litifut_mips_branch(0x5c200000, address + 12, entries[LITIFUT_MIPS_ENTRY_CALL]),
		0x27bd0008,
		0x8fa10000,
		0x04110001,
		number_to_distance(context),
		0x003f0821,
		0x8fbf0004,
		0x24210000 | (LITIFUT_MIPS_GATE_BYTES - 32),
		0x00200008,
		0x27bd0008,
	};

	if (context->grain) {
		write_edges_gate(context, code);
		return;
	}
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		litifut_put32(context->cpu.big_endian, code + 4 * i, words[i]);
}

bool litifut_mips_gate_works(const uint32_t *entries)
{
	uint32_t gate = entries[LITIFUT_MIPS_ENTRY_GATE];

	return gate && litifut_mips_branch_reaches(gate + 4, entries[LITIFUT_MIPS_ENTRY_T9]) &&
	       litifut_mips_branch_reaches(gate + 4, entries[LITIFUT_MIPS_ENTRY_THUNK_T9_OWN]) &&
	       litifut_mips_branch_reaches(gate + 12, entries[LITIFUT_MIPS_ENTRY_CALL]);
}

/* What trampolines and thunks in the room lead to. */
static const unsigned char onward[] = {
	LITIFUT_MIPS_ENTRY_CALL,
	LITIFUT_MIPS_ENTRY_TAIL,
	LITIFUT_MIPS_ENTRY_THUNK_TAIL,
	LITIFUT_MIPS_ENTRY_THUNK_TAIL_NEAR,
	LITIFUT_MIPS_ENTRY_THUNK_TAIL_BACK,
	LITIFUT_MIPS_ENTRY_THUNK_CALL,
	LITIFUT_MIPS_ENTRY_THUNK_CALL_OWN,
};

#define ONWARD_COUNT (sizeof(onward) / sizeof(*onward))
/* A multiple of LITIFUT_MIPS_TRAMPOLINE_BYTES, which are numbered. */
#define ONWARD_BYTES                                                                               \
	((8 * ONWARD_COUNT + LITIFUT_MIPS_TRAMPOLINE_BYTES - 1) &                                  \
	 ~(size_t)(LITIFUT_MIPS_TRAMPOLINE_BYTES - 1))
/* What is left of a branch's reach for the trampolines until one is asked for again. */
#define ONWARD_REACH (0x20000 - 4 * LITIFUT_ONWARD_INTERVAL)

_Static_assert(ONWARD_BYTES <= LITIFUT_ONWARD_BYTES_MAX, "size of the ways onward");

/* A branch for each, to the tracer or to the one before: ra and at, both of which the tracer
 * needs of a tail call, leave no register for a jump that goes farther. */
size_t litifut_mips_write_onward(const struct litifut_arch_context *context, uint32_t address,
				 uint32_t *entries, uint8_t *code)
{
	bool is_far = false;

	if (context->grain) /* edges have no tail calls */
		return 0;
	for (size_t i = 0; i < ONWARD_COUNT; i++) {
		uint32_t entry = entries[onward[i]];

		is_far |= address - entry + ONWARD_REACH >= 2 * ONWARD_REACH;
		if (!litifut_mips_branch_reaches(address + 8 * (uint32_t)i, entry))
			return 0;
	}
	if (!context->cpu.position_independent || !is_far)
		return 0;
	memset(code, 0, ONWARD_BYTES);
	for (size_t i = 0; i < ONWARD_COUNT; i++) {
		uint32_t way = address + 8 * (uint32_t)i;

		litifut_put32(context->cpu.big_endian, code + 8 * i,
			      litifut_mips_branch(0x10000000, way, entries[onward[i]]));
		entries[onward[i]] = way;
	}
	return ONWARD_BYTES;
}
