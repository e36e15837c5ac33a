/* Which C library will be there at run time? An executable names its dynamic
 * linker, a library the libraries that it needs. */
#include "rewriter/libc.h"

#include <elf.h>
#include <string.h>

#include "platform/platform.h"

static bool defines(const struct litifut_image *image, const char *name)
{
	const struct litifut_symbol *symbol = litifut_image_symbol(image, name);

	return symbol && symbol->section && symbol->section < image->section_count;
}

bool litifut_libc_is_static_glibc(const struct litifut_image *image)
{
	return !image->has_interpreter && defines(image, platform_linux_glibc.static_function);
}

uint32_t litifut_libc_register_atfork(const struct litifut_image *image)
{
	const struct litifut_symbol *symbol =
		litifut_image_symbol(image, platform_linux_glibc.registers_fork_handlers);

	return symbol && symbol->section ? symbol->address | symbol->thumb : 0;
}

/* Does the library need glibc, as the process then will? */
static bool brings_glibc(const struct litifut_image *image, const char *name, size_t length)
{
	if (platform_has_file(&platform_linux_glibc, name, length))
		return true;
	for (const char *const *user = image->glibc_users; user && *user; user++)
		if (strlen(*user) < length && !strcmp(*user, name))
			return true;
	return false;
}

static bool needs_glibc(const struct litifut_image *image)
{
	const struct litifut_section *dynamic = litifut_image_section(image, ".dynamic");
	const struct litifut_section *strings = litifut_image_section(image, ".dynstr");

	if (!dynamic || !dynamic->bytes || !strings || !strings->bytes)
		return false;
	for (uint32_t at = 0; at + 8 <= dynamic->size; at += 8) {
		uint32_t tag = litifut_get32(image->file.big_endian, dynamic->bytes + at);
		uint32_t value = litifut_get32(image->file.big_endian, dynamic->bytes + at + 4);

		if (tag == DT_NULL)
			break;
		if (tag == DT_NEEDED && value < strings->size &&
		    brings_glibc(image, (const char *)strings->bytes + value,
				 strings->size - value))
			return true;
	}
	return false;
}

const char *litifut_libc_lacks_spare_word(const struct litifut_image *image)
{
	const struct litifut_section *interpreter = litifut_image_section(image, ".interp");

	if (image->has_interpreter)
		return interpreter && interpreter->bytes &&
				       platform_has_file(&platform_linux_glibc,
							 (const char *)interpreter->bytes,
							 interpreter->size)
			       ? NULL
			       : "its dynamic linker is not glibc's";
	if (litifut_libc_is_static_glibc(image)) /* before 2.28, fork() can be without it */
		return defines(image, platform_linux_glibc.registers_fork_handlers) ||
				       !defines(image, platform_linux_glibc.forks)
			       ? NULL
			       : "its glibc has no hooks for fork that the tracer can use";
	if (!litifut_image_section(image, ".dynamic"))
		return "it is static, and has no glibc";
	return image->links_glibc || needs_glibc(image)
		       ? NULL
		       : "no library that it needs is known to need glibc: link it with "
			 "-Wl,--no-as-needed -lc";
}

/* A linker defines the symbol where an object refers to it. */
const char *litifut_libc_lacks_constructors(const struct litifut_image *image)
{
	return image->has_interpreter || litifut_image_section(image, ".dynamic") ||
			       litifut_image_symbol(image, "__init_array_start")
		       ? NULL
		       : "it is static, and nothing in it runs constructors, as a libc does";
}

bool litifut_libc_must_keep(const struct litifut_image *image, const char *function)
{
	return strcmp(function, platform_linux.early_child) == 0 &&
	       !litifut_libc_is_static_glibc(image) &&
	       !defines(image, platform_linux.no_early_child) &&
	       litifut_libc_lacks_spare_word(image);
}
