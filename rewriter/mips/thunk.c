/* The thunk engine on MIPS. Almost every call of position-independent code has
 * its callee in $t9, so code that all calls share can store the event and go on
 * (tracer/mips/thunk.S):
 *
 *	jalr $t9	litifut_thunk_jalr	stores the callee as well, if it is not known
 *	bal f		litifut_thunk_near	if f starts by computing its global
 *						pointer from $t9: then $t9 is f
 *	tail calls	litifut_thunk_tail	through $t9
 *			litifut_thunk_tail_near	through $t9, or with the callee in it; known
 *			litifut_thunk_tail_back	others to a known callee
 *
 * Other direct calls, `jal` above all, get a thunk for each callee:
 *
 *	sw    t0, 0(sp)		the caller's room for arguments
 *	sw    v1, 4(sp)
 *	rdhwr v1, $29		the thread pointer
 *	lw    v1, -0x7008(v1)	libc's vector of thread-local blocks
 *	ll    at, 4(v1)		the cursor (<litifut/thunk_abi.h>)
 *	sll   t0, at, 18
 *	beqz  t0, slow		none, or at a multiple of 16 KB
 *	addiu t0, at, 4
 *	sc    t0, 4(v1)		the place is taken, unless
 *	beqz  t0, slow		a signal handler came between
 *	lw    t0, 0(sp)
 *	sw    ra, 0(at)
 *	j     callee		or b: the exit
 *	lw    v1, 4(sp)
 * slow:	sw    ra, 8(sp)
 *	bal   litifut_thunk_call
 *	nop
 *
 * The room is what o32 requires a caller to keep for its callee's arguments. Hand-written
 * code may not, nor does clang for its static functions, so it is only taken for granted
 * in a function that has made a frame before the call and keeps nothing there. For
 * the calls of others there are litifut_thunk_jalr_own and _near_own, and this:
 *
 *	addiu sp, sp, -16
 *	...			the same
 *	sw    ra, 0(at)
 *	lw    v1, 4(sp)
 *	j     callee		or b: the exit
 *	addiu sp, sp, 16
 * slow:	sw    ra, 8(sp)
 *	bal   litifut_thunk_call_own
 *	nop
 *
 * Tail calls always make room. What has no thunk uses the instruction DB.
 *
 * With a clock each event has one word more, the time:
 *
 *	...
 *	rdhwr t0, $2		the counter
 *	sw    ra, 0(at)
 *	sw    t0, 4(at)
 *
 * For a table it begins with the stack pointer (<litifut/fold.h>):
 *
 *	...
 *	addiu t0, sp, n		that of the caller, and a mark
 *	sw    t0, 0(at)
 *	sw    ra, 4(at)
 *	rdhwr t0, $2
 *	sw    t0, 8(at)
 *
 * With LITIFUT_MODE=counts 1 is added to the 64 bits of the counter that belongs to ra:
 *
 *	sw    v1, 4(sp)
 * again:	lui   v1, %hi(distance)		of counters from return addresses
 *	addu  v1, v1, ra
 *	ll    at, %lo(distance)(v1)
 *	addiu at, at, 1
 *	beqz  at, carry
 *	sc    at, %lo(distance)(v1)
 * done:	beqz  at, again			another thread or a signal handler came between
 *	lw    v1, 4(sp)
 *	j     callee			or b, jr: the exit
 *	nop				or room is given back
 * carry:	beqz  at, again
 *	addiu v1, v1, 4			the high word
 * high:	ll    at, %lo(distance)(v1)
 *	addiu at, at, 1
 *	sc    at, %lo(distance)(v1)
 *	beqz  at, high
 *	nop
 *	b     done
 *	nop
 *
 * Events of indirect calls have the form with a control word. Then the code that all
 * calls share is made by the rewriter as well, see litifut_mips_write_shared(), as with counters.
 *
 * Longer than 500 lines, because these forms are put together from the same few pieces. */
#include <litifut/clock_page.h>
#include <litifut/fold.h>
#include <litifut/thunk_abi.h>
#include <litifut/trace_format.h>
#include <string.h>

#include "rewriter/libc.h"
#include "rewriter/mips/mips.h"

#define THUNK_WORDS (LITIFUT_MIPS_TABLE_THUNK_BYTES / 4)
#define ISLAND_WORDS (LITIFUT_MIPS_NEAR_BYTES / 4)

