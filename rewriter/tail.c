/* Which branches are calls that end a function, "tail calls"? The compiler
 * turns `return f(x)` into a plain branch, so nothing but the place that it
 * leads to distinguishes it from a loop or an `else`. */
#include "rewriter/tail.h"

#include <string.h>

#include "rewriter/program_code.h"

/* "f.cold", "f.cold.3" (several when `f` itself was cloned) belong to "f". */
static bool is_cold_part(const char *part, const char *whole)
{
	size_t length = strlen(whole);

	if (strncmp(part, whole, length) != 0 || strncmp(part + length, ".cold", 5) != 0)
		return false;
	part += length + 5;
	return part[strspn(part, ".0123456789")] == '\0';
}

bool litifut_tail_is_direct(const struct litifut_image *image, const struct litifut_arch *arch,
			    const struct litifut_symbol *function,
			    struct litifut_instruction *branch)
{
	uint32_t target = branch->target;
	const struct litifut_symbol *callee;
	const struct litifut_section *section;

	if (!function || (target & ~1u) - function->address < function->size)
		return false;
	callee = litifut_image_function_start(image, target & ~1u);
	if (callee && !*callee->name && LITIFUT_ARCH_GET(arch, flow, behind_stub)) {
		target = arch->flow->behind_stub(image, branch);
		if (!target || (target & ~1u) - function->address < function->size)
			return false;
		callee = litifut_image_function_start(image, target & ~1u);
	}
	if (!callee) {
		section = litifut_image_section_at(image, target & ~1u, 2);
		return section && litifut_section_is_linkage(section);
	}
	/* Symbols of mold's veneers do not tell T32 code. */
	return (callee->thumb == (target & 1) || cpu_is_veneer(arch->cpu, callee->name)) &&
	       !is_cold_part(callee->name, function->name) &&
	       !is_cold_part(function->name, callee->name);
}
