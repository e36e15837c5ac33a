/* A build makes many links whose output is not a program for the device: tests of
 * configure, partial links, firmware, kernels, tools for the build machine.
 * Each is recognised here, from the command line and from the first input. */
#include "ldwrap/decision.h"

#include <fcntl.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <libelf.h>
#include <libiberty/libiberty.h>

#include "ldwrap/firmware_inputs.h"
#include "ldwrap/script_inputs.h"
#include "platform/platform.h"
#include "rewriter/arch.h"

static bool is_loader(const struct arguments *arguments)
{
	if (platform_is_loader(lbasename(arguments_output(arguments))))
		return true;
	/* musl's libc.so is its own loader; a library has no other use for -e. */
	return arguments_last(arguments, ARGUMENT_SHARED) &&
	       arguments_last(arguments, ARGUMENT_ENTRY);
}

/* A script with INSERT adds to the built-in one; any other one replaces it. */
static bool script_replaces_default(const char *path)
{
	FILE *file = fopen(path, "r");
	char *line = NULL;
	size_t room = 0;
	bool inserts = false;

	if (!file)
		return true;
	while (!inserts && getline(&line, &room, file) >= 0) {
		char *word = strstr(line, "INSERT");

		inserts = word &&
			  (!strncmp(word + 6, " AFTER", 6) || !strncmp(word + 6, " BEFORE", 7));
	}
	free(line);
	fclose(file);
	return !inserts;
}

/* The inputs that the scripts of the command line name. */
static struct text_list inputs_of_scripts(const struct arguments *arguments)
{
	struct text_list paths = {0};

	for (size_t i = 0; i < arguments->count; i++)
		if (arguments->items[i].kind == ARGUMENT_SCRIPT && arguments->items[i].value)
			script_inputs_append(arguments->items[i].value, &paths);
	return paths;
}

static bool has_inputs(const struct arguments *arguments)
{
	struct text_list paths;
	bool found;

	if (arguments_has_inputs(arguments))
		return true;
	paths = inputs_of_scripts(arguments);
	found = paths.count;
	text_list_release(&paths);
	return found;
}

/* Does the reason concern a program of its own kind, and not a step on the way to one? */
static bool makes_program(const struct arguments *arguments)
{
	return !arguments_last(arguments, ARGUMENT_PROBE) &&
	       !arguments_last(arguments, ARGUMENT_RELOCATABLE) && has_inputs(arguments);
}

static bool is_same_file(const char *path, const struct stat *output)
{
	struct stat status;

	return !stat(path, &status) && status.st_dev == output->st_dev &&
	       status.st_ino == output->st_ino;
}

/* Can -lNAME be the file `output`, by its name? */
static bool names_output(const char *name, const char *output)
{
	size_t length = strlen(name);

	if (name[0] == ':')
		return !strcmp(name + 1, lbasename(output));
	output = lbasename(output);
	return !strncmp(output, "lib", 3) && !strncmp(output + 3, name, length) &&
	       output[3 + length] == '.';
}

/* GNU ld would say so, and fail; it does not see it when we let it write to another file. */
static bool output_is_input(const struct arguments *arguments)
{
	const char *output = arguments_output(arguments);
	struct stat status;

	if (stat(output, &status))
		return false;
	for (size_t i = 0; i < arguments->count; i++) {
		const struct argument *item = &arguments->items[i];

		if (item->kind == ARGUMENT_INPUT && is_same_file(item->value, &status))
			return true;
		if (item->kind != ARGUMENT_LIBRARY || !item->value ||
		    !names_output(item->value, output))
			continue;
		for (size_t j = 0; j < arguments->count; j++) {
			const struct argument *folder = &arguments->items[j];
			char *path;
			bool same;

			if (folder->kind != ARGUMENT_LIBRARY_PATH || !folder->value)
				continue;
			path = concat(folder->value, "/", lbasename(output), NULL);
			same = is_same_file(path, &status);
			free(path);
			if (same)
				return true;
		}
	}
	return false;
}

/* NULL when the options of the command line speak for a program or library. A firmware has
 * a script and addresses of its own. */
