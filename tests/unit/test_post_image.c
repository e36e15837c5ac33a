/* PLT entries, lazy stubs and veneers as real compilers and linkers make them,
 * for every CPU: what objdump calls NAME@plt is what we call NAME@plt. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "postproc/sources/image.h"

static char folder[] = "/tmp/litifut-post-image.XXXXXX";

/* puts is called from Thumb code by a tail call as well, which needs the
 * `bx pc` in front of its ARM PLT entry. */
static const char source[] = "#include <stdio.h>\n"
			     "#include <stdlib.h>\n"
			     "#include <string.h>\n"
			     "int near_one(int x);\n"
			     "int far_one(int x);\n"
			     "int tail(const char *s) { return puts(s); }\n"
			     "int main(int count, char **words)\n"
			     "{ char *copy = strdup(words[0]); puts(copy); free(copy);\n"
			     "  return far_one(count) + near_one(count); }\n"
			     "__attribute__((noinline, noclone)) int near_one(int x)\n"
			     "{ __asm__ volatile(\"\"); return x + 1; }\n";

static const char far_source[] = "__attribute__((section(\".far\"))) int far_one(int x)\n"
				 "{ return x + 1; }\n";

static bool run(const char *format, ...)
{
	char text[1024];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	return system(text) == 0;
}

static void write_source(const char *name, const char *text)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	FILE *file = fopen(path, "w");
	assert_non_null(file);
	fputs(text, file);
	assert_int_equal(fclose(file), 0);
}

static struct post_image *load(const char *name)
{
	char path[128];
	struct post_image *image;
	struct litifut_error error;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	if (post_image_open(path, &image, &error) != LITIFUT_OK)
		fail_msg("%s: %s", path, error.message);
	assert_int_equal(post_image_load(image, NULL, &error), LITIFUT_OK);
	return image;
}

static const struct post_symbol *plt_of(const struct post_image *image, const char *name)
{
	for (size_t i = 0; i < image->symbols.count; i++) {
		const struct post_symbol *symbol = &image->symbols.items[i];
		if (symbol->flags & POST_SYMBOL_PLT && !strcmp(symbol->name, name))
			return symbol;
	}
	return NULL;
}

/* Our PLT names against those of objdump, which recognises PLTs by their shape. */
static void same_as_objdump(const struct post_image *image, const char *triplet, unsigned least)
{
	char command[512], line[512];
	unsigned found = 0;

	snprintf(command, sizeof(command), "%s-objdump -d %s 2>/dev/null | grep '@plt>:$'", triplet,
		 image->path);
	FILE *pipe = popen(command, "r");
	assert_non_null(pipe);
	while (fgets(line, sizeof(line), pipe)) {
		char name[256];
		unsigned address;
		assert_int_equal(sscanf(line, "%x <%255[^@]", &address, name), 2);
		const struct post_symbol *symbol = post_symbols_find(&image->symbols, address);
		if (!symbol || !(symbol->flags & POST_SYMBOL_PLT) || strcmp(symbol->name, name))
			fail_msg("%s: 0x%x is %s@plt", image->path, address, name);
		assert_int_equal(symbol->address, address);
		found++;
	}
	pclose(pipe);
	assert_true(found >= least);
}

static const struct {
	const char *triplet, *flags, *name;
	bool plt;          /* else lazy stubs */
	bool thumb_prefix; /* in front of the PLT entry of puts */
} links[] = {
	{"arm-linux-gnueabihf", "-mthumb", "armhf-pie", true, true},
	{"arm-linux-gnueabihf", "-marm -no-pie -fno-pic", "armhf-a32", true, false},
	{"arm-linux-gnueabi", "", "armel-pie", true, false},
	{"arm-linux-gnueabi", "-Wl,--long-plt", "armel-long-plt", true, false},
	{"mips-linux-gnu", "", "mips-pie", false, false},
	{"mipsel-linux-gnu", "-no-pie -fno-pic -mno-shared -mplt", "mipsel-plt", true, false},
	{"mipsel-linux-gnu", "", "mipsel-pie", false, false},
};