_Static_assert(LITIFUT_THUNK_STOP_BITS == 14 && LITIFUT_THUNK_CURSOR == 4 &&
		       (LITIFUT_THUNK_VECTOR_MIPS & 0xffff) == 0x8ff8,
	       "what the thunks have in their instructions");
_Static_assert(LITIFUT_MIPS_INDIRECT_BYTES == LITIFUT_MIPS_NEAR_BYTES, "both thunks of an island");

#define TAKE_ROOM 0x27bdfff0u /* addiu sp, sp, -16 */
#define GIVE_ROOM 0x27bd0010u
#define LW_T0 0x8fa80000u /* 0(sp) */
#define LW_V1 0x8fa30004u
#define JR_T9 0x03200008u
#define JR_AT 0x00200008u
#define JR_RA 0x03e00008u
#define MOVE_AT_RA 0x03e00825u
#define SW_AT_8 0xafa10008u
#define LW_AT_8 0x8fa10008u
#define LW_RA_8 0x8fbf0008u

/* The room for arguments, and the saved ra at least. */
#define LEAST_FRAME 24
#define ROOM 16

enum { SP = 29, FP = 30 };

const char *litifut_mips_refuses_thunks(const struct litifut_image *image)
{
	return litifut_libc_lacks_spare_word(image);
}

static uint32_t word_at(const struct litifut_arch_context *context,
			const struct litifut_section *section, uint32_t address)
{
	return litifut_get32(context->cpu.big_endian,
			     section->bytes + (address - section->address));
}

/* sb, sh, swl, sw, swr, swc1, sdc1 of one of the first words at `base`, or the
 * address of one. */
static bool uses_room(uint32_t word, unsigned base)
{
	unsigned operation = word >> 26;

	if ((word >> 21 & 31) != base || (word & 0xffff) >= ROOM)
		return false;
	if (operation == 0x09) /* addiu */
		return (word >> 16 & 31) != base;
	return (operation >= 0x28 && operation <= 0x2b) || operation == 0x2e || operation == 0x39 ||
	       operation == 0x3d;
}

/* move $fp, $sp: addu or or with $zero. In a function without it $fp is a register
 * as any other. */
static bool makes_frame_pointer(uint32_t word)
{
	return (word | 4) == (0x25 | (uint32_t)SP << 21 | (uint32_t)FP << 11);
}

/* Does a function that does this keep something of its own in the room, or move sp
 * in a way that may take it away? Clang leaves no room for static functions, and
 * in functions with objects of variable size it makes it anew for each other call. */
static bool may_use_room(uint32_t word, bool framed)
{
	unsigned source = word >> 21 & 31;
	unsigned target = word >> 11 & 31;

	if (word >> 26 == 0) {
		/* move: addu or or with $zero; with fp it is a frame pointer's */
		if (((word | 4) & 0xfc1f07ff) != 0x25 || source == FP || target == FP)
			return false;
		return (source == SP && target) || (target == SP && source);
	}
	/* addiu sp, sp, -n for the second time */
	return uses_room(word, SP) || (framed && (word & 0xffff8000) == 0x27bd8000);
}

uint32_t litifut_mips_argument_room(const struct litifut_arch_context *context,
				    const struct litifut_section *section, uint32_t start,
				    uint32_t end)
{
	uint32_t room = 0;
	bool frame_pointer = false;
	bool by_frame_pointer = false;

	if (start < section->address || end < start || end - section->address > section->size)
		return 0;
	for (uint32_t at = start; at + 4 <= end; at += 4) {
		uint32_t word = word_at(context, section, at);

		/* Most have neither as their first source, nor are they a move to sp. */
		if ((word >> 21 & 31) - SP > FP - SP && (word & 0xfc00f800) != (uint32_t)SP << 11)
			continue;
		frame_pointer |= makes_frame_pointer(word);
		by_frame_pointer |= uses_room(word, FP);
		if (may_use_room(word, room != 0) || (frame_pointer && by_frame_pointer))
			return 0;
		/* addiu sp, sp, -n */
		if (word >> 16 == 0x27bd && (int16_t)(word & 0xffff) <= -LEAST_FRAME)
			room = at;
	}
	return room;
}

static bool has_room(const struct litifut_cramped_call *call)
{
	return call->argument_room && call->argument_room < call->address;
}

