#include "rewriter/site_arguments.h"

#include <elf.h>
#include <fnmatch.h>
#include <libiberty/demangle.h>
#include <litifut/module_format.h>
#include <stdlib.h>
#include <string.h>

#include "common/memory.h"
#include "dwarf/functions.h"
#include "rewriter/dynamic_symbols.h"
#include "rewriter/program_code.h"
#include "rewriter/session.h"

#define SETS_MAX 255

struct finder {
	struct litifut_session *session;
	const struct litifut_rewrite_options *options;
	const struct litifut_section *symbols; /* .dynsym, or NULL */
	struct litifut_slots slots;
	struct dwarf_functions *functions; /* NULL: not read yet, or nothing is known */
	bool functions_read;
	/* What was found for the last callee: most calls of one stand together. */
	uint32_t last_callee;
	unsigned last_set;
};

/* As in the file; a C++ name also as it is written, with its parameters and without. */
static bool is_named(const char *glob, const char *name, const char *full, const char *brief)
{
	return fnmatch(glob, name, 0) == 0 || (full && fnmatch(glob, full, 0) == 0) ||
	       (brief && fnmatch(glob, brief, 0) == 0);
}

/* All that is known of the parameters and the result of a function, as fields. False: nothing. */
static bool known_fields(struct finder *finder, uint32_t address, const char *name,
			 uint8_t fields[LITIFUT_ARGUMENT_FIELDS])
{
	struct litifut_session *session = finder->session;
	const bool returns = session->context.returns;
	struct dwarf_parameters parameters;
	unsigned count = 0;

	if (!finder->functions_read)
		finder->functions = dwarf_functions_open(
			session->image.file.elf, session->arch->cpu, session->image.file.flags);
	finder->functions_read = true;
	if (!finder->functions ||
	    !dwarf_functions_parameters(finder->functions, address, name, &parameters))
		return false;
	for (unsigned i = 0; i < parameters.count; i++) {
		const struct dwarf_parameter *parameter = &parameters.items[i];

		for (unsigned word = 0;
		     word < parameter->words && count < LITIFUT_ARGUMENT_FIELDS - returns; word++)
			fields[count++] =
				LITIFUT_ARGUMENT_FIELD(parameter->shown, parameter->word + word);
	}
	if (parameters.result && returns)
		fields[count] = LITIFUT_ARGUMENT_FIELD(parameters.result, LITIFUT_ARGUMENT_RETURN);
	return true;
}

/* Adds the fields of all specs that ask for a function of this name, which begins at `address` or,
 * where that is 0, in another file. */
static void add_name(struct finder *finder, uint32_t address, const char *name, uint8_t *fields)
{
	const struct litifut_argument_specs *specs = finder->options->arguments;
	char *full;
	char *brief;

	if (!*name || strncmp(name, "litifut_", 8) == 0)
		return;
	full = cplus_demangle(name, DMGL_PARAMS | DMGL_ANSI | DMGL_AUTO);
	brief = cplus_demangle(name, DMGL_ANSI | DMGL_AUTO);
	for (size_t i = 0; i < specs->count; i++) {
		if (!is_named(specs->items[i].glob, name, full, brief))
			continue;
		if (i < 32)
			finder->session->arguments.used |= 1u << i;
		if (!finder->session->context.returns &&
		    litifut_argument_is_longer(specs->items[i].fields[0], specs->triggers))
			continue;
		unsigned left_out = litifut_argument_fields_add(fields, specs->items[i].fields);
		uint8_t known[LITIFUT_ARGUMENT_FIELDS] = {0};

		if (specs->items[i].all && known_fields(finder, address, name, known)) {
			left_out += litifut_argument_fields_add(fields, known);
			if (i < 32)
				finder->session->arguments.known |= 1u << i;
		}
		if (left_out && !finder->session->arguments.crowded)
			finder->session->arguments.crowded = specs->items[i].glob;
	}
	free(full);
	free(brief);
}

/* All names of a function. */
static void add_aliases(struct finder *finder, const struct litifut_symbol *function,
			uint8_t *fields)
{
	const struct litifut_image *image = &finder->session->image;

	for (size_t i = litifut_image_functions_below(image, function->address);
	     i < image->function_count && image->function_addresses[i] == function->address; i++)
		add_name(finder, function->address, image->symbols[image->functions[i]].name,
			 fields);
}

