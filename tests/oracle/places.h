/* Places in the guest's code that do not depend on where it was loaded: a file
 * and an offset in it. */
#ifndef LITIFUT_TESTS_ORACLE_PLACES_H
#define LITIFUT_TESTS_ORACLE_PLACES_H

#include <stdbool.h>
#include <stdint.h>

struct oracle_place {
	uint32_t number;  /* 1, 2, 3 ... in order of appearance */
	uint32_t address; /* guest address when last translated */
	uint64_t offset;  /* in the file `path`, or the guest address when that is "-" */
	const char *path;
	bool through; /* inside one of the ranges of oracle_places_read_ranges() */
	bool plain;   /* a branch into these ranges that is not a call */
	/* of a branch into these ranges in the place of a call: how far behind it, modulo 2^32,
	 * that call returns to; 0 when it is none */
	uint32_t moved_return;
	/* of the call at this place; 0 when it is none */
	uint32_t target;
	uint32_t return_address;
	/* last instruction of the block that begins here (MIPS: its branch) */
	const struct oracle_place *branch;
	uint32_t bytes; /* of the block that begins here, when blocks are logged */
	bool slot_only; /* MIPS: the block is nothing but a delay slot */
};

/* Reads "START END PATH" lines (hex file offsets): code that is not the callee
 * of anything, such as the tracer's; with "plain " before it, code in
 * which a branch into the other ranges is not a call; "moved BRANCH RETURN PATH": a branch of four
 * bytes into the other ranges that stands in the place of a call, which returns to RETURN.
 * Returns false after a message on stderr. */
bool oracle_places_read_ranges(const char *path);

/* The place at guest address `address`, which QEMU holds at `host`; the same
 * pointer for the same place, never freed. NULL only without memory. */
struct oracle_place *oracle_place_at(uint32_t address, const void *host);

/* The guest has mapped or unmapped something. */
void oracle_places_mappings_changed(void);

/* Where new places are written as they appear: "NUMBER ADDRESS OFFSET PATH".
 * Writes those that are known already. */
bool oracle_places_open_log(const char *path);

#endif