/* Does a direct call leave its callee's address in $t9? The code before it shows it, or
 * that of the callee. */
static bool is_in_t9(const struct litifut_image *image, const struct litifut_arch_context *context,
		     const struct litifut_cramped_call *call)
{
	struct litifut_mips_pointer pointer;

	return call->known_callee == call->instruction.target ||
	       litifut_mips_has_pointer(image, context, call->instruction.target, &pointer);
}

static bool keeps_t9(const struct litifut_arch_context *context,
		     const struct litifut_cramped_call *call)
{
	return call->address + 8 <= call->section->address + call->section->size &&
	       !litifut_mips_writes(word_at(context, call->section, call->address + 4),
				    LITIFUT_MIPS_T9);
}

/* A jalr or jr, that is. */
static bool goes_through_t9(const struct litifut_arch_context *context,
			    const struct litifut_cramped_call *call)
{
	return call->instruction.target_register == LITIFUT_MIPS_T9 &&
	       !litifut_mips_has_barrier(call->instruction.word) && keeps_t9(context, call);
}

static struct litifut_thunk shared(unsigned entry)
{
	return (struct litifut_thunk){.kind = LITIFUT_THUNK_ENTRY, .number = (uint8_t)entry};
}

/* The callee is in $t9. */
static struct litifut_thunk through_t9(const struct litifut_cramped_call *call, bool known)
{
	if (known)
		return shared(has_room(call) ? LITIFUT_MIPS_ENTRY_THUNK_NEAR
					     : LITIFUT_MIPS_ENTRY_THUNK_NEAR_OWN);
	return shared(has_room(call) ? LITIFUT_MIPS_ENTRY_THUNK_T9
				     : LITIFUT_MIPS_ENTRY_THUNK_T9_OWN);
}

static struct litifut_thunk direct_call(const struct litifut_image *image,
					const struct litifut_arch_context *context,
					const struct litifut_cramped_call *call)
{
	const struct litifut_instruction *instruction = &call->instruction;

	if (instruction->conditional)
		return (struct litifut_thunk){0};
	if (instruction->word >> 26 == 1 && keeps_t9(context, call) &&
	    is_in_t9(image, context, call))
		return through_t9(call, true);
	return (struct litifut_thunk){.kind = LITIFUT_THUNK_CALLEE,
				      .number = has_room(call) ? 0 : LITIFUT_MIPS_OWN_ROOM,
				      .callee = instruction->target};
}

struct litifut_thunk litifut_mips_thunk(const struct litifut_image *image,
					const struct litifut_arch_context *context,
					const struct litifut_cramped_call *call)
{
	const struct litifut_instruction *instruction = &call->instruction;
	static const struct litifut_thunk none;

	if (!context->thunks || instruction->thumb)
		return none;
	switch (instruction->class) {
	case LITIFUT_CLASS_CALL_DIRECT:
		return direct_call(image, context, call);
	case LITIFUT_CLASS_CALL_INDIRECT:
		return goes_through_t9(context, call) ? through_t9(call, call->known_callee != 0)
						      : none;
	case LITIFUT_CLASS_BRANCH_DIRECT:
		return shared(keeps_t9(context, call) && is_in_t9(image, context, call)
				      ? LITIFUT_MIPS_ENTRY_THUNK_TAIL_NEAR
				      : LITIFUT_MIPS_ENTRY_THUNK_TAIL_BACK);
	case LITIFUT_CLASS_BRANCH_INDIRECT:
		if (goes_through_t9(context, call))
			return shared(call->known_callee ? LITIFUT_MIPS_ENTRY_THUNK_TAIL_NEAR
							 : LITIFUT_MIPS_ENTRY_THUNK_TAIL);
		return none;
	default:
		return none;
	}
}

/* Reserves the place for an event of so many words. */
static unsigned reserve(unsigned event_words, uint32_t address, uint32_t slow, uint32_t *words)
{
	unsigned count = 0;
	unsigned bytes = 4 * event_words;

	words[count++] = 0xafa80000;
	words[count++] = 0xafa30004;
	words[count++] = 0x7c03e83b;
	words[count++] = 0x8c638ff8;
	words[count++] = 0xc0610004;
	if (event_words == 1) {
		words[count++] = 0x00014480;
	} else {
		/* 0 for no cursor, and where the event would take it to or beyond the
		 * multiple of 16 KB */
		words[count++] = 0x24280000 | bytes;
		words[count++] = bytes < 16 ? 0x31083ff0 : 0x31083fe0;
	}
	words[count] = litifut_mips_branch(0x11000000, address + 4 * count, slow);
	count++;
	words[count++] = 0x24280000 | bytes;
	words[count++] = 0xe0680004;
	words[count] = litifut_mips_branch(0x11000000, address + 4 * count, slow);
	return count + 1;
}

