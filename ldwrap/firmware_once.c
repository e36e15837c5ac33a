/* The two links of a firmware, once: as it is, to see which calls it has, and with the room for
 * their stubs and counters. */
#include <litifut/kept_format.h>
#include <string.h>

#include "ldwrap/firmware_link.h"
#include "ldwrap/process.h"
#include "ldwrap/run_linker.h"

/* Sections of the ELF file that are not loaded: no script has a place for them. Those of the
 * program have been judged in the first link. */
static void keep_orphans(const struct arguments *arguments, struct text_list *words)
{
	const struct argument *orphans = arguments_last(arguments, ARGUMENT_ORPHANS);

	if (orphans && (!strcmp(orphans->value, "error") || !strcmp(orphans->value, "warn")))
		text_list_append(words, "--orphan-handling=place");
}

enum litifut_status firmware_run(struct firmware_link *link, bool ours, struct litifut_error *error)
{
	static const struct text_list no_roots;
	struct insertion insertions[FIRMWARE_INSERTIONS_MOST];
	struct exports exports = {0};
	struct command command = {
		.map = link->files.map,
		.insertions = insertions,
		.roots = &no_roots,
		.exports = &exports,
		.drops_relaxation = link->objects->firmware_relaxes,
	};
	enum linker_result result;
	enum litifut_status status;

	text_list_append_all(&exports.words, link->objects->firmware_options);
	/* Weak references are not in the image, but in this table of the map. */
	if (!ours)
		text_list_append(&exports.words, "--cref");
	if (ours) {
		command.insertion_count = firmware_add_ours(link, insertions, &exports.words);
		keep_orphans(link->request->arguments, &exports.words);
	}
	result = run_linker(link->request, &link->files, &command, error);
	text_list_release(&exports.words);
	if (result == LINKER_UNDEFINED)
		firmware_port_explain(&link->port, error);
	/* the script may report what does not fit by an ASSERT */
	link->overflows = result == LINKER_OVERFLOW || (ours && result == LINKER_FAILED);
	if (!ours && !result)
		firmware_asks_read(link->files.map, &link->asks);
	if (result)
		return error->status;
	map_release(&link->map);
	status =
		map_read(link->files.map, link->request->linker->kind->read_map, &link->map, error);
	if (status)
		return status;
	return chosen_files_asked(link->request->settings)
		       ? chosen_files_read(&link->chosen, link->request, link->files.map,
					   &link->options.common, error)
		       : LITIFUT_OK;
}

/* The second link, with stubs of the kind that the options name. */
static enum litifut_status link_traced(struct firmware_link *link,
				       struct litifut_rewrite_summary *summary,
				       struct litifut_error *error)
{
	enum litifut_status status;

	link->overflows = false;
	link->plan.header = firmware_sends(link);
	status = litifut_firmware_write_object(&link->plan, link->object, error);
	if (!status)
		status = firmware_run(link, true, error);
	if (!status) {
		status = litifut_firmware_check_memory(link->files.image, error);
		if (!status)
			status = firmware_bounds_check(&link->bounds, link->files.image, error);
		link->overflows = status != LITIFUT_OK;
	}
	link->options.byte_counters = (uint32_t)link->plan.byte_counters;
	if (!status)
		status = litifut_firmware_apply(link->files.image, &link->options, summary, error);
	return status;
}

/* Where the sections named .text are: one of exactly this name, or else the last of those that
 * begin so. */
static uint32_t code_address(const struct map *map)
{
	uint32_t address = 0;

	for (size_t i = 0; i < map->count; i++) {
		if (map->pieces[i].text)
			address = map->pieces[i].address;
		if (map->pieces[i].text && !strcmp(map->pieces[i].text, ".text"))
			break;
	}
	return address;
}

/* The name of the input section at this address; NULL: there is none that can be used. */
static const char *section_at(const struct map *map, uint32_t address)
{
	for (size_t i = 0; i < map->count; i++)
		if (address - map->pieces[i].address < map->pieces[i].size)
			return strlen(map->pieces[i].section) > LITIFUT_FIRMWARE_SECTION_NAME_MOST
				       ? NULL
				       : map->pieces[i].section;
	return NULL;
}

static const char *stubs_name(const struct firmware_link *link)
{
	return link->options.small ? "small" : link->options.bytes ? "byte" : "fast";
}

static enum litifut_status measure(struct firmware_link *link, struct litifut_error *error)
{
	enum litifut_status status;

	link->options.bytes = link->bytes && !link->options.times && !link->options.spans &&
			      !link->options.paths && !link->options.coverage;
	link->options.code_at = code_address(&link->map);
	link->options.byte_counters = 0;
	link->options.tokens = link->options.units && link->asks.tokens;
	link->options.numbers |= link->options.tokens;
	status = litifut_firmware_plan(link->files.image, &link->options, &link->plan, error);
	for (unsigned i = 0; i < link->plan.far_count; i++)
		link->plan.far[i].section = section_at(&link->map, link->plan.far[i].site);
	if (!status && (link->options.times || link->options.spans) && link->plan.untimed) {
		link->times_refused = link->plan.untimed;
		link->options.times = link->options.spans = link->kept.used = false;
		link->options.stream = link->options.kept = false;
		link->options.tasks = false;
		return measure(link, error);
	}
	if (!status && link->plan.can_switch && !link->options.switched &&
	    (link->asks.switches || link->options.start_at)) {
		link->options.switched = true;
		link->options.small |= !link->plan.switches_fast;
		return measure(link, error);
	}
	link->options.small |= link->plan.small_times;
	link->options.tasks = !status && link->plan.task;
	if (!status && link->kept.used) {
		status = firmware_kept_place(&link->kept, link->files.map, link->plan.bss,
					     KEPT_BYTES + 4 * link->plan.table_words, error);
		link->options.kept_at = link->kept.address;
	}
	if (!status)
		say_verbose(link->request,
			    "%zu call sites, %zu bytes of %s stubs, %zu bytes of counters",
			    link->plan.sites, link->plan.stub_bytes, stubs_name(link),
			    4 * link->plan.table_words);
	return status;
}

/* What is linked in can bring more of the program with it, which a second plan has seen; what then
 * makes room for a call may have moved. */
#define FURTHER_PLANS 3

enum litifut_status firmware_link_planned(struct firmware_link *link,
					  struct litifut_rewrite_summary *summary,
					  struct litifut_error *error)
{
	enum litifut_status status = measure(link, error);

	if (!status)
		status = link_traced(link, summary, error);
	for (unsigned i = 0; i < FURTHER_PLANS && status == LITIFUT_ERROR_SPACE; i++) {
		say_verbose(link->request, "link again: %s", error->message);
		status = measure(link, error);
		if (!status)
			status = link_traced(link, summary, error);
	}
	return status;
}

/* The failed link has left no image to measure. */
enum litifut_status firmware_link_again(struct firmware_link *link, const char *how,
					struct litifut_rewrite_summary *summary,
					struct litifut_error *error)
{
	say_verbose(link->request, "link again with %s: %s", how, error->message);
	enum litifut_status status = firmware_run(link, false, error);

	return status ? status : firmware_link_planned(link, summary, error);
}
