/* Any bytes as an image: what litifut-rewrite and `litifut info' do with it, by both engines. An
 * image that was rewritten must be one that info reads. */
#include <litifut/module_format.h>

#include "rewriter/rewriter.h"
#include "tests/fuzz/fuzz_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void rewrite(const uint8_t *data, size_t size, unsigned engine)
{
	static const char *const excluded[] = {"main", NULL};
	struct litifut_rewrite_options options = {
		.tail_calls = true, .engine = engine, .exclude_functions = excluded};
	struct litifut_rewrite_summary summary;
	struct litifut_rewrite_plan plan = {0};
	struct litifut_module_info info;
	struct litifut_error error;
	const char *path = fuzz_file(data, size);

	if (!path)
		return;
	if (!litifut_rewrite_plan(path, &options, &plan, &error))
		litifut_rewrite_plan_release(&plan);
	if (litifut_rewrite_apply(path, &options, &summary, &error))
		return;
	if (litifut_module_info_read(path, &info, &error))
		abort();
	litifut_module_info_release(&info);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size > 1 << 20)
		return 0;
	rewrite(data, size, LITIFUT_ENGINE_DB);
	rewrite(data, size, LITIFUT_ENGINE_THUNK);
	return 0;
}
