/* The entry of .eh_frame for the room of new code. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "rewriter/eh_frame.h"

#define SECTION 0x1000u
#define ROOM 0x8000u
#define BEFORE 24u /* bytes of another entry in front of it */

static const struct litifut_frame_registers registers = {29, 31, 37, 65};

struct fixture {
	uint8_t *bytes;
	uint32_t size;
	struct litifut_section sections[2];
	struct litifut_image image;
	struct litifut_symbol room;
	struct litifut_frames frames;
};

static void create(struct fixture *fixture, bool big_endian, uint32_t room_bytes)
{
	*fixture = (struct fixture){
		.size = BEFORE + litifut_eh_frame_bytes(room_bytes) + 4, /* and the end */
		.room = {.address = ROOM, .size = room_bytes},
		.frames = {.registers = &registers, .keeps = true, .big_endian = big_endian},
	};
	fixture->bytes = calloc(1, fixture->size);
	assert_non_null(fixture->bytes);
	litifut_put32(big_endian, fixture->bytes, BEFORE - 4);
	litifut_eh_frame_reserve(&registers, big_endian, room_bytes, fixture->bytes + BEFORE);
	/* what the linker does, in one of two ways */
	litifut_put32(big_endian, fixture->bytes + BEFORE + LITIFUT_EH_FRAME_PLACE,
		      big_endian ? ROOM : ROOM - (SECTION + BEFORE + LITIFUT_EH_FRAME_PLACE));
	fixture->sections[1] = (struct litifut_section){.name = ".eh_frame",
							.address = SECTION,
							.size = fixture->size,
							.type = 1,
							.flags = 2,
							.bytes = fixture->bytes};
	fixture->image = (struct litifut_image){
		.file.big_endian = big_endian, .sections = fixture->sections, .section_count = 2};
}

static void release(struct fixture *fixture)
{
	litifut_frames_release(&fixture->frames);
	free(fixture->bytes);
}

/* Where the caller is: its stack pointer, counted from that of the code, and its address. */
struct found {
	unsigned stack;
	enum { UNKNOWN, IN_REGISTER, ON_STACK } kind;
	unsigned place; /* the register, or in words below the caller's sp */
};

/* As libgcc does it: all that stands at or before `address`. */
static struct found unwind(const struct fixture *fixture, uint32_t address)
{
	const bool big_endian = fixture->image.file.big_endian;
	const uint8_t *entry = fixture->bytes + BEFORE + LITIFUT_EH_FRAME_PLACE - 8;
	const uint8_t *end = entry + 4 + litifut_get32(big_endian, entry);
	struct found now = {0, IN_REGISTER, 31};
	struct found kept[4];
	unsigned depth = 0;
	uint32_t at = ROOM;

	for (const uint8_t *next = entry + 17; next < end && at <= address;) {
		const uint8_t rule = *next++;

		if (rule >> 6 == 1) {
			at += rule & 0x3f;
			continue;
		}
		switch (rule) {
		case 0: /* nop */
			break;
		case 2: /* advance_loc1, 2, 4 */
			at += *next++;
			break;
		case 3:
			at += litifut_get16(big_endian, next);
			next += 2;
			break;
		case 4:
			at += litifut_get32(big_endian, next);
			next += 4;
			break;
		case 5: /* offset_extended */
			assert_int_equal(*next, 65);
			now.kind = ON_STACK;
			now.place = next[1];
			next += 2;
			break;
		case 7: /* undefined */
			assert_int_equal(*next++, 65);
			now.kind = UNKNOWN;
			break;
		case 9: /* register */
			assert_int_equal(*next, 65);
			now.kind = IN_REGISTER;
			now.place = next[1];
			next += 2;
			break;
		case 10:
			assert_true(depth < 4);
			kept[depth++] = now;
			break;
		case 11:
			assert_true(depth > 0);
			now = kept[--depth];
			break;
		case 14: /* def_cfa_offset */
			now.stack = *next++;
			break;
		default:
			fail_msg("rule %#x", rule);
		}
	}
	return now;
}

static void expect(const struct fixture *fixture, uint32_t offset, unsigned stack, int kind,
		   unsigned place)
{
	struct found found = unwind(fixture, ROOM + offset);

	assert_int_equal(found.kind, kind);
	if (kind == UNKNOWN)
		return;
	assert_int_equal(found.stack, stack);
	assert_int_equal(found.place, place);
}