static void put_words(const struct litifut_arch_context *context, const uint32_t *words,
		      unsigned count, uint8_t *code)
{
	for (unsigned i = 0; i < count; i++)
		litifut_put32(context->cpu.big_endian, code + 4 * i, words[i]);
}

/* What the event of a thunk is made of. */
enum event {
	EVENT_RETURN,   /* the return address, */
	EVENT_KEY,      /* or the key of a tail call, */
	EVENT_EXIT,     /* or what stands for a return */
	EVENT_INDIRECT, /* the return address, and the callee in $t9 */
	EVENT_TAIL      /* the same of a tail call */
};

static bool has_callee(enum event event)
{
	return event == EVENT_INDIRECT || event == EVENT_TAIL;
}

static bool is_table(const struct litifut_arch_context *context)
{
	return context->table && context->clock;
}

static unsigned event_words(const struct litifut_arch_context *context, enum event event)
{
	if (!context->clock)
		return has_callee(event) ? 2 : 1;
	return has_callee(event) ? 4 : is_table(context) ? 3 : 2;
}

/* t0 = the low half of the clock */
static unsigned read_clock(const struct litifut_arch_context *context, uint32_t *words)
{
	if (context->clock == LITIFUT_CLOCK_CYCLE) {
		words[0] = 0x7c08103b; /* rdhwr t0, $2 */
		return 1;
	}
	words[0] = 0x3c080000 | LITIFUT_CLOCK_PAGE_ADDRESS >> 16;
	words[1] = 0x8d080000 | (context->cpu.big_endian ? 4 : 0);
	return 2;
}

/* The event of a table; `own`: sp is ROOM below the caller's. */
static unsigned store_table_event(const struct litifut_arch_context *context, enum event event,
				  bool own, uint32_t *words)
{
	static const uint8_t marks[] = {LITIFUT_FOLD_CALL, LITIFUT_FOLD_TAIL, LITIFUT_FOLD_RETURN,
					LITIFUT_FOLD_CALL_POINTER, LITIFUT_FOLD_TAIL_POINTER};
	unsigned count = 0;

	words[count++] = 0x27a80000 | ((own ? ROOM : 0) + marks[event]); /* addiu t0, sp, n */
	words[count++] = 0xac280000;                                     /* sw t0, 0(at) */
	words[count++] = 0xac3f0004;                                     /* sw ra, 4(at) */
	count += read_clock(context, words + count);
	if (has_callee(event))
		words[count++] = 0xac390008; /* sw t9, 8(at) */
	words[count++] = has_callee(event) ? 0xac28000c : 0xac280008;
	words[count++] = LW_T0;
	return count;
}

/* Stores the event where $at points, and brings back t0. `own`: in room that was made. */
static unsigned store_event(const struct litifut_arch_context *context, enum event event, bool own,
			    uint32_t *words)
{
	const uint32_t control = LITIFUT_CONTROL_WORD(
		event == EVENT_TAIL ? LITIFUT_WORD_TAIL : LITIFUT_WORD_INDIRECT, 3);
	unsigned count = 0;

	if (is_table(context))
		return store_table_event(context, event, own, words);
	if (!context->clock && !has_callee(event)) {
		words[count++] = LW_T0;
		words[count++] = 0xac3f0000; /* sw ra, 0(at) */
		return count;
	}
	if (!context->clock) {
		words[count++] = 0x27e80000 |
				 (event == EVENT_TAIL ? LITIFUT_MARK_TAIL : LITIFUT_MARK_INDIRECT);
		words[count++] = 0xac280000;
		words[count++] = 0xac390004;
		words[count++] = LW_T0;
		return count;
	}
	if (!has_callee(event)) {
		count = read_clock(context, words);
		words[count++] = 0xac3f0000; /* sw ra, 0(at) */
		words[count++] = 0xac280004; /* sw t0, 4(at) */
		words[count++] = LW_T0;
		return count;
	}
	words[count++] = 0x24080000 | control; /* li t0, control */
	words[count++] = 0xac280000;           /* sw t0, 0(at) */
	words[count++] = 0xac3f0004;           /* sw ra, 4(at) */
	count += read_clock(context, words + count);
	words[count++] = 0xac390008; /* sw t9, 8(at) */
	words[count++] = 0xac28000c; /* sw t0, 12(at) */
	words[count++] = LW_T0;
	return count;
}