static void plt_entries_have_names(void **state)
{
	unsigned ran = 0;

	(void)state;
	for (size_t i = 0; i < sizeof(links) / sizeof(*links); i++) {
		if (!run("command -v %s-gcc >/dev/null", links[i].triplet))
			continue;
		ran++;
		if (!run("cd %s && %s-gcc -O2 -w -fno-optimize-strlen -foptimize-sibling-calls %s "
			 "main.c near-far.c -o %s",
			 folder, links[i].triplet, links[i].flags, links[i].name))
			fail_msg("%s does not link", links[i].name);
		struct post_image *image = load(links[i].name);
		const struct post_symbol *entry = plt_of(image, "puts");
		assert_non_null(entry);
		assert_non_null(plt_of(image, "free"));
		if (links[i].plt && strncmp(links[i].name, "mips", 4))
			same_as_objdump(image, links[i].triplet, 4);
		if (links[i].thumb_prefix) {
			uint16_t first;
			struct litifut_code_reader code = post_image_code(image);
			assert_true(code.halfword(code.context, entry->address, &first));
			assert_int_equal(first, 0x4778); /* bx pc */
			/* Both ways in are one entry. */
			assert_ptr_equal(post_symbols_find(&image->symbols, entry->address + 4),
					 entry);
		}
		/* After strip the dynamic symbols still name them. */
		uint32_t address = entry->address;
		post_image_close(image);
		assert_true(run("cd %s && %s-strip %s", folder, links[i].triplet, links[i].name));
		image = load(links[i].name);
		entry = plt_of(image, "puts");
		assert_non_null(entry);
		assert_int_equal(entry->address, address);
		post_image_close(image);
	}
	if (!ran)
		skip();
}

/* The linker puts a veneer between a call and a function that is out of reach. */
static void veneers_lead_to_functions(void **state)
{
#define LINUX "arm-linux-gnueabihf-gcc -O2 -w "
#define BARE "arm-none-eabi-gcc -O2 -w --specs=nosys.specs -Wl,--no-warnings "
	static const char *const compilers[] = {LINUX "-marm -no-pie -fno-pic",
						LINUX "-mthumb -no-pie -fno-pic",
						LINUX "-marm",
						LINUX "-mthumb",
						BARE "-mcpu=cortex-m0",
						BARE "-mcpu=cortex-m3"};

	(void)state;
	if (!run("command -v arm-linux-gnueabihf-gcc arm-none-eabi-gcc >/dev/null"))
		skip();
	for (size_t i = 0; i < sizeof(compilers) / sizeof(*compilers); i++) {
		assert_true(run("cd %s && %s main.c far.c -o far "
				"-Wl,--section-start=.far=0x8000000",
				folder, compilers[i]));
		struct post_image *image = load("far");
		struct litifut_code_reader code = post_image_code(image);
		unsigned veneers = 0;
		for (size_t s = 0; s < image->symbols.count; s++) {
			const struct post_symbol *symbol = &image->symbols.items[s];
			if (!cpu_is_veneer(image->cpu, symbol->name))
				continue;
			/* A Thumb caller may enter an A32 veneer by blx. */
			struct litifut_lead lead =
				image->cpu->linkage.follow(&code, symbol->address | 1);
			if (lead.kind != LITIFUT_LEADS_TO_CODE)
				lead = image->cpu->linkage.follow(&code, symbol->address);
			assert_int_equal(lead.kind, LITIFUT_LEADS_TO_CODE);
			const struct post_symbol *target =
				post_symbols_find(&image->symbols, lead.address & ~1u);
			assert_non_null(target);
			assert_string_equal(target->name, "far_one");
			assert_int_equal(target->address, lead.address & ~1u);
			veneers++;
		}
		assert_true(veneers > 0);
		post_image_close(image);
	}
}

