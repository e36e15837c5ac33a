/* Entries of .ARM.exidx for what has been moved. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "rewriter/arm/unwind.h"

#define COUNT(array) (sizeof(array) / sizeof(*(array)))
#define INDEX 0x100u
#define TABLES 0x400u
#define ROOM 0x8100u
#define CANNOT_UNWIND 1u

/* A table of exceptions of the compact form, two with a personality routine: one word of
 * instructions, and two of them. */
static const uint32_t tables[] = {0x8101b108, 0x8400b0b0, 0,          0x1234,     0x00a8b0b0,
				  0,          0x1234,     0x01b108a8, 0xb0b0b0b0, 0};
#define COMPACT TABLES
#define SHORT (TABLES + 12)
#define LONG (TABLES + 24)

struct fixture {
	uint8_t index[0x200];
	uint8_t tables[sizeof(tables)];
	struct litifut_section sections[3];
	struct litifut_image image;
};

static void put_entry(struct fixture *fixture, size_t number, uint32_t function, uint32_t data)
{
	uint32_t place = INDEX + 8 * (uint32_t)number;
	bool leads = data != CANNOT_UNWIND && !(data & 0x80000000);

	litifut_put32(false, fixture->index + 8 * number, (function - place) & 0x7fffffff);
	litifut_put32(false, fixture->index + 8 * number + 4,
		      leads ? (data - place - 4) & 0x7fffffff : data);
}

/* Four functions, with the room for trampolines behind the first two. */
static size_t create(struct fixture *fixture, size_t reserved)
{
	memset(fixture, 0, sizeof(*fixture));
	for (size_t i = 0; i < COUNT(tables); i++)
		litifut_put32(false, fixture->tables + 4 * i, tables[i]);
	put_entry(fixture, 0, 0x8000, 0x80a8b0b0);
	put_entry(fixture, 1, 0x8080, COMPACT);
	litifut_arm_unwind_table.reserve(fixture->index + 16, reserved);
	put_entry(fixture, 2 + reserved, 0x9000, SHORT);
	put_entry(fixture, 3 + reserved, 0x9100, LONG);
	fixture->sections[1] = (struct litifut_section){.name = ".ARM.exidx",
							.address = INDEX,
							.size = (uint32_t)(4 + reserved) * 8,
							.type = 0x70000001,
							.flags = 2,
							.bytes = fixture->index};
	fixture->sections[2] = (struct litifut_section){.name = ".ARM.extab",
							.address = TABLES,
							.size = sizeof(fixture->tables),
							.type = 1,
							.flags = 2,
							.bytes = fixture->tables};
	fixture->image = (struct litifut_image){.sections = fixture->sections, .section_count = 3};
	return 4 + reserved;
}

static uint32_t relative_at(const struct fixture *fixture, size_t number, unsigned word)
{
	uint32_t place = INDEX + 8 * (uint32_t)number + 4 * word;
	uint32_t value = litifut_get32(false, fixture->index + 8 * number + 4 * word);

	return place + (value | (value << 1 & 0x80000000));
}

static uint32_t data_at(const struct fixture *fixture, size_t number)
{
	return litifut_get32(false, fixture->index + 8 * number + 4);
}

/* What an unwinder finds for an address that it takes for a return address. */
static size_t entry_for(const struct fixture *fixture, size_t count, uint32_t address)
{
	size_t found = count;

	for (size_t i = 0; i < count; i++) {
		assert_true(!i || relative_at(fixture, i - 1, 0) <= relative_at(fixture, i, 0));
		if (relative_at(fixture, i, 0) <= address - 2)
			found = i;
	}
	return found;
}

static const struct litifut_arch_context context = {.edges = true};
static const struct litifut_symbol room = {.address = ROOM, .size = 0x101};

static const struct litifut_frame_code codes[] = {
	{.start = ROOM + 0x10, .bytes = 0x18, .instruction = 0x8010},
	{.start = ROOM + 0x28, .bytes = 0x18, .instruction = 0x8090},
	/* tail calls: something was moved, nothing was */
	{.start = ROOM + 0x40, .bytes = 0x10, .steps = {{6, 4, 0}, {10, 0, 0}}, .step_count = 2},
	{.start = ROOM + 0x50, .bytes = 0x10, .steps = {{2, 4, 0}, {6, 0, 0}}, .step_count = 2},
	{.start = 0x20000, .bytes = 0x20, .instruction = 0x8010},
	{.start = ROOM + 0x60,
	 .bytes = 0x20,
	 .instruction = 0x9010,
	 .steps = {{4, 4, 0}, {6, 8, 0}},
	 .step_count = 2},
	{.start = ROOM + 0x80, .bytes = 0x20, .instruction = 0x9110},
};