/* The names of the code at `address`, which the linker may have made to lead elsewhere. */
static void add_names(struct finder *finder, uint32_t address, uint8_t *fields)
{
	const struct litifut_image *image = &finder->session->image;
	const struct litifut_way_end end =
		litifut_way_from(image, finder->session->arch->cpu, &finder->slots, address);

	if (end.function) {
		add_aliases(finder, end.function, fields);
		return;
	}
	if (end.slot) {
		add_name(finder, 0, end.slot, fields);
		return;
	}
	/* lazy stubs: the values of undefined symbols */
	for (uint32_t i = 0; finder->symbols && i < finder->symbols->size / sizeof(Elf32_Sym);
	     i++) {
		const uint32_t value = litifut_image_word(
			image, finder->symbols,
			i * (uint32_t)sizeof(Elf32_Sym) + (uint32_t)offsetof(Elf32_Sym, st_value));

		if (value && (value & ~1u) == (end.address & ~1u))
			add_name(finder, 0, litifut_dynamic_name(image, finder->symbols, i),
				 fields);
	}
}

/* Its number, and 1; 0: nothing is recorded; SETS_MAX + 1: there is no room for another set. */
static unsigned set_of(struct finder *finder, const uint8_t *fields)
{
	struct litifut_argument_sets *sets = &finder->session->arguments;
	const struct litifut_trigger *triggers = finder->options->arguments->triggers;
	struct litifut_argument_set set;
	unsigned count;

	memcpy(set.of_call, fields, sizeof(set.of_call));
	memcpy(set.of_return, fields, sizeof(set.of_return));
	count = litifut_argument_fields_keep(set.of_call, false, triggers);
	if (finder->session->context.returns)
		count += litifut_argument_fields_keep(set.of_return, true, triggers);
	else
		memset(set.of_return, 0, sizeof(set.of_return));
	if (!count)
		return 0;
	for (size_t i = 0; i < sets->count; i++)
		if (memcmp(&sets->items[i], &set, sizeof(set)) == 0)
			return (unsigned)i + 1;
	if (sets->count == SETS_MAX)
		return SETS_MAX + 1;
	sets->items[sets->count++] = set;
	return (unsigned)sets->count;
}

static unsigned find_set(struct finder *finder, const struct litifut_found_site *site)
{
	uint8_t fields[LITIFUT_ARGUMENT_FIELDS] = {0};
	const bool by_symbol = LITIFUT_CALLEE_IS_SYMBOL(site->known_callee);
	const uint32_t callee = by_symbol ? site->known_callee : site->site.callee;

	if (!callee)
		return 0;
	if (callee == finder->last_callee)
		return finder->last_set;
	if (by_symbol)
		add_name(finder, 0,
			 finder->symbols
				 ? litifut_dynamic_name(&finder->session->image, finder->symbols,
							LITIFUT_CALLEE_SYMBOL_OF(callee))
				 : "",
			 fields);
	else
		add_names(finder, callee, fields);
	finder->last_callee = callee;
	finder->last_set = set_of(finder, fields);
	return finder->last_set;
}

enum litifut_status litifut_site_arguments_find(struct litifut_session *session,
						const struct litifut_rewrite_options *options,
						struct litifut_error *error)
{
	struct finder finder = {.session = session, .options = options};
	enum litifut_status status = LITIFUT_OK;

	finder.symbols = litifut_image_section(&session->image, ".dynsym");
	if (finder.symbols && (!finder.symbols->bytes || finder.symbols->type != SHT_DYNSYM))
		finder.symbols = NULL;
	session->arguments.items =
		litifut_memory_array(SETS_MAX, sizeof(*session->arguments.items));
	if (!session->arguments.items)
		return litifut_error_memory(error, session->image.path);
	status = litifut_slots_find(&session->image, &session->arch->cpu->linkage, finder.symbols,
				    &finder.slots, error);
	for (size_t i = 0; i < session->sites.count && !status; i++) {
		struct litifut_found_site *site = &session->sites.items[i];
		const unsigned set =
			site->site.reason == LITIFUT_SITE_PATCHED ? find_set(&finder, site) : 0;

		site->arguments = set > SETS_MAX ? 0 : (uint8_t)set;
		session->arguments.left += set > SETS_MAX;
		if (LITIFUT_CALLEE_IS_SYMBOL(site->known_callee))
			site->known_callee = 0;
	}
	litifut_slots_release(&finder.slots);
	dwarf_functions_release(finder.functions);
	return status;
}

static const uint8_t *fields_of_return(const struct litifut_session *session,
				       const struct litifut_found_site *site)
{
	return site->site.reason == LITIFUT_SITE_PATCHED && site->arguments
		       ? session->arguments.items[site->arguments - 1].of_return
		       : NULL;
}

