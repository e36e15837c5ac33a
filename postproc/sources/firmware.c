#include "postproc/sources/firmware.h"

#include <elf.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>

#include <litifut/frames_format.h>

#include "postproc/sources/capture.h"
#include "postproc/sources/firmware_kind.h"
#include "postproc/sources/image_private.h"
#include "postproc/sources/input_bytes.h"
#include "postproc/table.h"

static uint32_t word_at(const uint8_t *bytes)
{
	return bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 |
	       (uint32_t)bytes[3] << 24;
}

/* The address and size of an object by its name. False: there is none. */
static bool find_object(const struct post_image *image, const char *name, uint32_t *address,
			uint32_t *size)
{
	Elf_Scn *section = NULL;

	while ((section = elf_nextscn(image->elf, section))) {
		GElf_Shdr header;
		GElf_Sym symbol;
		Elf_Data *data;

		if (!gelf_getshdr(section, &header) || header.sh_type != SHT_SYMTAB)
			continue;
		data = elf_getdata(section, NULL);
		for (int i = 1; data && gelf_getsym(data, i, &symbol); i++) {
			const char *text = elf_strptr(image->elf, header.sh_link, symbol.st_name);

			if (!text || strcmp(text, name))
				continue;
			*address = (uint32_t)symbol.st_value;
			*size = (uint32_t)symbol.st_size;
			return true;
		}
	}
	return false;
}

static bool has_identity(const struct post_image *image, uint8_t *bytes, uint32_t *address)
{
	uint32_t size;

	return find_object(image, "litifut_identity", address, &size) &&
	       post_image_bytes(image, *address, bytes, sizeof(struct litifut_identity)) &&
	       word_at(bytes) == LITIFUT_IDENTITY_MAGIC;
}

/* Of the ELF files that were given, the one that has this hash. */
static enum litifut_status find_image(const char *path, const struct post_inputs *inputs,
				      const uint8_t *hash, struct post_image **found,
				      struct litifut_error *error)
{
	const char *other = NULL;

	for (size_t i = 0; i < inputs->image_count; i++) {
		uint8_t identity[sizeof(struct litifut_identity)];
		uint32_t address;
		struct post_image *image;

		if (post_image_open(inputs->images[i].path, &image, error))
			continue;
		if (has_identity(image, identity, &address)) {
			other = inputs->images[i].path;
			if (!memcmp(identity + offsetof(struct litifut_identity, hash), hash, 8)) {
				*found = image;
				return post_image_load(image, NULL, error);
			}
		}
		post_image_close(image);
	}
	if (other)
		return litifut_error_set(error, LITIFUT_ERROR_MISSING, path, NULL,
					 LITIFUT_NO_ADDRESS, "sent by another build than %s",
					 other);
	return litifut_error_set(error, LITIFUT_ERROR_MISSING, path, NULL, LITIFUT_NO_ADDRESS,
				 "the traced ELF file of the firmware, with its symbols, is "
				 "needed beside it");
}

/* Copies little-endian words from a dump that begins at `base`. False: they are not in it. */
static bool copy_words(const uint8_t *dump, size_t size, uint32_t base, uint32_t address,
		       uint32_t bytes, uint32_t **words, size_t *count)
{
	uint32_t at = address - base;

	if (at > size || bytes > size - at)
		return false;
	*count = bytes / 4;
	*words = post_allocate(*count + 1, sizeof(**words));
	for (size_t i = 0; i < *count; i++)
		(*words)[i] = word_at(dump + at + 4 * i);
	return true;
}

static void copy_bins(const uint8_t *dump, size_t size, uint32_t at, uint32_t count,
		      struct post_capture *capture)
{
	if (at > size || 2 * (size_t)count > size - at)
		return;
	capture->bins = post_allocate(count + 1, sizeof(*capture->bins));
	capture->bin_count = count;
	for (uint32_t i = 0; i < count; i++)
		capture->bins[i] = dump[at + 2 * i] | (uint32_t)dump[at + 2 * i + 1] << 8;
}

