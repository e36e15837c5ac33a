/* Map files of the linkers, and which of their pieces a glob means. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "ldwrap/map.h"

static const char bfd_map[] =
	"Archive member included to satisfy reference by file (symbol)\n"
	"\n"
	"lib dir/libx.a(one.o)         main.o (one)\n"
	"\n"
	"Discarded input sections\n"
	"\n"
	" .text          0x0000000000000000        0x8 gone.o\n"
	"\n"
	"Linker script and memory map\n"
	"\n"
	"LOAD main.o\n"
	".init           0x0000000000008000        0xc\n"
	" *(SORT_NONE(.init))\n"
	" .init          0x0000000000008000        0x4 /usr/lib/crti.o\n"
	"                0x0000000000008000                _init\n"
	"\n"
	".text           0x0000000000008100      0x120\n"
	" *(.text .stub)\n"
	" .text          0x0000000000008100       0x20 /usr/lib/crt1.o\n"
	" *fill*         0x0000000000008120        0x4 \n"
	" .text.startup  0x0000000000008124       0x2c main.o\n"
	" .text.a_rather_long_name\n"
	"                0x0000000000008150       0x30 lib dir/libx.a(one.o)\n"
	"                0x0000000000008150                one\n"
	" .text          0x0000000000008180        0x0 empty.o\n"
	" .glue_7        0x0000000000008180        0x0 linker stubs\n"
	" .text          0x0000000000008180       0x40 lib dir/libx.a(two.o)\n"
	"\n"
	".ARM.attributes\n"
	"                0x0000000000000000       0x2b\n"
	" .ARM.attributes\n"
	"                0x0000000000000100       0x2b main.o\n"
	".comment        0x0000000000000000       0x1f\n"
	" .comment       0x0000000000000010       0x1f main.o\n";

/* Of a firmware, whose code begins at 0. */
static const char low_map[] = "Linker script and memory map\n"
			      "\n"
			      "LOAD beef/main.o\n"
			      "                0x00000100                room = 0x100\n"
			      "\n"
			      ".privileged_functions\n"
			      "                0x00000000      0x200\n"
			      " *(.vectors)\n"
			      " .vectors       0x00000000       0x40 start.o\n"
			      " .text.main     0x00000040       0x2c main.o\n"
			      ".comment        0x00000000       0x1f\n"
			      " .comment       0x00000000       0x1f main.o\n";

static const char lld_map[] =
	"     VMA      LMA     Size Align Out     In      Symbol\n"
	"     154      154       19     1 .interp\n"
	"     154      154       19     1         <internal>:(.interp)\n"
	"   10400    10400      120     4 .text\n"
	"   10400    10400       20     4         /usr/lib/crt1.o:(.text)\n"
	"   10400    10400        0     1                 _start\n"
	"   10420    10420       30     4         lib dir/libx.a(one.o):(.text.one)\n"
	"       0        0       1f     1 .comment\n"
	"      10       10       1f     1         main.o:(.comment)\n";

static const char gold_map[] = "Archive member included because of file (symbol)\n"
			       "\n"
			       "Memory map\n"
			       "\n"
			       "** file header   0x00008000       0x34\n"
			       "\n"
			       ".text           0x00008100      0x120\n"
			       " .text          0x00008100       0x20 /usr/lib/crt1.o\n"
			       " .text.one      0xffffffffffffffff       0x2c one.o\n"
			       "                0x00008121                one\n"
			       " .text.two\n"
			       "                0x00008158       0x30 two.o\n"
			       " .text.last     0xffffffffffffffff       0x10 last.o\n"
			       "\n"
			       ".rodata         0x00008300        0x8\n"
			       " .rodata        0x00008300        0x8 one.o\n";

static const char mold_map[] =
	"               VMA       Size Align Out     In      Symbol\n"
	"             0x1b4         25     1 .interp\n"
	"           0x10400        120     4 .text\n"
	"           0x10400         20     4         /usr/lib/crt1.o:(.text)\n"
	"           0x10400          0     0                 _start\n"
	"           0x10420         30     4         lib dir/libx.a(one.o):(.text.one)\n"
	"                 0         31     1 .comment\n"
	"              0x10         31     1         main.o:(.comment)\n";

