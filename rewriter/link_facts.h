/* What the linker wrapper asks of a CPU when there are only object files and a
 * command line: one const table for each CPU, part of struct litifut_arch. */
#ifndef LITIFUT_REWRITER_LINK_FACTS_H
#define LITIFUT_REWRITER_LINK_FACTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What looks like a call in the code of object files. */
struct litifut_census {
	size_t direct;   /* calls with the callee in the instruction */
	size_t indirect; /* calls through a register */
	size_t cramped;  /* those of them that no branch can replace in place */
	size_t tails;    /* jumps through a register other than the link register */
};

enum litifut_relocation {
	LITIFUT_RELOCATION_OTHER,
	LITIFUT_RELOCATION_CALL,     /* of a direct call */
	LITIFUT_RELOCATION_JUMP,     /* of a jump to a name: a tail call */
	LITIFUT_RELOCATION_NEAR_CALL /* the linker can make this indirect call a direct one */
};

/* A value of the linker's option -m. */
struct litifut_emulation {
	const char *name;
	bool supported; /* Linux programs */
	/* Linux programs that can't be done: why, for people; NULL: none of these. */
	const char *refused;
	/* Prefixes under which its linker is usually installed, most likely first;
	 * NULL-terminated. `hinted` holds if a word of the command line contains one
	 * of `hints` (NULL-terminated; NULL: no hints). */
	const char *const *triplets;
	const char *const *hints;
	const char *const *hinted;
};

struct litifut_link_facts {
	/* What it is called for people, with the byte order if there are two. */
	const char *(*describe)(unsigned char data);
	const struct litifut_emulation *emulations; /* ends with a NULL name */

	/* Why objects with this e_flags and EI_DATA can't be done, for people;
	 * static; NULL: they can. */
	const char *(*refuse)(unsigned flags, unsigned char data);
	/* Name of the tracer object for them, "arm" of tracer-arm.o; NULL: none. */
	const char *(*tracer)(unsigned char data);
	/* Bits of e_flags that the tracer object must have as the others do. */
	unsigned shared_flags;

	/* Does this kind of linker (its base name) not take what GNU as writes into .eh_frame of
	 * the tracer objects? */
	bool (*linker_refuses_unwind_table)(const char *name);

	bool gold_is_low; /* it puts programs below LITIFUT_WORD_FIRST_ADDRESS */

	/* Bits that tell the encodings of the code from each other: those which a
	 * local symbol of this name, standing in a section, says to be there. NULL:
	 * there is but one, and it is 1. */
	unsigned (*encoding)(const char *symbol);
	/* Adds what is found in `bytes` (section contents as they are in the file)
	 * in one of these encodings; data among the code may be counted too, and an
	 * error of some per cent is as good as none. */
	void (*census)(const uint8_t *bytes, size_t size, unsigned encodings, bool big_endian,
		       struct litifut_census *census);
	enum litifut_relocation (*relocation)(unsigned type);
	bool indirect_in_db; /* calls through a register have an entry in the DB */

	/* What the trampolines of a cramped call and of a tail call take, with some
	 * slack. */
	size_t call_trampoline_bytes;
	size_t tail_trampoline_bytes;
	/* What a thunk takes, of which each callee has one, and one that leads to code of
	 * this encoding. */
	size_t thunk_bytes;
	size_t near_thunk_bytes;
	unsigned thunk_encoding;
	/* The section, by name, in which an object tells what CPUs it is for, and
	 * whether thunks run on those; NULL: on all. */
	const char *thunk_section;
	bool (*allows_thunks)(const uint8_t *bytes, uint32_t size);
	/* With thunks, one direct call of this many goes by the DB all the same, at
	 * the most. */
	unsigned direct_in_db;
	/* A recorder, named like tracer(), that only runs where thunks do; NULL: the same. */
	const char *thunk_recorder;
	/* How far a call that was patched gets, at the least, either way; and one in
	 * another encoding than that of thunks. */
	uint32_t reach;
	uint32_t far_reach;
	/* Bytes of code from one island to the next when their places are exact. Half
	 * of it lies before an island and half behind; the rest is for the code that
	 * a map does not show, such as padding. */
	uint32_t island_interval;
};

extern const struct litifut_link_facts litifut_link_facts_arm;
extern const struct litifut_link_facts litifut_link_facts_mips;

#endif