/* Counts the call, at `address`, with v1 kept at 4(sp); the exit follows. */
static unsigned count_call(const struct litifut_arch_context *context, uint32_t *words)
{
	const uint32_t distance = context->counters.of_return;
	const uint32_t low = distance & 0xffff;
	unsigned count = 0;

	words[count++] = 0xafa30004;                               /* sw v1, 4(sp) */
	words[count++] = 0x3c030000 | litifut_mips_high(distance); /* lui v1 */
	words[count++] = 0x007f1821;                               /* addu v1, v1, ra */
	words[count++] = 0xc0610000 | low;                         /* ll at */
	words[count++] = 0x24210001;                               /* addiu at, at, 1 */
	words[count++] = 0x10200000;                               /* beqz at, see carry() */
	words[count++] = 0xe0610000 | low;                         /* sc at */
	words[count++] = 0x1020fff9;                               /* beqz at, -6 */
	words[count++] = LW_V1;
	return count;
}

#define COUNT_TEST 5u /* where in it the branch to carry() stands, */
#define COUNT_DONE 7u /* and where that comes back to */
#define CARRY_WORDS 9u

/* What is to be done, `at` words behind the start of count_call(), where a counter has gone
 * over. `words` are those of count_call(). */
static unsigned carry(const struct litifut_arch_context *context, unsigned at, uint32_t *words)
{
	const uint32_t low = context->counters.of_return & 0xffff;
	const uint32_t code[CARRY_WORDS] = {
		0x10200000 | ((1 - (at + 1)) & 0xffff), /* beqz at, the lui */
		0x24630004,                             /* addiu v1, v1, 4 */
		0xc0610000 | low,
		0x24210001,
		0xe0610000 | low,
		0x1020fffc, /* beqz at, the ll */
		0,
		0x10000000 | ((COUNT_DONE - (at + 8)) & 0xffff), /* b */
		0,
	};

	words[COUNT_TEST] |= at - (COUNT_TEST + 1);
	memcpy(words + at, code, sizeof(code));
	return CARRY_WORDS;
}

/* From where the registers are kept to the exit, without it; `own`: in room that is
 * made for them, and given back by the instruction behind the exit. What can't be stored
 * goes to `slow`. */
static unsigned store(const struct litifut_arch_context *context, enum event event, bool own,
		      uint32_t address, uint32_t slow, uint32_t *words)
{
	unsigned count = 0;

	if (own)
		words[count++] = TAKE_ROOM;
	if (context->counts)
		return count + count_call(context, words + count);
	count += reserve(event_words(context, event), address + 4 * count, slow, words + count);
	count += store_event(context, event, own, words + count);
	if (own)
		words[count++] = LW_V1;
	return count;
}

/* The delay slot of the exit. */
static uint32_t exit_slot(const struct litifut_arch_context *context, bool own)
{
	return own ? GIVE_ROOM : context->counts ? 0 : LW_V1;
}

/* The code that all calls share, with a clock: what tracer/mips/thunk.S has without one. */
struct shared_thunk {
	unsigned entry;
	enum event event;
	bool own;
	bool tail;
	bool back; /* the callee is not in $t9: it goes on behind its trampoline's call */
};

static const struct shared_thunk shared_thunks[] = {
	{LITIFUT_MIPS_ENTRY_THUNK_T9, EVENT_INDIRECT, false, false, false},
	{LITIFUT_MIPS_ENTRY_THUNK_NEAR, EVENT_RETURN, false, false, false},
	{LITIFUT_MIPS_ENTRY_THUNK_T9_OWN, EVENT_INDIRECT, true, false, false},
	{LITIFUT_MIPS_ENTRY_THUNK_NEAR_OWN, EVENT_RETURN, true, false, false},
	{LITIFUT_MIPS_ENTRY_THUNK_TAIL, EVENT_TAIL, true, true, false},
	{LITIFUT_MIPS_ENTRY_THUNK_TAIL_NEAR, EVENT_KEY, true, true, false},
	{LITIFUT_MIPS_ENTRY_THUNK_TAIL_BACK, EVENT_KEY, true, true, true},
};