static void read_text(const char *text, map_reader *read, struct map *map)
{
	char path[] = "/tmp/litifut-test-XXXXXX";
	int file = mkstemp(path);
	struct litifut_error error;

	assert_true(file >= 0);
	assert_int_equal(write(file, text, strlen(text)), strlen(text));
	close(file);
	assert_int_equal(map_read(path, read, map, &error), LITIFUT_OK);
	unlink(path);
}

static void assert_piece(const struct map_piece *piece, uint32_t address, uint32_t size,
			 const char *file, const char *text)
{
	assert_int_equal(piece->address, address);
	assert_int_equal(piece->size, size);
	assert_string_equal(piece->file, file);
	if (text)
		assert_string_equal(piece->text, text);
	else
		assert_null(piece->text);
}

static void a_map_of_ld_bfd_is_read(void **state)
{
	struct map map;

	(void)state;
	read_text(bfd_map, map_read_gnu, &map);
	assert_int_equal(map.count, 5);
	assert_piece(&map.pieces[0], 0x8000, 0x4, "/usr/lib/crti.o", NULL);
	assert_piece(&map.pieces[1], 0x8100, 0x20, "/usr/lib/crt1.o", ".text");
	assert_piece(&map.pieces[2], 0x8124, 0x2c, "main.o", ".text.startup");
	assert_piece(&map.pieces[3], 0x8150, 0x30, "lib dir/libx.a(one.o)",
		     ".text.a_rather_long_name");
	assert_piece(&map.pieces[4], 0x8180, 0x40, "lib dir/libx.a(two.o)", ".text");
	map_release(&map);
}

static void code_may_begin_at_zero(void **state)
{
	struct map map;

	(void)state;
	read_text(low_map, map_read_gnu, &map);
	assert_int_equal(map.count, 2);
	assert_piece(&map.pieces[0], 0, 0x40, "start.o", NULL);
	assert_piece(&map.pieces[1], 0x40, 0x2c, "main.o", ".text.main");
	map_release(&map);
}

static void a_map_of_lld_is_read(void **state)
{
	struct map map;

	(void)state;
	read_text(lld_map, map_read_lld, &map);
	assert_int_equal(map.count, 2);
	assert_piece(&map.pieces[0], 0x10400, 0x20, "/usr/lib/crt1.o", ".text");
	assert_piece(&map.pieces[1], 0x10420, 0x30, "lib dir/libx.a(one.o)", ".text.one");
	map_release(&map);
}

static void a_map_of_mold_is_read(void **state)
{
	struct map map;

	(void)state;
	read_text(mold_map, map_read_mold, &map);
	assert_int_equal(map.count, 2);
	assert_piece(&map.pieces[0], 0x10400, 20, "/usr/lib/crt1.o", ".text");
	assert_piece(&map.pieces[1], 0x10420, 30, "lib dir/libx.a(one.o)", ".text.one");
	map_release(&map);
}

/* Where the address of a piece is not told, it takes all that is between its neighbours. */
static void a_map_of_gold_is_read(void **state)
{
	struct map map;

	(void)state;
	read_text(gold_map, map_read_gnu, &map);
	assert_int_equal(map.count, 5);
	assert_piece(&map.pieces[0], 0x8100, 0x20, "/usr/lib/crt1.o", ".text");
	assert_piece(&map.pieces[1], 0x8120, 0x38, "one.o", ".text.one");
	assert_piece(&map.pieces[2], 0x8158, 0x30, "two.o", ".text.two");
	assert_piece(&map.pieces[3], 0x8188, 0x98, "last.o", ".text.last");
	assert_piece(&map.pieces[4], 0x8300, 0x8, "one.o", NULL);
	map_release(&map);
}

