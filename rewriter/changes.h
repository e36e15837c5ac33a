/* What becomes of the code of an image: kept beside it until the file is written.
 *
 * Nearly every page of a large program holds a call. To write new instructions into memory
 * would need memory for each of these pages, whose first use costs more than all that is
 * computed. So the image in memory stays as the linker has made it; only where new code
 * goes, in the rooms that were reserved for it, it is written in place. */
#ifndef LITIFUT_REWRITER_CHANGES_H
#define LITIFUT_REWRITER_CHANGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/error.h"
#include "rewriter/arch.h"
#include "rewriter/image.h"

#define LITIFUT_CHANGE_BYTES 8

struct litifut_change {
	uint32_t address;
	uint32_t entry; /* where the new call or branch goes; 0: new code, or more of it */
	uint8_t code[LITIFUT_CHANGE_BYTES];
	uint32_t length : 28;  /* bytes */
	uint32_t state : 3;    /* enum litifut_code_state */
	uint32_t in_place : 1; /* `code` is empty, the new bytes are in the image's memory */
};

struct litifut_changes {
	struct litifut_change *items;
	size_t count;
	size_t capacity;
	bool no_memory; /* something could not be added */
};

/* Makes room for `count` changes, so that the list need not grow. False: no memory. */
bool litifut_changes_reserve(struct litifut_changes *changes, size_t count);

/* The `length` bytes at `address` become `code`; see struct litifut_change for the rest. */
void litifut_changes_add(struct litifut_changes *changes, uint32_t address, const uint8_t *code,
			 uint32_t length, uint32_t entry, enum litifut_code_state state);

/* The `length` bytes at `address` are, or will be, changed in memory. The image lets that
 * happen from here on; the error is that it can't. */
enum litifut_status litifut_changes_add_place(struct litifut_changes *changes,
					      struct litifut_image *image, uint32_t address,
					      uint32_t length, struct litifut_error *error);

/* Sorts the list by address. Two that change the same byte are an error. */
enum litifut_status litifut_changes_sort(struct litifut_changes *changes,
					 const struct litifut_image *image,
					 struct litifut_error *error);

/* Writes a section of the image, with the changes in it, to its place in the file that is
 * open as `descriptor`. The list is sorted. */
enum litifut_status litifut_changes_save(const struct litifut_changes *changes,
					 const struct litifut_image *image,
					 const struct litifut_section *section, int descriptor,
					 struct litifut_error *error);

void litifut_changes_release(struct litifut_changes *changes);

#endif
