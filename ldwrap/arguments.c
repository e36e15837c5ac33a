/* GNU ld takes long options with one dash or two, short options with the value
 * joined or in the next word, and treats whatever is left as an input. So the
 * one thing that must be known of an option we do not care for is whether it
 * takes the next word as its value. */
#include "ldwrap/arguments.h"

#include <stdlib.h>
#include <string.h>

#include <libiberty/libiberty.h>

enum value_style {
	VALUE_NONE,
	VALUE_REQUIRED, /* --name=VALUE or --name VALUE */
	VALUE_OPTIONAL  /* --name=VALUE or --name alone */
};

struct long_option {
	const char *name;
	enum value_style style;
	enum argument_kind kind;
};

/* Long options that take a separate value, in one of the linkers, and those
 * without a value that mean something to us. */
static const struct long_option long_options[] = {
	{"Map", VALUE_REQUIRED, ARGUMENT_MAP},
	{"print-map", VALUE_NONE, ARGUMENT_PRINT_MAP},
	{"output", VALUE_REQUIRED, ARGUMENT_OUTPUT},
	{"relocatable", VALUE_NONE, ARGUMENT_RELOCATABLE},
	{"relocateable", VALUE_NONE, ARGUMENT_RELOCATABLE},
	{"Ur", VALUE_NONE, ARGUMENT_RELOCATABLE},
	{"shared", VALUE_NONE, ARGUMENT_SHARED},
	{"Bshareable", VALUE_NONE, ARGUMENT_SHARED},
	{"static", VALUE_NONE, ARGUMENT_STATIC},
	{"Bstatic", VALUE_NONE, ARGUMENT_STATIC},
	{"dn", VALUE_NONE, ARGUMENT_STATIC},
	{"non_shared", VALUE_NONE, ARGUMENT_STATIC},
	{"Bdynamic", VALUE_NONE, ARGUMENT_DYNAMIC},
	{"dy", VALUE_NONE, ARGUMENT_DYNAMIC},
	{"call_shared", VALUE_NONE, ARGUMENT_DYNAMIC},
	{"strip-all", VALUE_NONE, ARGUMENT_STRIP_ALL},
	{"strip-debug", VALUE_NONE, ARGUMENT_STRIP_DEBUG},
	{"discard-all", VALUE_NONE, ARGUMENT_DISCARD_ALL},
	{"emit-relocs", VALUE_NONE, ARGUMENT_EMIT_RELOCS},
	{"dependency-file", VALUE_REQUIRED, ARGUMENT_DEPENDENCY_FILE},
	{"reproduce", VALUE_REQUIRED, ARGUMENT_REPRODUCE},
	{"script", VALUE_REQUIRED, ARGUMENT_SCRIPT},
	{"default-script", VALUE_REQUIRED, ARGUMENT_SCRIPT},
	{"dT", VALUE_REQUIRED, ARGUMENT_SCRIPT},
	{"mri-script", VALUE_REQUIRED, ARGUMENT_MRI_SCRIPT},
	{"oformat", VALUE_REQUIRED, ARGUMENT_OUTPUT_FORMAT},
	{"format", VALUE_REQUIRED, ARGUMENT_INPUT_FORMAT},
	{"EB", VALUE_NONE, ARGUMENT_ENDIAN},
	{"EL", VALUE_NONE, ARGUMENT_ENDIAN},
	{"version", VALUE_NONE, ARGUMENT_PROBE},
	{"help", VALUE_NONE, ARGUMENT_PROBE},
	{"target-help", VALUE_NONE, ARGUMENT_PROBE},
	{"print-output-format", VALUE_NONE, ARGUMENT_PROBE},
	{"print-sysroot", VALUE_NONE, ARGUMENT_PROBE},
	{"omagic", VALUE_NONE, ARGUMENT_OMAGIC},
	{"Ttext", VALUE_REQUIRED, ARGUMENT_TEXT_ADDRESS},
	{"entry", VALUE_REQUIRED, ARGUMENT_ENTRY},
	{"retain-symbols-file", VALUE_REQUIRED, ARGUMENT_RETAIN_SYMBOLS},
	{"version-script", VALUE_REQUIRED, ARGUMENT_VERSION_SCRIPT},
	{"sysroot", VALUE_REQUIRED, ARGUMENT_SYSROOT},
	{"gc-sections", VALUE_NONE, ARGUMENT_GC_SECTIONS},
	{"relax", VALUE_NONE, ARGUMENT_RELAX},
	{"orphan-handling", VALUE_REQUIRED, ARGUMENT_ORPHANS},
	{"library", VALUE_REQUIRED, ARGUMENT_LIBRARY},
	{"library-path", VALUE_REQUIRED, ARGUMENT_LIBRARY_PATH},
	{"Tbss", VALUE_REQUIRED, ARGUMENT_OTHER},
	{"Tdata", VALUE_REQUIRED, ARGUMENT_OTHER},
	{"Tldata-segment", VALUE_REQUIRED, ARGUMENT_OTHER},
	{"Trodata-segment", VALUE_REQUIRED, ARGUMENT_OTHER},
	{"Ttext-segment", VALUE_REQUIRED, ARGUMENT_OTHER},
	{"architecture", VALUE_REQUIRED, ARGUMENT_OTHER},
	{"assert", VALUE_REQUIRED, ARGUMENT_OTHER},
	{"audit", VALUE_REQUIRED, ARGUMENT_OTHER},
	{"auxiliary", VALUE_REQUIRED, ARGUMENT_OTHER},
	{"defsym", VALUE_REQUIRED, ARGUMENT_OTHER},
	{"depaudit", VALUE_REQUIRED, ARGUMENT_OTHER},
	{"dynamic-linker", VALUE_REQUIRED, ARGUMENT_OTHER},
	{"dynamic-list", VALUE_REQUIRED, ARGUMENT_OTHER},
	{"error-handling-script", VALUE_REQUIRED, ARGUMENT_OTHER},
	{"exclude-libs", VALUE_REQUIRED, ARGUMENT_OTHER},
	{"exclude-modules-for-implib", VALUE_REQUIRED, ARGUMENT_OTHER},
	{"export-dynamic-symbol", VALUE_REQUIRED, ARGUMENT_OTHER},
	{"export-dynamic-symbol-list", VALUE_REQUIRED, ARGUMENT_OTHER},
	{"filter", VALUE_REQUIRED, ARGUMENT_OTHER},
	{"fini", VALUE_REQUIRED, ARGUMENT_OTHER},
	{"gpsize", VALUE_REQUIRED, ARGUMENT_OTHER},
	{"hash-size", VALUE_REQUIRED, ARGUMENT_OTHER},
	{"hash-style", VALUE_REQUIRED, ARGUMENT_OTHER},
	{"ignore-unresolved-symbol", VALUE_REQUIRED, ARGUMENT_OTHER},
	{"image-base", VALUE_REQUIRED, ARGUMENT_OTHER},
	{"init", VALUE_REQUIRED, ARGUMENT_OTHER},
	{"just-symbols", VALUE_REQUIRED, ARGUMENT_OTHER},
	{"lto-O", VALUE_REQUIRED, ARGUMENT_OTHER},
	{"max-cache-size", VALUE_REQUIRED, ARGUMENT_OTHER},
	{"mllvm", VALUE_REQUIRED, ARGUMENT_OTHER},
	{"out-implib", VALUE_REQUIRED, ARGUMENT_OTHER},
	{"plugin", VALUE_REQUIRED, ARGUMENT_OTHER},
	{"plugin-opt", VALUE_REQUIRED, ARGUMENT_OTHER},
	{"require-defined", VALUE_REQUIRED, ARGUMENT_OTHER},
	{"rpath", VALUE_REQUIRED, ARGUMENT_OTHER},
	{"rpath-link", VALUE_REQUIRED, ARGUMENT_OTHER},
	{"section-ordering-file", VALUE_REQUIRED, ARGUMENT_OTHER},
	{"section-start", VALUE_REQUIRED, ARGUMENT_OTHER},
	{"soname", VALUE_REQUIRED, ARGUMENT_OTHER},
	{"sort-section", VALUE_REQUIRED, ARGUMENT_OTHER},
	{"spare-dynamic-tags", VALUE_REQUIRED, ARGUMENT_OTHER},
	{"stub-group-size", VALUE_OPTIONAL, ARGUMENT_OTHER},
	{"symbol-ordering-file", VALUE_REQUIRED, ARGUMENT_OTHER},
	{"task-link", VALUE_REQUIRED, ARGUMENT_OTHER},
	{"trace-symbol", VALUE_REQUIRED, ARGUMENT_OTHER},
	{"undefined", VALUE_REQUIRED, ARGUMENT_OTHER},
	{"undefined-glob", VALUE_REQUIRED, ARGUMENT_OTHER},
	{"unresolved-symbols", VALUE_REQUIRED, ARGUMENT_OTHER},
	{"version-exports-section", VALUE_REQUIRED, ARGUMENT_OTHER},
	{"wrap", VALUE_REQUIRED, ARGUMENT_OTHER},
};