static void a_missing_map_is_an_error(void **state)
{
	struct map map;
	struct litifut_error error;

	(void)state;
	assert_int_equal(map_read("/nonexistent/map", map_read_gnu, &map, &error),
			 LITIFUT_ERROR_IO);
	assert_string_equal(error.file, "/nonexistent/map");
	map_release(&map);
}

static void globs_mean_objects_members_and_archives(void **state)
{
	static const struct {
		const char *file;
		const char *objects;
		const char *libraries;
		bool match;
	} cases[] = {
		{"/usr/lib/crt1.o", "crt1.o", "", true},
		{"/usr/lib/crt1.o", "/usr/lib/*", "", true},
		{"/usr/lib/crt1.o", "", "crt1.o", true},
		{"/usr/lib/crt1.o", "crt?", "", false},
		{"dir/libssl.a(tls.o)", "tls.o", "", true},
		{"dir/libssl.a(tls.o)", "libssl.a(tls.o)", "", true},
		{"dir/libssl.a(tls.o)", "libssl.a(x*.o)", "", false},
		{"dir/libssl.a(tls.o)", "libssl.a", "", false},
		{"dir/libssl.a(tls.o)", "", "libssl.a", true},
		{"dir/libssl.a(tls.o)", "", "ssl", true},
		{"dir/libssl.a(tls.o)", "", "dir/*", true},
		{"dir/libssl.a(tls.o)", "", "tls.o", false},
		{"main.o", "", "main", false},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct text_list objects = {0};
		struct text_list libraries = {0};

		text_list_append_split(&objects, cases[i].objects);
		text_list_append_split(&libraries, cases[i].libraries);
		if (map_file_matches(cases[i].file, &objects, &libraries) != cases[i].match)
			fail_msg("case %zu: %s", i, cases[i].file);
		text_list_release(&objects);
		text_list_release(&libraries);
	}
}

static void neighbouring_ranges_are_joined(void **state)
{
	struct text_list objects = {0};
	struct text_list libraries = {0};
	struct litifut_range *ranges;
	struct map map;
	struct text_list none = {NULL, 0};
	struct map_choice choice;

	(void)state;
	read_text(bfd_map, map_read_gnu, &map);
	text_list_append_split(&objects, " crt1.o , crti.o,");
	text_list_append(&libraries, "libx.a");
	assert_int_equal(objects.count, 2);
	choice = (struct map_choice){&objects, &libraries, &none, &none};
	assert_int_equal(map_excluded_ranges(&map, &choice, &ranges), 3);
	assert_int_equal(ranges[0].start, 0x8000);
	assert_int_equal(ranges[0].end, 0x8004);
	assert_int_equal(ranges[1].start, 0x8100);
	assert_int_equal(ranges[1].end, 0x8120);
	assert_int_equal(ranges[2].start, 0x8150);
	assert_int_equal(ranges[2].end, 0x81c0);
	free(ranges);
	/* only those of a library */
	choice = (struct map_choice){&none, &none, &none, &libraries};
	assert_int_equal(map_excluded_ranges(&map, &choice, &ranges), 3);
	assert_int_equal(ranges[0].start, 0x8000);
	assert_int_equal(ranges[1].start, 0x8100);
	assert_int_equal(ranges[1].end, 0x8120);
	assert_int_equal(ranges[2].start, 0x8124);
	assert_int_equal(ranges[2].end, 0x8150);
	free(ranges);
	map_release(&map);
	text_list_release(&objects);
	text_list_release(&libraries);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_map_of_ld_bfd_is_read),
		cmocka_unit_test(code_may_begin_at_zero),
		cmocka_unit_test(a_map_of_lld_is_read),
		cmocka_unit_test(a_map_of_mold_is_read),
		cmocka_unit_test(a_map_of_gold_is_read),
		cmocka_unit_test(a_missing_map_is_an_error),
		cmocka_unit_test(globs_mean_objects_members_and_archives),
		cmocka_unit_test(neighbouring_ranges_are_joined),
	};

	return cmocka_run_group_tests_name("linker maps", tests, NULL, NULL);
}