static const char *reason_of_options(const struct arguments *arguments, bool firmware)
{
	struct stat status;

	for (size_t i = 0; i < arguments->count; i++) {
		const struct argument *item = &arguments->items[i];

		switch (item->kind) {
		case ARGUMENT_OUTPUT:
		case ARGUMENT_MAP:
		case ARGUMENT_DEPENDENCY_FILE:
			if (!item->value)
				return "an option without its value";
			break;
		case ARGUMENT_PROBE:
			return "a question to the linker";
		case ARGUMENT_RELOCATABLE:
			return "a partial link (-r)";
		case ARGUMENT_MRI_SCRIPT:
			return "an MRI script (-c)";
		case ARGUMENT_SCRIPT:
			if (item->value && script_is_read_once(item->value))
				return "a linker script that can be read only once (-T)";
			if (!firmware && (!item->value || script_replaces_default(item->value)))
				return "a linker script of its own (-T)";
			break;
		case ARGUMENT_OUTPUT_FORMAT:
			if (!item->value || strncmp(item->value, "elf32", 5))
				return "an output format of its own (--oformat)";
			break;
		case ARGUMENT_OMAGIC:
			if (firmware)
				break;
			return "text and data in one segment (-N)";
		case ARGUMENT_TEXT_ADDRESS:
			if (firmware)
				break;
			return "a text address of its own (-Ttext)";
		case ARGUMENT_RETAIN_SYMBOLS:
			return "a list of symbols to keep (--retain-symbols-file)";
		default:
			break;
		}
	}
	if (!has_inputs(arguments))
		return "no inputs";
	/* An error to each linker, which they do not see when the stripping is left to us. */
	if (arguments_last(arguments, ARGUMENT_EMIT_RELOCS) &&
	    arguments_last(arguments, ARGUMENT_STRIP_ALL))
		return "relocations of symbols that are not kept (-q with -s)";
	if (is_loader(arguments))
		return "a dynamic loader";
	if (!lstat(arguments_output(arguments), &status) && !S_ISREG(status.st_mode) &&
	    !S_ISLNK(status.st_mode))
		return "the output is not a regular file";
	if (!stat(arguments_output(arguments), &status) && !S_ISREG(status.st_mode))
		return "the output is not a regular file";
	if (output_is_input(arguments))
		return "the output is an input";
	return NULL;
}

bool decision_is_trial(const char *output)
{
	static const char *const names[] = {"conftest*", "cmTC_*",       "CMakeTmp*", "a.out",
					    "testfile*", "sanitycheck*", "output.exe"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!fnmatch(names[i], lbasename(output), 0))
			return true;
	return !strcmp(output, "/dev/null"); /* of makefiles that try an option of the compiler */
}

/* The emulation of one of our CPUs that -m names, or NULL. */
static const struct litifut_emulation *find_emulation(const char *name)
{
	const struct litifut_arch *arch;

	for (size_t i = 0; (arch = litifut_arch_number(i)); i++)
		for (const struct litifut_emulation *one = arch->cpu->objects->emulations;
		     one->name; one++)
			if (!strcmp(one->name, name))
				return one;
	return NULL;
}

/* NULL when -m is missing or names an emulation that can be traced. */
static const char *reason_of_emulation(const struct arguments *arguments)
{
	const struct argument *item = arguments_last(arguments, ARGUMENT_EMULATION);
	const struct litifut_emulation *emulation;

	if (!item || !item->value)
		return NULL;
	emulation = find_emulation(item->value);
	if (!emulation)
		return "not an emulation for 32-bit ARM or MIPS (-m)";
	if (emulation->refused)
		return emulation->refused;
	return emulation->supported ? NULL : "not a Linux emulation (-m)";
}

static bool emulation_is_refused(const struct arguments *arguments)
{
	const struct argument *item = arguments_last(arguments, ARGUMENT_EMULATION);
	const struct litifut_emulation *emulation =
		item && item->value ? find_emulation(item->value) : NULL;

	return emulation && emulation->refused;
}

/* Fills `target` from the header of an ELF object or of the first one in an
 * archive. False: neither. */