static void each_piece_has_its_frame(void **state)
{
	static const uint8_t own[] = {0x44, 0x0e, 16};
	static const uint8_t tail[] = {0x09, 31, 1, 0x44, 0x0e, 16, 0x44, 0x80 | 31, 2};
	const struct litifut_frame_code moved = {
		.start = ROOM + 0x300, .bytes = 8, .instruction = 0x9000};
	const struct litifut_frame_code saved = {
		.start = ROOM + 0x308,
		.bytes = 0x200,
		.steps = {{4, 8, 0}, {8, 8, UINT32_C(1) << 31}, {0x100, 8, 0}, {0x104, 0, 0}},
		.step_count = 4};

	(void)state;
	for (int big_endian = 0; big_endian < 2; big_endian++) {
		struct fixture fixture;

		create(&fixture, big_endian, 0x1000);
		litifut_frames_add(&fixture.frames, &saved);
		litifut_frames_add(&fixture.frames, &moved);
		litifut_frames_add_rules(&fixture.frames, ROOM + 0x200, 0x100, tail, sizeof(tail));
		litifut_frames_add_rules(&fixture.frames, ROOM + 0x80, 0x80, own, sizeof(own));
		litifut_frames_add_rules(&fixture.frames, ROOM, 0x80, own, 0);
		litifut_frames_add_rules(&fixture.frames, 0x20000, 0x80, own, 0);
		assert_ptr_equal(
			litifut_eh_frame_write(&fixture.frames, &fixture.image, &fixture.room),
			&fixture.sections[1]);
		expect(&fixture, 0, 0, IN_REGISTER, 31);
		expect(&fixture, 0x7c, 0, IN_REGISTER, 31);
		expect(&fixture, 0x80, 0, IN_REGISTER, 31);
		expect(&fixture, 0x84, 16, IN_REGISTER, 31);
		expect(&fixture, 0xfc, 16, IN_REGISTER, 31);
		expect(&fixture, 0x100, 0, UNKNOWN, 0); /* nothing is there */
		expect(&fixture, 0x1fc, 0, UNKNOWN, 0);
		expect(&fixture, 0x200, 0, IN_REGISTER, 1);
		expect(&fixture, 0x204, 16, IN_REGISTER, 1);
		expect(&fixture, 0x208, 16, ON_STACK, 2);
		expect(&fixture, 0x2fc, 16, ON_STACK, 2);
		expect(&fixture, 0x300, 0, UNKNOWN, 0);
		expect(&fixture, 0x304, 0, UNKNOWN, 0);
		expect(&fixture, 0x308, 0, IN_REGISTER, 31);
		expect(&fixture, 0x30c, 8, IN_REGISTER, 31);
		expect(&fixture, 0x310, 8, ON_STACK, 1);
		expect(&fixture, 0x404, 8, ON_STACK, 1);
		expect(&fixture, 0x408, 8, IN_REGISTER, 31);
		expect(&fixture, 0x40c, 0, IN_REGISTER, 31);
		expect(&fixture, 0x504, 0, IN_REGISTER, 31);
		expect(&fixture, 0x508, 0, UNKNOWN, 0);
		release(&fixture);
	}
}

/* What does not fit ends a backtrace, and nothing else is touched. */
static void too_little_room_is_no_harm(void **state)
{
	static const uint8_t own[] = {0x44, 0x0e, 16};
	struct fixture fixture;
	unsigned known = 0;

	(void)state;
	create(&fixture, true, 0x1000);
	for (uint32_t at = 0; at < 0x1000; at += 16)
		litifut_frames_add_rules(&fixture.frames, ROOM + at, 16, own, sizeof(own));
	assert_non_null(litifut_eh_frame_write(&fixture.frames, &fixture.image, &fixture.room));
	for (uint32_t at = 0; at < 0x1000; at += 16) {
		struct found found = unwind(&fixture, ROOM + at + 4);

		assert_true(found.kind == UNKNOWN || found.stack == 16);
		assert_true(found.kind == UNKNOWN || known * 16 == at);
		known += found.kind != UNKNOWN;
	}
	assert_in_range(known, 20, 0x100 - 20);
	assert_int_equal(litifut_get32(true, fixture.bytes + fixture.size - 4), 0);
	release(&fixture);
}

/* A section that is cut anywhere has no entry, or one that is as it was. */
static void damaged_sections_have_no_entry(void **state)
{
	struct fixture fixture;

	(void)state;
	create(&fixture, false, 0x100);
	fixture.room.size++; /* of another size */
	assert_null(litifut_eh_frame_write(&fixture.frames, &fixture.image, &fixture.room));
	fixture.room.size--;
	for (uint32_t size = 0; size < fixture.size - 4; size++) {
		uint8_t *copy = malloc(size ? size : 1);

		assert_non_null(copy);
		memcpy(copy, fixture.bytes, size);
		fixture.sections[1].bytes = copy;
		fixture.sections[1].size = size;
		assert_null(litifut_eh_frame_write(&fixture.frames, &fixture.image, &fixture.room));
		free(copy);
	}
	fixture.sections[1].name = ".other";
	assert_null(litifut_eh_frame_write(&fixture.frames, &fixture.image, &fixture.room));
	release(&fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_piece_has_its_frame),
		cmocka_unit_test(too_little_room_is_no_harm),
		cmocka_unit_test(damaged_sections_have_no_entry),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