/* The place of the identity in the dump says which addresses the dump has. */
static enum litifut_status read_dump(const char *path, const uint8_t *dump, size_t size,
				     const struct post_inputs *inputs, struct post_image **image,
				     struct post_capture *capture, struct litifut_error *error)
{
	enum litifut_status status = LITIFUT_ERROR_MISSING;
	size_t at = post_find_identity(dump, size, 0);
	uint8_t identity[sizeof(struct litifut_identity)];
	uint32_t base, address, bytes;

	/* The first one may be the copy in the flash. */
	for (; at < size; at = post_find_identity(dump, size, at + 4)) {
		const uint8_t *hash = dump + at + offsetof(struct litifut_identity, hash);

		if (!*image) {
			status = find_image(path, inputs, hash, image, error);
			if (status)
				continue;
		}
		has_identity(*image, identity, &base);
		base -= (uint32_t)at;
		memcpy(capture->hash, hash, sizeof(capture->hash));
		if (!find_object(*image, "litifut_table", &address, &bytes) ||
		    !copy_words(dump, size, base, address, bytes, &capture->words,
				&capture->word_count)) {
			status = litifut_error_set(error, LITIFUT_ERROR_MISSING, path, NULL,
						   LITIFUT_NO_ADDRESS,
						   "the dump does not reach over litifut_table");
			continue;
		}
		if (find_object(*image, "litifut_overflow", &address, &bytes))
			copy_words(dump, size, base, address, bytes, &capture->overflow,
				   &capture->overflow_count);
		if (find_object(*image, "litifut_profile", &address, &bytes) && bytes)
			copy_bins(dump, size, address - base, bytes / 2, capture);
		return LITIFUT_OK;
	}
	return status;
}

static bool is_pointer(const struct litifut_site *site)
{
	return site->kind == LITIFUT_SITE_INDIRECT || site->kind == LITIFUT_SITE_TAIL_INDIRECT;
}

static void add_counted(struct post_trace *trace, const struct litifut_site *site, uint32_t callee,
			uint32_t count)
{
	bool tail =
		site->kind == LITIFUT_SITE_TAIL_DIRECT || site->kind == LITIFUT_SITE_TAIL_INDIRECT;

	if (!count)
		return;
	POST_GROW(trace->counted, trace->counted_count, trace->counted_capacity);
	trace->counted[trace->counted_count++] = (struct post_counted){
		.kind = tail     ? LITIFUT_WORD_TAIL
			: callee ? LITIFUT_WORD_INDIRECT
				 : LITIFUT_WORD_CALL,
		.return_address = site->return_address,
		.callee = callee ? callee
			  : tail ? site->callee
				 : 0,
		.count = count,
	};
}

static int by_address(const void *left, const void *right)
{
	const struct litifut_site *a = left;
	const struct litifut_site *b = right;

	return a->address < b->address ? -1 : a->address > b->address;
}

/* Goes through the sites in the order of the table. */
static enum litifut_status count_sites(const char *path, const struct post_image *image,
				       const struct post_capture *capture, struct post_trace *trace,
				       struct post_problems *problems, struct litifut_error *error)
{
	struct litifut_site *sites = post_allocate(image->site_count + 1, sizeof(*sites));
	const size_t overflow_bytes = LITIFUT_RECORD_COUNT + LITIFUT_OVERFLOW_EXTRA;
	uint32_t unnamed = 0;
	size_t word = 0;