static bool read_header(const char *path, struct litifut_rewrite_plan *target, bool *elf32)
{
	int file = open(path, O_RDONLY | O_CLOEXEC);
	Elf *outer = file < 0 ? NULL : elf_begin(file, ELF_C_READ_MMAP, NULL);
	Elf *elf = outer;
	Elf_Cmd command = ELF_C_READ_MMAP;
	bool found = false;

	if (outer && elf_kind(outer) == ELF_K_AR)
		elf = elf_begin(file, command, outer);
	while (elf && !found) {
		size_t size = 0;
		const char *ident = elf_kind(elf) == ELF_K_ELF ? elf_getident(elf, &size) : NULL;

		if (ident && size >= EI_NIDENT) {
			const void *at = elf32_getehdr(elf);
			Elf32_Ehdr header;

			found = true;
			*elf32 = at != NULL;
			if (at) {
				/* a member of an archive need not be aligned */
				memcpy(&header, at, sizeof(header));
				target->machine = header.e_machine;
				target->elf_flags = header.e_flags;
				target->elf_data = header.e_ident[EI_DATA];
				target->elf_osabi = header.e_ident[EI_OSABI];
			}
		}
		if (elf == outer)
			break;
		command = elf_next(elf);
		elf_end(elf);
		elf = found ? NULL : elf_begin(file, command, outer);
	}
	if (outer)
		elf_end(outer);
	if (file >= 0)
		close(file);
	return found;
}

static const char *reason_of_target(const struct litifut_rewrite_plan *target)
{
	const struct litifut_arch *arch = litifut_arch_find(target->machine);

	return arch ? arch->cpu->objects->refuse(target->elf_flags, target->elf_data)
		    : "not a link for 32-bit ARM or MIPS";
}

/* The header of the first input that has one, by the command line or by a script. */
static bool read_first_header(const struct arguments *arguments,
			      struct litifut_rewrite_plan *target, bool *elf32)
{
	struct text_list paths;
	bool found = false;

	for (size_t i = 0; i < arguments->count && !found; i++) {
		const struct argument *item = &arguments->items[i];

		found = item->kind == ARGUMENT_INPUT && !item->foreign &&
			read_header(item->value, target, elf32);
	}
	if (found)
		return true;
	paths = inputs_of_scripts(arguments);
	for (size_t i = 0; i < paths.count && !found; i++)
		found = read_header(paths.items[i], target, elf32);
	text_list_release(&paths);
	return found;
}

static const char *reason_of_inputs(const struct arguments *arguments,
				    struct litifut_rewrite_plan *target)
{
	bool elf32 = false;

	elf_version(EV_CURRENT);
	if (!read_first_header(arguments, target, &elf32))
		return "no ELF file among the inputs";
	return elf32 ? reason_of_target(target) : "not a link for 32-bit ARM or MIPS";
}

void decision_make(const struct arguments *arguments, struct decision *decision)
{
	struct litifut_rewrite_plan ignored;

	memset(decision, 0, sizeof(*decision));
	decision->firmware = firmware_runtime(arguments);
	decision->reason = reason_of_options(arguments, decision->firmware != NULL);
	if (decision->reason) {
		decision->is_program = makes_program(arguments) &&
				       !reason_of_emulation(arguments) &&
				       !reason_of_inputs(arguments, &ignored);
	} else if (!decision->firmware) {
		decision->reason = reason_of_emulation(arguments);
		decision->refused = emulation_is_refused(arguments);
	}
	if (!decision->reason)
		decision->reason = reason_of_inputs(arguments, &decision->target);
	decision->refused |= decision->reason && litifut_arch_find(decision->target.machine);
	decision->rewrite = !decision->reason;
}

const char *const *decision_triplets(const struct arguments *arguments)
{
	const struct argument *item = arguments_last(arguments, ARGUMENT_EMULATION);
	const struct litifut_emulation *emulation =
		item && item->value ? find_emulation(item->value) : NULL;

	if (!emulation)
		return NULL;
	for (const char *const *hint = emulation->hints; hint && *hint; hint++)
		for (int i = 1; i < arguments->word_count; i++)
			if (strstr(arguments->words[i], *hint))
				return emulation->hinted;
	return emulation->triplets;
}

const char *decision_architecture(const struct litifut_rewrite_plan *target)
{
	const struct litifut_arch *arch = litifut_arch_find(target->machine);

	return arch ? arch->cpu->objects->tracer(target->elf_data) : NULL;
}
