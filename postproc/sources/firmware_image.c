#include "postproc/sources/firmware_image.h"

#include <gelf.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <litifut/frames_format.h>
#include <litifut/module_format.h>

#include "common/hex.h"

bool post_firmware_object(const struct post_image *image, const char *name, uint32_t *address,
			  uint32_t *size)
{
	Elf_Scn *section = NULL;

	while ((section = elf_nextscn(image->file.elf, section))) {
		GElf_Shdr header;
		GElf_Sym symbol;
		Elf_Data *data;

		if (!gelf_getshdr(section, &header) || header.sh_type != SHT_SYMTAB)
			continue;
		data = elf_getdata(section, NULL);
		for (int i = 1; data && gelf_getsym(data, i, &symbol); i++) {
			const char *text =
				elf_strptr(image->file.elf, header.sh_link, symbol.st_name);

			/* a weak reference to what is not there has a name, too */
			if (!text || strcmp(text, name) || symbol.st_shndx == SHN_UNDEF)
				continue;
			*address = (uint32_t)symbol.st_value;
			*size = (uint32_t)symbol.st_size;
			return true;
		}
	}
	return false;
}

bool post_firmware_identity(const struct post_image *image, uint8_t *bytes, uint32_t *address)
{
	uint32_t size;

	return post_firmware_object(image, "litifut_identity", address, &size) &&
	       post_image_bytes(image, *address, bytes, sizeof(struct litifut_identity)) &&
	       post_firmware_word(bytes) == LITIFUT_IDENTITY_MAGIC;
}

bool post_firmware_header(const struct post_image *image, uint8_t *bytes)
{
	uint32_t address, size;

	return post_firmware_object(image, "litifut_header", &address, &size) &&
	       post_image_bytes(image, address, bytes, LITIFUT_HEADER_BYTES);
}

/* Which of several has run is in no frame. */
static bool is_alone(const struct post_inputs *inputs, size_t image)
{
	for (size_t i = 0; i < inputs->image_count; i++)
		if (i != image && inputs->images[i].firmware)
			return false;
	return true;
}

/* A link with -s leaves the file with the symbols beside the other one. */
static enum litifut_status open_with_symbols(const char *path, struct post_image **image,
					     struct litifut_error *error)
{
	enum litifut_status status = post_image_open(path, image, error);
	struct post_image *named;
	GElf_Shdr header;
	char beside[4096];

	if (status || elf_file_section(&(*image)->file, ".symtab", &header))
		return status;
	snprintf(beside, sizeof(beside), "%s%s", path, LITIFUT_NAMES_SUFFIX);
	if (!access(beside, R_OK) && !post_image_open(beside, &named, error)) {
		post_image_close(*image);
		*image = named;
	}
	return LITIFUT_OK;
}

enum litifut_status post_firmware_image(const char *path, const struct post_inputs *inputs,
					const uint8_t *hash, struct post_image **found,
					struct litifut_error *error)
{
	const char *other = NULL, *plain = NULL;
	char sent[17], others[17];

	for (size_t i = 0; i < inputs->image_count; i++) {
		uint8_t identity[sizeof(struct litifut_identity)];
		uint32_t address;
		struct post_image *image;

		if (!inputs->images[i].rewritten)
			plain = inputs->images[i].path;
		if (open_with_symbols(inputs->images[i].path, &image, error))
			continue;
		if (post_firmware_identity(image, identity, &address)) {
			other = inputs->images[i].path;
			litifut_hex(identity + offsetof(struct litifut_identity, hash), 8, others);
			if (hash ? !memcmp(identity + offsetof(struct litifut_identity, hash), hash,
					   8)
				 : is_alone(inputs, i)) {
				*found = image;
				return post_image_load(image, NULL, error);
			}
		}
		post_image_close(image);
	}
	if (other && !hash)
		return litifut_error_set(
			error, LITIFUT_ERROR_MISSING, path, NULL, LITIFUT_NO_ADDRESS,
			"the frame that names the build is missing or damaged, and "
			"with it which of the ELF files has run: give that one alone");
	if (other)
		return litifut_error_set(error, LITIFUT_ERROR_MISSING, path, NULL,
					 LITIFUT_NO_ADDRESS,
					 "sent by another build than %s, identity %s in place of "
					 "%s: give the ELF file of the program that has run",
					 other, litifut_hex(hash, 8, sent), others);
	return litifut_error_set(error, LITIFUT_ERROR_MISSING, path, NULL, LITIFUT_NO_ADDRESS,
				 "the traced ELF file of the firmware, with its symbols, is "
				 "needed beside it%s%s%s",
				 plain ? "; " : "", plain ? plain : "",
				 plain ? " was not linked with LITIFUT" : "");
}
