#include "ldwrap/chosen_files.h"

#include <stdlib.h>

#include "ldwrap/thin.h"

bool chosen_files_asked(const struct settings *settings)
{
	return settings->exclude_objects.count || settings->exclude_libs.count ||
	       settings->include_objects.count || settings->include_libs.count;
}

void chosen_files_prepare(struct chosen_files *chosen, const struct link_request *request,
			  const char *const *always, size_t always_count)
{
	const struct settings *settings = request->settings;

	for (size_t i = 0; i < always_count; i++)
		text_list_append(&chosen->excluded, always[i]);
	for (size_t i = 0; i < settings->exclude_objects.count; i++)
		text_list_append(&chosen->asked, settings->exclude_objects.items[i]);
	thin_members(request->arguments, &settings->exclude_libs, &chosen->asked);
	for (size_t i = 0; i < settings->include_objects.count; i++)
		text_list_append(&chosen->included, settings->include_objects.items[i]);
	thin_members(request->arguments, &settings->include_libs, &chosen->included);
	for (size_t i = 0; i < chosen->asked.count; i++)
		text_list_append(&chosen->excluded, chosen->asked.items[i]);
}

enum litifut_status chosen_files_read(struct chosen_files *chosen,
				      const struct link_request *request, const char *path,
				      struct litifut_rewrite_options *options,
				      struct litifut_error *error)
{
	const struct settings *settings = request->settings;
	enum litifut_status status;

	map_release(&chosen->map);
	free(chosen->ranges);
	chosen->ranges = NULL;
	status = map_read(path, request->linker->kind->read_map, &chosen->map, error);
	if (status)
		return status;
	chosen->excluded_unused =
		(settings->exclude_objects.count || settings->exclude_libs.count) &&
		!map_has_file(&chosen->map, &chosen->asked, &settings->exclude_libs);
	chosen->included_unused =
		(chosen->included.count || settings->include_libs.count) &&
		!map_has_file(&chosen->map, &chosen->included, &settings->include_libs);
	options->excluded_count = map_excluded_ranges(
		&chosen->map,
		&(struct map_choice){&chosen->excluded, &settings->exclude_libs, &chosen->included,
				     &settings->include_libs},
		&chosen->ranges);
	options->excluded = chosen->ranges;
	return LITIFUT_OK;
}

void chosen_files_release(struct chosen_files *chosen)
{
	map_release(&chosen->map);
	text_list_release(&chosen->excluded);
	text_list_release(&chosen->asked);
	text_list_release(&chosen->included);
	free(chosen->ranges);
}