/* Long options without a separate value whose first letter is a short option
 * with a value: written with one dash they are still the long ones. */
static const char *const plain_long_options[] = {
	"accept-unknown-input-arch",
	"add-needed",
	"allow-multiple-definition",
	"allow-shlib-undefined",
	"apply-dynamic-relocs",
	"as-needed",
	"build-id",
	"call-graph-profile-sort",
	"check-sections",
	"color-diagnostics",
	"compress-debug-sections",
	"copy-dt-needed-entries",
	"cref",
	"eh-frame-hdr",
	"embedded-relocs",
	"enable-new-dtags",
	"enable-non-contiguous-regions",
	"end-group",
	"end-lib",
	"error-limit",
	"error-unresolved-symbols",
	"export-dynamic",
	"export-dynamic-data",
	"fatal-warnings",
	"fix-arm1176",
	"fix-cortex-a53-835769",
	"fix-cortex-a53-843419",
	"fix-cortex-a8",
	"fix-stm32l4xx-629360",
	"fix-v4bx",
	"fix-v4bx-interworking",
	"force-dynamic",
	"force-exe-suffix",
	"force-group-allocation",
	"ld-generated-unwind-info",
	"long-plt",
	"map-whole-files",
	"merge-exidx-entries",
	"mmap-output-file",
	"undefined-version",
	"unique",
	"use-android-relr-tags",
	"use-blx",
	"use-nul-prefixed-import-tables",
};