#define SHARED_COUNT (sizeof(shared_thunks) / sizeof(*shared_thunks))
#define SHARED_WORDS (LITIFUT_MIPS_SHARED_BYTES / 4 / SHARED_COUNT)

_Static_assert(LITIFUT_MIPS_SHARED_BYTES / SHARED_COUNT * SHARED_COUNT == LITIFUT_MIPS_SHARED_BYTES,
	       "shared thunks");

/* Returns how many words it has. `slow`: offset of the part for what can't be stored. */
static unsigned shared_thunk(const struct litifut_arch_context *context,
			     const struct shared_thunk *thunk, uint32_t address, unsigned slow,
			     const uint32_t *entries, uint32_t *words)
{
	const uint32_t recorder =
		entries[thunk->tail ? LITIFUT_MIPS_ENTRY_TAIL : LITIFUT_MIPS_ENTRY_T9];
	unsigned count = 0;
	unsigned start;

	if (thunk->own)
		words[count++] = TAKE_ROOM;
	if (thunk->tail)
		words[count++] = SW_AT_8;
	start = count;
	if (context->counts) {
		count += count_call(context, words + count);
	} else {
		count += reserve(event_words(context, thunk->event), address + 4 * count,
				 address + slow, words + count);
		count += store_event(context, thunk->event, thunk->own, words + count);
	}
	if (thunk->back)
		words[count++] = MOVE_AT_RA;
	if (thunk->tail)
		words[count++] = LW_RA_8;
	if (thunk->own && !context->counts)
		words[count++] = LW_V1;
	words[count++] = thunk->back ? JR_AT : JR_T9;
	words[count++] = exit_slot(context, thunk->own);
	if (context->counts)
		return count + carry(context, count - start, words + start);
	if (4 * count != slow) /* it is only asked where that begins */
		return count;
	words[count++] = LW_T0;
	if (thunk->tail)
		words[count++] = LW_AT_8;
	if (thunk->own)
		words[count++] = LW_V1;
	words[count] = litifut_mips_branch(0x10000000, address + 4 * count, recorder);
	count++;
	words[count++] = thunk->own ? GIVE_ROOM : LW_V1;
	return count;
}

size_t litifut_mips_write_shared(const struct litifut_arch_context *context, uint32_t address,
				 uint32_t *entries, uint8_t *code, struct litifut_frames *frames)
{
	/* As those of the tracer, see arch.c. */
	static const uint8_t plain[1];
	static const uint8_t own[] = {0x44, 0x0e, 16};
	static const uint8_t tail[] = {0x09, 31, 1, 0x44, 0x0e, 16, 0x44, 0x80 | 31, 2};

	for (size_t i = 0; i < SHARED_COUNT; i++) {
		const struct shared_thunk *thunk = &shared_thunks[i];
		const uint32_t start = address + (uint32_t)(4 * SHARED_WORDS * i);
		uint32_t words[SHARED_WORDS + 8] = {0};
		unsigned slow = 4 * shared_thunk(context, thunk, start, 0, entries, words);

		if (!context->counts)
			shared_thunk(context, thunk, start, slow, entries, words);
		put_words(context, words, SHARED_WORDS, code + 4 * SHARED_WORDS * i);
		if (frames && thunk->tail)
			litifut_frames_add_rules(frames, start, 4 * SHARED_WORDS, tail,
						 sizeof(tail));
		else if (frames)
			litifut_frames_add_rules(frames, start, 4 * SHARED_WORDS,
						 thunk->own ? own : plain,
						 thunk->own ? sizeof(own) : sizeof(plain));
	}
	for (size_t i = 0; i < SHARED_COUNT; i++)
		entries[shared_thunks[i].entry] = address + (uint32_t)(4 * SHARED_WORDS * i);
	return LITIFUT_MIPS_SHARED_BYTES;
}

/* Offset of the part for what can't be stored: behind the exit and its delay slot. */
static unsigned slow_part(const struct litifut_arch_context *context, enum event event, bool own)
{
	uint32_t words[ISLAND_WORDS + THUNK_WORDS];

	return 4 * store(context, event, own, 0, 0, words) + 8;
}

