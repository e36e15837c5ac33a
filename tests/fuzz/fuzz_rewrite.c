/* Any bytes as an image: what litifut-rewrite, litifut-ld and `litifut info' do with it, in each
 * mode and by both engines, as the last byte says. An image that was rewritten must be one that
 * info reads. */
#include <litifut/module_format.h>
#include <litifut/trace_format.h>

#include "rewriter/rewriter.h"
#include "tests/fuzz/fuzz_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void ignore(const char *line)
{
	(void)line;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const unsigned modes[] = {
		LITIFUT_MODE_CALLS,    LITIFUT_MODE_SPANS, LITIFUT_MODE_TABLE, LITIFUT_MODE_COUNTS,
		LITIFUT_MODE_COVERAGE, LITIFUT_MODE_PATHS, LITIFUT_MODE_UNITS, LITIFUT_MODE_CALLS};
	static const char *const excluded[] = {"main", NULL};
	static const char *const units[] = {"*", NULL};
	struct litifut_argument_specs specs = {0};
	struct litifut_rewrite_options options = {.exclude_functions = excluded, .units = units};
	struct litifut_rewrite_summary summary;
	struct litifut_rewrite_plan plan = {0};
	struct litifut_module_info info;
	struct litifut_error error;
	const char *path = size && size <= 1 << 20 ? fuzz_file(data, size) : NULL;
	const uint8_t choice = path ? data[size - 1] : 0;

	if (!path)
		return 0;
	options.mode = modes[choice & 7];
	options.engine = choice & 8 ? LITIFUT_ENGINE_DB : LITIFUT_ENGINE_THUNK;
	options.tail_calls = !(choice & 16);
	options.clock = choice & 32 ? LITIFUT_CLOCK_CYCLE : LITIFUT_CLOCK_NONE;
	options.all_in_reach = choice & 64;
	if (choice & 128) {
		litifut_argument_specs_read("leaf:i0,s1;*:r", &specs, ignore);
		options.arguments = &specs;
		options.string_bytes = LITIFUT_ARGUMENT_BYTES_MAX;
	}
	if (!litifut_rewrite_plan(path, &options, &plan, &error))
		litifut_rewrite_plan_release(&plan);
	if (!litifut_rewrite_apply(path, &options, &summary, &error)) {
		if (litifut_module_info_read(path, &info, &error))
			abort();
		litifut_module_info_release(&info);
	}
	litifut_argument_specs_release(&specs);
	return 0;
}
