/* Any bytes as a firmware: what litifut-ld does with the image of its first link, and with that of
 * the second, in each mode, as the last byte says. An image that was rewritten must be one that
 * info reads. */
#include <litifut/trace_format.h>

#include "rewriter/firmware.h"
#include "tests/fuzz/fuzz_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const unsigned modes[] = {
		LITIFUT_MODE_COUNTS, LITIFUT_MODE_TABLE, LITIFUT_MODE_SPANS, LITIFUT_MODE_STREAM,
		LITIFUT_MODE_PATHS,  LITIFUT_MODE_UNITS, LITIFUT_MODE_TABLE, LITIFUT_MODE_COVERAGE};
	static const char *const units[] = {"*", NULL};
	struct litifut_firmware_options options = {.ring_bytes = 1024, .depth = 16};
	struct litifut_rewrite_summary summary;
	struct litifut_firmware_plan plan;
	struct litifut_module_info info;
	struct litifut_error error;
	const char *path = size && size <= 1 << 20 ? fuzz_file(data, size) : NULL;
	const uint8_t choice = path ? data[size - 1] : 0;
	const unsigned mode = modes[choice & 7];

	if (!path)
		return 0;
	options.common.mode = mode;
	options.common.tail_calls = true;
	options.common.units = units;
	options.times = mode == LITIFUT_MODE_TABLE || mode == LITIFUT_MODE_SPANS;
	options.spans = mode == LITIFUT_MODE_SPANS || mode == LITIFUT_MODE_STREAM;
	options.stream = mode == LITIFUT_MODE_STREAM;
	options.units = mode == LITIFUT_MODE_UNITS;
	options.paths = mode == LITIFUT_MODE_PATHS || options.units;
	options.coverage = mode == LITIFUT_MODE_COVERAGE;
	options.small = choice & 8;
	options.switched = choice & 16;
	options.small |= options.switched;
	options.send_at = choice & 32 ? "tail" : NULL;
	options.main_at = choice & 2 && choice & 8 ? "select" : NULL;
	options.start_at = choice & 64 ? "select" : NULL;
	options.clock = options.times ? "leaf" : NULL;
	options.sample_at = choice & 128 ? "leaf" : NULL;
	if (!litifut_firmware_plan(path, &options, &plan, &error) &&
	    !litifut_firmware_apply(path, &options, &summary, &error)) {
		if (litifut_module_info_read(path, &info, &error))
			abort();
		litifut_module_info_release(&info);
	}
	litifut_firmware_check_memory(path, &error);
	return 0;
}