static void moved_code_has_the_frames_of_its_function(void **state)
{
	struct fixture fixture;
	size_t count = create(&fixture, 16);

	(void)state;
	assert_ptr_equal(litifut_arm_unwind_table.write(&fixture.image, &context, &room, codes,
							COUNT(codes)),
			 &fixture.sections[1]);
	/* the gate: lr leads to the caller, and in its second half the stack holds two words */
	assert_int_equal(data_at(&fixture, entry_for(&fixture, count, ROOM + 2)), 0x80b0b0b0);
	assert_int_equal(data_at(&fixture, entry_for(&fixture, count, ROOM + 8)), 0x8001b0b0);
	assert_int_equal(data_at(&fixture, entry_for(&fixture, count, ROOM + 0x10)), 0x80a8b0b0);
	assert_int_equal(data_at(&fixture, entry_for(&fixture, count, ROOM + 0x26)), 0x80a8b0b0);
	assert_int_equal(relative_at(&fixture, entry_for(&fixture, count, ROOM + 0x28), 1),
			 COMPACT);
	assert_int_equal(data_at(&fixture, entry_for(&fixture, count, ROOM + 0x40)), 0x80b0b0b0);
	assert_int_equal(data_at(&fixture, entry_for(&fixture, count, ROOM + 0x44)), 0x80b0b0b0);
	assert_int_equal(data_at(&fixture, entry_for(&fixture, count, ROOM + 0x46)), CANNOT_UNWIND);
	assert_int_equal(data_at(&fixture, entry_for(&fixture, count, ROOM + 0x50)), CANNOT_UNWIND);
	assert_int_equal(data_at(&fixture, entry_for(&fixture, count, ROOM + 0x60)), 0x80a8b0b0);
	assert_int_equal(data_at(&fixture, entry_for(&fixture, count, ROOM + 0x64)), CANNOT_UNWIND);
	/* without the language's data there is no room for these instructions */
	assert_int_equal(data_at(&fixture, entry_for(&fixture, count, ROOM + 0x80)), CANNOT_UNWIND);
	assert_int_equal(data_at(&fixture, entry_for(&fixture, count, ROOM + 0x100)),
			 CANNOT_UNWIND);
	assert_int_equal(relative_at(&fixture, entry_for(&fixture, count, 0x9002), 1), SHORT);
}

/* Thunks and the rest have one entry, which leads to the tracer's routine. */
static void thunks_are_left_to_the_tracer(void **state)
{
	const struct litifut_arch_context calls = {.cpu = context.cpu};
	struct litifut_symbol table = {
		.name = "litifut_unwind_thunks", .address = TABLES, .own = true};
	uint32_t own = 0;
	struct fixture fixture;
	size_t count = create(&fixture, 16);

	(void)state;
	fixture.image.symbols = &table;
	fixture.image.symbol_count = 1;
	fixture.image.own = &own;
	fixture.image.own_count = 1;
	assert_non_null(
		litifut_arm_unwind_table.write(&fixture.image, &calls, &room, codes, COUNT(codes)));
	for (uint32_t at = 0x50; at < 0x60; at += 2)
		assert_int_equal(relative_at(&fixture, entry_for(&fixture, count, ROOM + at), 1),
				 TABLES);
	assert_int_equal(relative_at(&fixture, entry_for(&fixture, count, ROOM + 0x64), 1), TABLES);
	assert_int_equal(data_at(&fixture, entry_for(&fixture, count, ROOM + 0x40)), 0x80b0b0b0);
	assert_int_equal(data_at(&fixture, entry_for(&fixture, count, ROOM + 0x60)), 0x80a8b0b0);
	/* nothing behind the room */
	assert_int_equal(data_at(&fixture, entry_for(&fixture, count, ROOM + 0x102)),
			 CANNOT_UNWIND);
}

/* What has no room ends a backtrace, and what is there is in order. */
static void too_little_room_is_no_harm(void **state)
{
	(void)state;
	for (size_t reserved = 0; reserved < 16; reserved++) {
		struct fixture fixture;
		size_t count = create(&fixture, reserved);
		bool written = litifut_arm_unwind_table.write(&fixture.image, &context, &room,
							      codes, COUNT(codes)) != NULL;

		assert_int_equal(written, reserved >= 3);
		if (!written)
			continue;
		assert_int_equal(data_at(&fixture, entry_for(&fixture, count, ROOM + 0x100)),
				 CANNOT_UNWIND);
		assert_int_equal(relative_at(&fixture, entry_for(&fixture, count, 0x9002), 1),
				 SHORT);
	}
}

static void damaged_tables_end_a_backtrace(void **state)
{
	struct fixture fixture;
	size_t count = create(&fixture, 16);

	(void)state;
	fixture.sections[2].size = 4;
	put_entry(&fixture, count - 2, 0x9000, 0x70000);
	litifut_arm_unwind_table.write(&fixture.image, &context, &room, codes, COUNT(codes));
	assert_int_equal(data_at(&fixture, entry_for(&fixture, count, ROOM + 0x28)), CANNOT_UNWIND);
	assert_int_equal(data_at(&fixture, entry_for(&fixture, count, ROOM + 0x60)), CANNOT_UNWIND);
	fixture.sections[1].size = 0;
	assert_null(litifut_arm_unwind_table.write(&fixture.image, &context, &room, codes,
						   COUNT(codes)));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(moved_code_has_the_frames_of_its_function),
		cmocka_unit_test(thunks_are_left_to_the_tracer),
		cmocka_unit_test(too_little_room_is_no_harm),
		cmocka_unit_test(damaged_tables_end_a_backtrace),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