/* litifut_thunk_near or litifut_thunk_jalr again, or those with room of their own, which
 * serve all callers, in reach of the calls around an island. What can't be stored takes
 * the island's way for `jalr $t9`: that of the first from behind it, that of the second
 * from there as well. */
void litifut_mips_write_island_thunk(const struct litifut_arch_context *context, unsigned entry,
				     uint32_t address, uint8_t *code, uint32_t *island_entries)
{
	const bool own = context->own_room;
	const bool near = entry == LITIFUT_MIPS_ENTRY_THUNK_NEAR;
	uint32_t words[ISLAND_WORDS] = {0};
	uint32_t at = near ? address : island_entries[LITIFUT_MIPS_ENTRY_THUNK_NEAR];
	unsigned count = store(context, near ? EVENT_RETURN : EVENT_INDIRECT, own, address,
			       at + slow_part(context, EVENT_RETURN, own), words);

	words[count++] = JR_T9;
	words[count++] = exit_slot(context, own);
	if (context->counts) {
		carry(context, count - own, words + own);
	} else if (near) {
		words[count++] = LW_T0;
		if (own)
			words[count++] = LW_V1;
		words[count] = litifut_mips_branch(0x10000000, address + 4 * count,
						   island_entries[LITIFUT_MIPS_ENTRY_T9]);
		words[count + 1] = own ? GIVE_ROOM : LW_V1;
	}
	put_words(context, words, ISLAND_WORDS, code);
	island_entries[entry] = address;
	if (own)
		island_entries[near ? LITIFUT_MIPS_ENTRY_THUNK_NEAR_OWN
				    : LITIFUT_MIPS_ENTRY_THUNK_T9_OWN] = address;
}

unsigned litifut_mips_write_thunk(const struct litifut_arch_context *context,
				  const struct litifut_thunk *thunk, uint32_t address,
				  const uint32_t *entries, uint8_t *code)
{
	const bool own = (thunk->number & ~LITIFUT_THUNK_SLOW) == LITIFUT_MIPS_OWN_ROOM;
	const uint32_t recorder =
		entries[own ? LITIFUT_MIPS_ENTRY_THUNK_CALL_OWN : LITIFUT_MIPS_ENTRY_THUNK_CALL];
	uint32_t words[THUNK_WORDS] = {0}; /* trampolines are numbered: the rest is empty */
	const enum event event = thunk->kind == LITIFUT_THUNK_EXIT ? EVENT_EXIT : EVENT_RETURN;
	unsigned bytes = is_table(context)                   ? LITIFUT_MIPS_TABLE_THUNK_BYTES
			 : context->clock || context->counts ? LITIFUT_MIPS_TIMED_THUNK_BYTES
							     : LITIFUT_MIPS_THUNK_BYTES;
	unsigned count = store(context, event, own, address,
			       address + slow_part(context, event, own), words);
	unsigned exit = count;

	/* beqz t0, slow: b slow */
	for (unsigned i = 0; i < count && thunk->number & LITIFUT_THUNK_SLOW; i++)
		if (words[i] >> 16 == 0x1100)
			words[i] &= 0x1000ffff;
	words[count++] = thunk->kind == LITIFUT_THUNK_EXIT
				 ? JR_RA
				 : litifut_mips_jump(&context->cpu, false, address + 4 * exit,
						     thunk->callee);
	words[count++] = exit_slot(context, own);
	if (context->counts) {
		count += carry(context, count - own, words + own) - 1;
	} else {
		words[count++] = 0xafbf0008;
		words[count] =
			litifut_mips_jump(&context->cpu, true, address + 4 * count, recorder);
	}
	if (!words[exit] || (!words[count] && !context->counts))
		return 0;
	put_words(context, words, bytes / 4, code);
	return bytes;
}

void litifut_mips_thunk_frame(const struct litifut_arch_context *context,
			      const struct litifut_thunk *thunk, struct litifut_frame_code *frame)
{
	(void)context;
	if ((thunk->number & ~LITIFUT_THUNK_SLOW) != LITIFUT_MIPS_OWN_ROOM)
		return;
	frame->steps[frame->step_count++] = (struct litifut_frame_step){.at = 4, .stack = 16};
}