/* Short options that take a value, joined or in the next word. `-O` and `-d`
 * and others that are only ever joined need no entry. */
struct short_option {
	char letter;
	enum argument_kind kind;
};

static const struct short_option short_options[] = {
	{'A', ARGUMENT_OTHER},   {'F', ARGUMENT_OTHER},        {'G', ARGUMENT_OTHER},
	{'I', ARGUMENT_OTHER},   {'L', ARGUMENT_LIBRARY_PATH}, {'P', ARGUMENT_OTHER},
	{'R', ARGUMENT_OTHER},   {'T', ARGUMENT_SCRIPT},       {'Y', ARGUMENT_OTHER},
	{'a', ARGUMENT_OTHER},   {'b', ARGUMENT_INPUT_FORMAT}, {'c', ARGUMENT_MRI_SCRIPT},
	{'e', ARGUMENT_ENTRY},   {'f', ARGUMENT_OTHER},        {'h', ARGUMENT_OTHER},
	{'l', ARGUMENT_LIBRARY}, {'m', ARGUMENT_EMULATION},    {'o', ARGUMENT_OUTPUT},
	{'u', ARGUMENT_OTHER},   {'y', ARGUMENT_OTHER},        {'z', ARGUMENT_OTHER},
};

/* Short options without a value that mean something to us. */
static const struct short_option flags[] = {
	{'r', ARGUMENT_RELOCATABLE}, {'i', ARGUMENT_RELOCATABLE}, {'s', ARGUMENT_STRIP_ALL},
	{'S', ARGUMENT_STRIP_DEBUG}, {'x', ARGUMENT_DISCARD_ALL}, {'M', ARGUMENT_PRINT_MAP},
	{'v', ARGUMENT_VERSION},     {'V', ARGUMENT_VERSION},     {'N', ARGUMENT_OMAGIC},
	{'q', ARGUMENT_EMIT_RELOCS},
};

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

static const struct long_option *find_long(const char *name, size_t length)
{
	for (size_t i = 0; i < LENGTH(long_options); i++)
		if (strlen(long_options[i].name) == length &&
		    !memcmp(long_options[i].name, name, length))
			return &long_options[i];
	return NULL;
}

/* `word` begins with a dash and is not "-" alone; `next` is the word after it
 * or NULL. Fills kind, value and count. */