/* In a static program functions chosen at run time go through .iplt. */
static void indirect_functions_of_static_programs(void **state)
{
	(void)state;
	if (!run("command -v arm-linux-gnueabihf-gcc >/dev/null"))
		skip();
	write_source("ifunc.c", "static int one(void) { return 1; }\n"
				"static int (*pick(void))(void) { return one; }\n"
				"int chosen(void) __attribute__((ifunc(\"pick\")));\n"
				"int main(void) { return chosen(); }\n");
	assert_true(run("cd %s && arm-linux-gnueabihf-gcc -static ifunc.c -o ifunc", folder));
	struct post_image *image = load("ifunc");
	assert_non_null(plt_of(image, "chosen"));
	post_image_close(image);
}

static void wrong_files_are_refused(void **state)
{
	static const struct {
		const char *command, *name, *message;
	} cases[] = {
		{"echo no >short", "short", "not an ELF file"},
		{"head -c 200 /dev/zero >zeros", "zeros", "not an ELF file"},
		{"cc -w main.c near-far.c -o host", "host", "not a 32-bit ELF file"},
		{"arm-linux-gnueabihf-gcc -w -c main.c -o main.o", "main.o",
		 "neither an executable nor a shared library"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char path[128];
		struct post_image *image;
		struct litifut_error error;
		if (!run("cd %s && %s", folder, cases[i].command))
			continue;
		snprintf(path, sizeof(path), "%s/%s", folder, cases[i].name);
		assert_int_not_equal(post_image_open(path, &image, &error), LITIFUT_OK);
		assert_string_equal(error.message, cases[i].message);
		assert_string_equal(error.file, path);
	}
}

/* Debug files in all the places where they may be. */
static void debug_files_are_found(void **state)
{
	static const struct {
		const char *how, *commands;
	} cases[] = {
		{"build-id tree",
		 "id=$(arm-linux-gnueabihf-readelf -n app | sed -n 's/.*Build ID: //p'); "
		 "rest=${id#??}; two=${id%$rest}; mkdir -p tree/.build-id/$two; "
		 "mv app.debug tree/.build-id/$two/$rest.debug"},
		{".debug folder", "arm-linux-gnueabihf-objcopy --add-gnu-debuglink=app.debug app; "
				  "mkdir -p .debug; mv app.debug .debug/"},
		{"mini debug info", "xz -9 app.debug; arm-linux-gnueabihf-objcopy "
				    "--add-section .gnu_debugdata=app.debug.xz app"},
	};

	(void)state;
	if (!run("command -v arm-linux-gnueabihf-gcc >/dev/null"))
		skip();
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char tree[128], path[128];
		assert_true(run("cd %s && rm -rf tree .debug app* && "
				"arm-linux-gnueabihf-gcc -g -O2 -w main.c near-far.c -o app && "
				"arm-linux-gnueabihf-objcopy --only-keep-debug app app.debug && "
				"arm-linux-gnueabihf-strip app && %s",
				folder, cases[i].commands));
		snprintf(tree, sizeof(tree), "%s/tree", folder);
		snprintf(path, sizeof(path), "%s/app", folder);
		const char *const directories[] = {tree, NULL};
		struct post_debug_places places = {directories};
		struct post_image *image;
		struct litifut_error error;
		bool found = false;
		assert_int_equal(post_image_open(path, &image, &error), LITIFUT_OK);
		assert_int_equal(post_image_load(image, &places, &error), LITIFUT_OK);
		for (size_t s = 0; s < image->symbols.count; s++)
			found |= !strcmp(image->symbols.items[s].name, "near_one");
		if (!found)
			fail_msg("nothing found by %s", cases[i].how);
		post_image_close(image);
	}
}

static int make_folder(void **state)
{
	(void)state;
	if (!mkdtemp(folder))
		return -1;
	write_source("main.c", source);
	write_source("far.c", far_source);
	write_source("near-far.c", "int far_one(int x) { return x + 1; }\n");
	return 0;
}

static int remove_folder(void **state)
{
	(void)state;
	return run("rm -rf %s", folder) ? 0 : -1;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(plt_entries_have_names),
		cmocka_unit_test(veneers_lead_to_functions),
		cmocka_unit_test(indirect_functions_of_static_programs),
		cmocka_unit_test(wrong_files_are_refused),
		cmocka_unit_test(debug_files_are_found),
	};
	return cmocka_run_group_tests_name("post: ELF files", tests, make_folder, remove_folder);
}
