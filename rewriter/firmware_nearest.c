/* What did a setting mean that should name a function of a firmware, and names none? */
#include <stdlib.h>

#include "common/nearest.h"
#include "rewriter/firmware_cpu.h"
#include "rewriter/firmware_pass.h"

const char *litifut_firmware_nearest(const struct litifut_firmware_pass *pass, const char *name,
				     const char *const *others)
{
	const struct litifut_image *image = &pass->image;
	const char **names = NULL;
	const char *nearest;
	size_t count = 0;

	for (; others && others[count]; count++)
		;
	names = calloc(image->function_count + count + 1, sizeof(*names));
	if (!names) /* the line is right without it */
		return NULL;
	for (size_t i = 0; i < count; i++)
		names[i] = others[i];
	for (size_t i = 0; i < image->function_count; i++) {
		const struct litifut_symbol *function = &image->symbols[image->functions[i]];

		if (!function->own && *function->name)
			names[count++] = function->name;
	}
	nearest = litifut_name_nearest(name, names);
	free(names);
	return nearest;
}

enum litifut_status litifut_firmware_no_clock(const struct litifut_firmware_pass *pass,
					      const char *clock, struct litifut_error *error)
{
	static const char *const clocks[] = {"dwt", "systick", NULL};
	const char *nearest = litifut_firmware_nearest(pass, clock, clocks);

	return litifut_error_set(
		error, LITIFUT_ERROR_UNSUPPORTED, pass->image.path, NULL, LITIFUT_NO_ADDRESS,
		"LITIFUT_CLOCK: neither dwt, systick nor a function of the program: %s%s%s%s",
		clock, nearest ? "; did you mean " : "", nearest ? nearest : "",
		nearest ? "?" : "");
}
