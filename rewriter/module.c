/* What a rewritten image says of itself: struct litifut_module, see
 * <litifut/module_format.h>. */
#include "rewriter/module.h"

#include <elf.h>
#include <litifut/module_format.h>
#include <litifut/trace_format.h>
#include <stddef.h>
#include <string.h>

/* "A=1 B=2" becomes "A=1\0B=2\0\0". */
static enum litifut_status fill_defaults(const struct litifut_image *image,
					 const struct litifut_rewrite_options *options,
					 struct litifut_module *module, struct litifut_error *error)
{
	const char *text = options->defaults ? options->defaults : "";
	const size_t room = sizeof(module->defaults);
	size_t at = 0;

	while (*text) {
		size_t length = strcspn(text, " \t\n");

		if (length) {
			if (at + length + 2 > room)
				return litifut_error_set(
					error, LITIFUT_ERROR_UNSUPPORTED, image->path,
					LITIFUT_SECTION_MODULE, LITIFUT_NO_ADDRESS,
					"LITIFUT_DEFAULTS is longer than %zu bytes", room - 2);
			memcpy(module->defaults + at, text, length);
			at += length + 1;
		}
		text += length + strspn(text + length, " \t\n");
	}
	return LITIFUT_OK;
}

/* An image without a build-id gets an identity of its own, so that the host can
 * tell it from others of the same name: FNV-1a over its code. */
static void fill_identity(const struct litifut_image *image, struct litifut_module *module)
{
	uint64_t hash = 0xcbf29ce484222325ull;

	size_t bytes;
	const uint8_t *id = elf_file_build_id(&image->file, &bytes);

	if (id && bytes > sizeof(module->build_id))
		bytes = sizeof(module->build_id);
	module->build_id_bytes = id ? (uint32_t)bytes : 8;
	if (id) {
		memcpy(module->build_id, id, bytes);
		return;
	}
	for (size_t i = 1; i < image->section_count; i++) {
		const struct litifut_section *section = &image->sections[i];

		if (!(section->flags & SHF_EXECINSTR) || !section->bytes)
			continue;
		for (uint32_t at = 0; at < section->size; at++)
			hash = (hash ^ section->bytes[at]) * 0x100000001b3ull;
	}
	for (unsigned i = 0; i < 8; i++)
		module->build_id[i] = (uint8_t)(hash >> (56 - 8 * i));
}

enum litifut_status litifut_module_fill(const struct litifut_image *image,
					const struct litifut_rewrite_options *options,
					const struct litifut_module_facts *facts,
					struct litifut_module *module, struct litifut_error *error)
{
	const char *slash = strrchr(image->path, '/');
	const char *soname = elf_file_soname(&image->file);
	const char *name = options->name ? options->name
			   : *soname     ? soname
			   : slash       ? slash + 1
					 : image->path;
	bool executable =
		image->has_interpreter || image->file.type == ET_EXEC || !image->has_dynamic;
	uint32_t flags = LITIFUT_MODULE_ACTIVE;

	if (executable)
		flags |= LITIFUT_MODULE_EXECUTABLE;
	if (executable && !image->has_interpreter)
		flags |= LITIFUT_MODULE_STATIC;
	if (options->tail_calls)
		flags |= LITIFUT_MODULE_TAIL_CALLS;
	if (facts->spawners->used)
		flags |= LITIFUT_MODULE_SPAWNS;
	if (facts->spawners->ends)
		flags |= LITIFUT_MODULE_ENDS;
	/* so that the recorder looks at each call that no thunk has stored, as it does for those
	 * that make children */
	if (facts->arguments)
		flags |= LITIFUT_MODULE_ARGUMENTS | LITIFUT_MODULE_SPAWNS;
	module->flags = flags;
	module->engine = facts->engine;
	module->link_address = facts->address;
	module->text_start = image->text_start;
	module->text_end = image->text_end;
	module->db_address = facts->db_address;
	module->db_count = facts->db_count;
	module->sites_patched = facts->patched;
	module->sites_left = facts->sites - facts->patched;
	module->entry = facts->entry;
	module->register_atfork = facts->register_atfork;
	module->mode = facts->mode;
	module->exits_start = facts->exits_start;
	module->exits_end = facts->exits_end;
	module->trampolines_start = facts->trampolines_start;
	module->family = facts->mode == LITIFUT_MODE_TABLE      ? LITIFUT_FAMILY_TABLE
			 : facts->mode == LITIFUT_MODE_PATHS    ? LITIFUT_FAMILY_BITS
			 : facts->mode == LITIFUT_MODE_UNITS    ? LITIFUT_FAMILY_BITS
			 : facts->mode == LITIFUT_MODE_COVERAGE ? LITIFUT_FAMILY_NONE
			 : facts->mode == LITIFUT_MODE_COUNTS   ? LITIFUT_FAMILY_NONE
								: LITIFUT_FAMILY_STREAM;
	module->flags_address = facts->flags ? facts->flags->address : 0;
	module->flags_bytes = !facts->flags ? 0
			      : facts->mode == LITIFUT_MODE_COUNTS
				      ? facts->flags->size
				      : facts->flags->size & ~(LITIFUT_FLAGS_PIECE - 1);
	module->clock = facts->clock;
	module->enders = facts->spawners->enders;
	for (size_t i = 0; i < LITIFUT_MODULE_SPAWNERS && facts->spawners->places[i]; i++) {
		module->spawners[i] = facts->spawners->places[i];
		module->spawner_filter |= LITIFUT_SPAWNER_FILTER_BIT(facts->spawners->places[i]);
	}
	memcpy(module->name, name, strnlen(name, sizeof(module->name) - 1));
	fill_identity(image, module);
	return fill_defaults(image, options, module, error);
}