	memcpy(sites, image->sites, image->site_count * sizeof(*sites));
	qsort(sites, image->site_count, sizeof(*sites), by_address);
	for (size_t i = 0; i < image->site_count; i++) {
		size_t words =
			LITIFUT_RECORD_COUNT + (is_pointer(&sites[i]) ? LITIFUT_POINTER_EXTRA : 0);

		if (sites[i].reason != LITIFUT_SITE_PATCHED)
			continue;
		if (word + words > capture->word_count) {
			free(sites);
			return litifut_error_set(error, LITIFUT_ERROR_FORMAT, path, NULL,
						 LITIFUT_NO_ADDRESS,
						 "has %zu numbers, and the call sites of %s need "
						 "more",
						 capture->word_count, image->path);
		}
		if (words == 1) {
			add_counted(trace, &sites[i], 0, capture->words[word]);
		} else {
			add_counted(trace, &sites[i], capture->words[word + 1],
				    capture->words[word]);
			unnamed += capture->words[word + 2];
			for (size_t at = 0; at + overflow_bytes <= capture->overflow_count;
			     at += overflow_bytes)
				if (capture->overflow[at] == word + 1)
					add_counted(trace, &sites[i], capture->overflow[at + 1],
						    capture->overflow[at + 2]);
		}
		word += words;
	}
	free(sites);
	trace->header.lost_events = unnamed;
	if (unnamed)
		post_problem_at(problems, path, LITIFUT_NO_ADDRESS,
				"%u calls through pointers found no place in the overflow table; "
				"their callees are not known",
				unnamed);
	return LITIFUT_OK;
}

static bool read_number(const struct post_image *image, const char *name, uint32_t *number)
{
	uint8_t bytes[4];
	uint32_t address, size;

	if (!find_object(image, name, &address, &size) ||
	    !post_image_bytes(image, address, bytes, sizeof(bytes)))
		return false;
	*number = word_at(bytes);
	return true;
}

/* Where the bins are is in the code that counts them. */
static void take_profile(struct post_trace *trace, const struct post_image *image,
			 struct post_capture *capture)
{
	uint32_t low, shift;

	if (!capture->bin_count || !read_number(image, "litifut_sample_low", &low) ||
	    !read_number(image, "litifut_sample_shift", &shift) || shift > 31)
		return;
	trace->profile.bins = capture->bins;
	trace->profile.count = capture->bin_count;
	trace->profile.low = low;
	trace->profile.bytes = 1u << shift;
	capture->bins = NULL;
}

static struct post_trace *make_trace(const char *path, const struct post_image *image)
{
	struct post_trace *trace = post_allocate(1, sizeof(*trace));
	struct litifut_module_record *record;

	trace->path = post_copy_text(path);
	trace->header.machine = image->cpu->machine;
	trace->header.state = LITIFUT_TRACE_STOPPED;
	POST_GROW(trace->modules, trace->module_count, trace->module_capacity);
	trace->modules[trace->module_count++] =
		(struct post_module_record){.end_epoch = UINT32_MAX};
	record = &trace->modules[0].record;
	record->serial = 1;
	record->text_end = UINT32_MAX; /* code can be anywhere: nothing else is there */
	record->build_id_bytes = image->build_id_bytes;
	memcpy(record->build_id, image->build_id, sizeof(record->build_id));
	strncpy(record->name, post_base_name(image->path), sizeof(record->name) - 1);
	memcpy(trace->header.program, record->name, sizeof(trace->header.program));
	return trace;
}

enum litifut_status post_firmware_open(const char *path, const struct post_inputs *inputs,
				       struct post_trace **trace, struct post_problems *problems,
				       struct litifut_error *error)
{
	struct post_capture capture = {0};
	struct post_image *image = NULL;
	uint8_t *data;
	size_t size;
	enum litifut_status status = post_input_map(path, &data, &size, problems, error);

	*trace = NULL;
	if (status)
		return status;
	if (post_capture_is(data, size)) {
		status = post_capture_read(path, data, size, &capture, problems, error);
		if (!status)
			status = find_image(path, inputs, capture.hash, &image, error);
	} else {
		status = read_dump(path, data, size, inputs, &image, &capture, error);
	}
	if (!status) {
		*trace = make_trace(path, image);
		take_profile(*trace, image, &capture);
		status = count_sites(path, image, &capture, *trace, problems, error);
	}
	if (status) {
		post_trace_close(*trace);
		*trace = NULL;
	}
	if (image)
		post_image_close(image);
	post_capture_release(&capture);
	post_input_unmap(data, size);
	return status;
}