static void read_option(const char *word, const char *next, struct argument *item)
{
	bool two_dashes = word[1] == '-';
	const char *name = word + (two_dashes ? 2 : 1);
	size_t length = strcspn(name, "=");
	const struct long_option *option = NULL;

	/* "-oformat" is the output "format": one dash and an o is always -o. */
	if (two_dashes || name[0] != 'o')
		option = find_long(name, length);
	if (option) {
		item->kind = option->kind;
		if (name[length] == '=')
			item->value = name + length + 1;
		else if (option->style == VALUE_REQUIRED && next)
			item->value = next, item->count = 2;
		if (item->kind == ARGUMENT_ENDIAN)
			item->value = option->name;
		return;
	}
	if (two_dashes) {
		if (!strncmp(name, "print-", 6) && strncmp(name, "print-gc", 8) &&
		    strncmp(name, "print-memory", 12) && strncmp(name, "print-map", 9) &&
		    strncmp(name, "print-icf", 9) && strncmp(name, "print-archive", 13) &&
		    strncmp(name, "print-symbol", 12))
			item->kind = ARGUMENT_PROBE;
		return;
	}
	for (size_t i = 0; i < LENGTH(plain_long_options); i++)
		if (strlen(plain_long_options[i]) == length &&
		    !memcmp(plain_long_options[i], name, length))
			return;
	for (size_t i = 0; i < LENGTH(short_options); i++) {
		if (short_options[i].letter != name[0])
			continue;
		item->kind = short_options[i].kind;
		if (name[1])
			item->value = name + 1;
		else if (next)
			item->value = next, item->count = 2;
		return;
	}
	if (name[0] && !name[1])
		for (size_t i = 0; i < LENGTH(flags); i++)
			if (flags[i].letter == name[0])
				item->kind = flags[i].kind;
}

void arguments_parse(int argc, char *const argv[], struct arguments *arguments)
{
	bool foreign = false;

	memset(arguments, 0, sizeof(*arguments));
	arguments->word_count = argc;
	arguments->words = xcalloc((size_t)argc + 1, sizeof(char *));
	for (int i = 0; i < argc; i++)
		arguments->words[i] = xstrdup(argv[i]);
	/* Replaces the vector, not the words that were there before. */
	expandargv(&arguments->word_count, &arguments->words);

	arguments->items = xcalloc((size_t)arguments->word_count + 1, sizeof(struct argument));
	for (int i = 1; i < arguments->word_count;) {
		struct argument *item = &arguments->items[arguments->count++];
		const char *word = arguments->words[i];

		item->first = i;
		item->count = 1;
		if (word[0] != '-' || !word[1]) {
			item->kind = ARGUMENT_INPUT;
			item->value = word;
			item->foreign = foreign;
		} else {
			read_option(word, arguments->words[i + 1], item);
		}
		if (item->kind == ARGUMENT_INPUT_FORMAT && item->value)
			foreign = strncmp(item->value, "elf", 3) && strcmp(item->value, "default");
		i += item->count;
	}
}

void arguments_release(struct arguments *arguments)
{
	freeargv(arguments->words);
	free(arguments->items);
	memset(arguments, 0, sizeof(*arguments));
}

const struct argument *arguments_last(const struct arguments *arguments, enum argument_kind kind)
{
	for (size_t i = arguments->count; i > 0; i--)
		if (arguments->items[i - 1].kind == kind)
			return &arguments->items[i - 1];
	return NULL;
}

bool arguments_has_inputs(const struct arguments *arguments)
{
	return arguments_last(arguments, ARGUMENT_INPUT) ||
	       arguments_last(arguments, ARGUMENT_LIBRARY);
}

bool arguments_are_static(const struct arguments *arguments)
{
	return arguments_last(arguments, ARGUMENT_STATIC) &&
	       !arguments_last(arguments, ARGUMENT_DYNAMIC);
}

const char *arguments_output(const struct arguments *arguments)
{
	const struct argument *output = arguments_last(arguments, ARGUMENT_OUTPUT);

	return output && output->value ? output->value : "a.out";
}

bool arguments_id_is_of_contents(const struct arguments *arguments)
{
	bool found = true;

	for (int i = 1; i < arguments->word_count; i++) {
		const char *word = arguments->words[i];

		word += word[0] == '-' && word[1] == '-';
		if (!strncmp(word, "-build-id", 9) && (word[9] == '=' || !word[9]))
			found = strncmp(word + 9, "=0x", 3) != 0 && strcmp(word + 9, "=uuid") != 0;
	}
	return found;
}
