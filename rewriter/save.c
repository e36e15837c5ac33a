/* Only what has changed is written, section by section: the linker has just made the
 * file, and most of it stays. */
#include "rewriter/save.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

static bool is_in(const struct litifut_section *section, const uint8_t *bytes)
{
	return bytes >= section->bytes && bytes < section->bytes + section->size;
}

static bool has_changed(const struct litifut_section *section, const struct litifut_saved *saved)
{
	for (size_t i = 0; i < saved->section_count; i++)
		if (section == saved->sections[i])
			return true;
	for (size_t i = 0; i < saved->changed_count; i++)
		if (is_in(section, saved->changed[i]))
			return true;
	return false;
}

enum litifut_status litifut_save(const struct litifut_image *image,
				 const struct litifut_saved *saved, struct litifut_error *error)
{
	enum litifut_status status = LITIFUT_OK;
	int descriptor = open(image->path, O_WRONLY | O_CLOEXEC);

	if (descriptor < 0)
		return litifut_error_set(error, LITIFUT_ERROR_IO, image->path, NULL,
					 LITIFUT_NO_ADDRESS, "cannot open for writing: %s",
					 strerror(errno));
	for (size_t i = 1; i < image->section_count && !status; i++) {
		const struct litifut_section *section = &image->sections[i];

		if (section->bytes && section->flags & SHF_EXECINSTR)
			status = litifut_changes_save(saved->code, image, section, descriptor,
						      error);
		else if (section->bytes && has_changed(section, saved))
			status = litifut_image_save_section(image, section, descriptor, error);
	}
	if (!status && saved->entry)
		status = litifut_image_save_entry(image, saved->entry, descriptor, error);
	if (!status && saved->build_id)
		status = litifut_image_save_build_id(image, saved->build_id, saved->build_id_bytes,
						     descriptor, error);
	if (!status && saved->blocks)
		status = litifut_blocks_append(image, descriptor, saved->blocks,
					       saved->blocks_bytes, error);
	if (!status)
		status = saved->sites_file
				 ? litifut_sites_write_file(image, saved->sites_file, &saved->sites,
							    error)
				 : litifut_sites_append(image, descriptor, &saved->sites,
							(uint32_t)saved->blocks_bytes, error);
	if (close(descriptor) && !status)
		status = litifut_error_set(error, LITIFUT_ERROR_IO, image->path, NULL,
					   LITIFUT_NO_ADDRESS, "cannot write: %s", strerror(errno));
	return status;
}
