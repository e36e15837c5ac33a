/* What the linker wrapper must know of a CPU when there are only object files and a
 * command line: part of struct cpu. */
#ifndef LITIFUT_CPU_OBJECTS_H
#define LITIFUT_CPU_OBJECTS_H

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

struct cpu_objects {
	/* Globs of TRIPLET in the names TRIPLET-ld of its linkers; NULL-terminated. */
	const char *const *triplets;
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

	/* GNU as writes absolute addresses into .eh_frame of the tracer objects. */
	bool absolute_unwind_table;

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
	/* The section, by name, in which an object says what CPUs it is for, and whether those
	 * are the newer ones, which have better thunks; NULL: all are. */
	const char *cpu_section;
	bool (*is_for_newer)(const uint8_t *bytes, uint32_t size);
	/* For firmware, NULL or NULL-terminated: options that are added to each link, and options
	 * that are added to the traced link with stubs for speed. */
	const char *const *firmware_options;
	const char *const *firmware_fast;
	/* The same with counters of a byte; NULL: there are none. */
	const char *const *firmware_bytes;
	const char *firmware_clock; /* the usual one; NULL: it depends on more */
	/* How interrupt handlers are named, where no timer is known that most programs have; NULL:
	 * the handler of such a timer is the one that counts ticks. */
	const char *firmware_handlers;
	unsigned firmware_register_bytes; /* of what a peripheral has */
	bool firmware_relaxes; /* its linker makes calls shorter if asked to, which is not done */
	/* The tracer's objects for newer CPUs, named like tracer(); NULL: the same. */
	const char *newer_tracer;
};

#endif