bool litifut_site_is_for_value(const struct litifut_session *session,
			       const struct litifut_found_site *site)
{
	const uint8_t *fields = fields_of_return(session, site);

	for (size_t i = 0; fields && i < LITIFUT_ARGUMENT_FIELDS && fields[i]; i++)
		if (LITIFUT_ARGUMENT_NUMBER(fields[i]) == LITIFUT_ARGUMENT_RETURN)
			return true;
	return false;
}

bool litifut_site_is_timed(const struct litifut_session *session,
			   const struct litifut_rewrite_options *options,
			   const struct litifut_found_site *site)
{
	const uint8_t *fields = fields_of_return(session, site);

	for (size_t i = 0; fields && i < LITIFUT_ARGUMENT_FIELDS && fields[i]; i++)
		if (litifut_argument_is_longer(fields[i], options->arguments->triggers))
			return true;
	return false;
}

#define ENTRY_BYTES sizeof(struct litifut_db_entry)
#define SITE_ENTRIES (sizeof(struct litifut_argument_site) / ENTRY_BYTES)
#define HEADER_ENTRIES (sizeof(struct litifut_argument_header) / ENTRY_BYTES)

static size_t count_records(const struct litifut_session *session)
{
	size_t count = 0;

	for (size_t i = 0; i < session->sites.count; i++) {
		const struct litifut_found_site *site = &session->sites.items[i];

		if (site->site.reason == LITIFUT_SITE_PATCHED)
			count += litifut_site_has_arguments(&session->arguments, site->arguments) +
				 litifut_site_has_result(&session->arguments, site->arguments);
	}
	return count;
}

size_t litifut_site_arguments_entries(const struct litifut_session *session)
{
	const size_t count = session->arguments.count ? count_records(session) : 0;

	return count || session->arguments.mark_every ? HEADER_ENTRIES + count * SITE_ENTRIES : 0;
}

static int by_address(const void *left, const void *right)
{
	const struct litifut_argument_site *a = left;
	const struct litifut_argument_site *b = right;

	return a->address < b->address ? -1 : a->address > b->address;
}

enum litifut_status litifut_site_arguments_write(const struct litifut_session *session,
						 const struct litifut_rewrite_options *options,
						 uint8_t *bytes, size_t entries,
						 struct litifut_error *error)
{
	const bool big_endian = session->image.file.big_endian;
	const size_t needed = litifut_site_arguments_entries(session);
	struct litifut_argument_site *records;
	size_t count = 0;

	if (!needed)
		return LITIFUT_OK;
	if (needed > entries)
		return litifut_error_set(error, LITIFUT_ERROR_SPACE, session->image.path,
					 LITIFUT_SECTION_DB, LITIFUT_NO_ADDRESS,
					 "room for %zu more entries is not enough", entries);
	records = litifut_memory_array(needed, sizeof(*records));
	if (!records)
		return litifut_error_memory(error, session->image.path);
	for (size_t i = 0; i < session->sites.count; i++) {
		const struct litifut_found_site *site = &session->sites.items[i];
		const struct litifut_argument_set *set =
			site->arguments ? &session->arguments.items[site->arguments - 1] : NULL;

		if (!set || site->site.reason != LITIFUT_SITE_PATCHED)
			continue;
		if (set->of_call[0]) {
			records[count].address = site->site.return_address;
			memcpy(records[count++].fields, set->of_call, sizeof(set->of_call));
		}
		if (set->of_return[0] && site->site.exit) {
			records[count].address = site->site.exit;
			memcpy(records[count++].fields, set->of_return, sizeof(set->of_return));
		}
	}
	qsort(records, count, sizeof(*records), by_address);
	litifut_put32(big_endian, bytes, LITIFUT_ARGUMENT_MAGIC);
	litifut_put32(big_endian, bytes + 4, (uint32_t)count);
	litifut_put32(big_endian, bytes + 8, options->string_bytes);
	litifut_put32(big_endian, bytes + 12, session->arguments.mark_every);
	for (size_t i = 0; i < LITIFUT_TRIGGERS; i++) {
		const struct litifut_trigger *trigger = &options->arguments->triggers[i];
		uint8_t *to = bytes + offsetof(struct litifut_argument_header, triggers) +
			      i * sizeof(*trigger);

		litifut_put32(big_endian, to, trigger->kind);
		litifut_put32(big_endian, to + 4, trigger->call);
		litifut_put32(big_endian, to + 8, trigger->longer[0]);
		litifut_put32(big_endian, to + 12, trigger->longer[1]);
	}
	for (size_t i = 0; i < count; i++) {
		uint8_t *to = bytes + sizeof(struct litifut_argument_header) + i * sizeof(*records);

		litifut_put32(big_endian, to, records[i].address);
		memcpy(to + 4, records[i].fields, sizeof(records[i].fields));
	}
	free(records);
	return LITIFUT_OK;
}
