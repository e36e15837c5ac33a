/* Any bytes as the input of a link, an object or an archive: what litifut-ld reads of it
 * before the linker does. */
#include <string.h>

#include "ldwrap/decision.h"
#include "ldwrap/estimate.h"
#include "ldwrap/shared.h"
#include "ldwrap/thin.h"
#include "tests/fuzz/fuzz_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *path = size > 1 << 20 ? NULL : fuzz_file(data, size);
	char *words[] = {(char *)"ld", (char *)"-o", (char *)"no-such-folder/out",
			 (char *)path, (char *)path, NULL};
	struct text_list libraries = {0};
	struct text_list found = {0};
	struct arguments arguments;
	struct decision decision;

	if (!path)
		return 0;
	arguments_parse(5, words, &arguments);
	decision_make(&arguments, &decision);
	if (decision.rewrite && !decision.firmware) {
		struct litifut_rewrite_plan plan = decision.target;
		struct estimate_result result = estimate_room(&arguments, true, true, &plan);

		free(result.islands.items);
		litifut_rewrite_plan_release(&plan);
	}
	text_list_append(&libraries, "*");
	thin_members(&arguments, &libraries, &found);
	shared_glibc_users(&arguments, &found);
	shared_has_glibc(&arguments);
	text_list_release(&libraries);
	text_list_release(&found);
	arguments_release(&arguments);
	return 0;
}
