/* Which function of a firmware did a setting mean that names none? */
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
