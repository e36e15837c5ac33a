/* Any bytes as a text that litifut-ld reads: the map of each linker, a linker script, and
 * LITIFUT_CONFIG. */
#include <string.h>

#include "ldwrap/map.h"
#include "ldwrap/script_inputs.h"
#include "ldwrap/settings.h"
#include "tests/fuzz/fuzz_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void ignore(const char *line)
{
	(void)line;
}

static void read_map(const char *path, map_reader *read)
{
	struct text_list none = {0};
	struct text_list some = {0};
	struct map_choice choice = {&some, &none, &none, &some};
	struct litifut_range *ranges = NULL;
	struct litifut_error error;
	struct map map;
	size_t count;

	if (map_read(path, read, &map, &error))
		return;
	text_list_append_split(&some, "*.o,libc.a");
	count = map_excluded_ranges(&map, &choice, &ranges);
	for (size_t i = 0; i < count; i++)
		if (ranges[i].start >= ranges[i].end || (i && ranges[i].start <= ranges[i - 1].end))
			abort();
	free(ranges);
	text_list_release(&some);
	map_release(&map);
}

static void read_script(const char *path)
{
	struct text_list paths = {0};

	script_inputs_append(path, &paths);
	text_list_release(&paths);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *path = size > 1 << 16 ? NULL : fuzz_file(data, size);
	struct settings settings;

	if (!path)
		return 0;
	read_script(path);
	read_map(path, map_read_gnu);
	read_map(path, map_read_lld);
	read_map(path, map_read_mold);
	if (size > 2000) /* for each line that is wrong it looks for what was meant */
		return 0;
	setenv("LITIFUT", "1", 1);
	setenv("LITIFUT_CONFIG", path, 1);
	settings_read(&settings, ignore);
	settings_release(&settings);
	return 0;
}
