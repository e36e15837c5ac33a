/* Arguments and return values of chosen functions (LITIFUT_ARGS): what the rewriter leaves in a
 * module for the recorder, and what the recorder writes into the trace.
 *
 * A field is a byte: which argument it is in the lower bits, how it is shown in the upper ones.
 * 0 means that there is no further field. */
#ifndef LITIFUT_ARGUMENTS_H
#define LITIFUT_ARGUMENTS_H

#include <stdint.h>

enum litifut_argument_type {
	LITIFUT_ARGUMENT_SIGNED = 1,
	LITIFUT_ARGUMENT_UNSIGNED = 2,
	LITIFUT_ARGUMENT_HEX = 3,
	LITIFUT_ARGUMENT_POINTER = 4,
	LITIFUT_ARGUMENT_STRING = 5,
	LITIFUT_ARGUMENT_PLAIN = 6, /* a number of unknown signedness */
	LITIFUT_ARGUMENT_UNREADABLE =
		7 /* in a trace: a string that could not be read; only its address is there */
};

#define LITIFUT_ARGUMENT_FIELDS 12u /* the most of one call */
/* Numbers 0 to 3 are in registers, others on the caller's stack; the last number is the return
 * value. */
#define LITIFUT_ARGUMENT_LAST 29u
#define LITIFUT_ARGUMENT_RETURN 31u
/* Not an argument but a trigger: its number, and 1, stands where others have their type. */
#define LITIFUT_ARGUMENT_TRIGGER 30u
#define LITIFUT_TRIGGERS 7u /* the most of a module */

#define LITIFUT_ARGUMENT_FIELD(type, number) ((uint8_t)((type) << 5 | (number)))
#define LITIFUT_ARGUMENT_TYPE(field) ((field) >> 5 & 7u)
#define LITIFUT_ARGUMENT_NUMBER(field) ((field)&31u)

/* Bytes of a string that are kept. The values of one call have 255 words in all. */
#define LITIFUT_ARGUMENT_BYTES 64u
#define LITIFUT_ARGUMENT_BYTES_MAX 960u

/* In a module with LITIFUT_MODULE_ARGUMENTS, behind the `db_count` entries of .litifut.db: struct
 * litifut_argument_header, then `count` sites sorted by `address`. */
#define LITIFUT_ARGUMENT_MAGIC 0x4c544642u

/* What LITIFUT_TRIGGER asks for when a function is called, or has returned. */
enum litifut_trigger_kind {
	LITIFUT_TRIGGER_NONE = 0,
	LITIFUT_TRIGGER_START = 1, /* recording begins with this call */
	LITIFUT_TRIGGER_STOP = 2,  /* it ends behind it */
	LITIFUT_TRIGGER_SNAPSHOT = 3
};

struct litifut_argument_header {
	uint32_t magic;
	uint32_t count;
	uint32_t string_bytes;
	uint32_t mark_every; /* LITIFUT_MARK_EVERY, in milliseconds; 0: no marks */
	struct litifut_trigger {
		uint32_t kind; /* enum litifut_trigger_kind */
		uint32_t call; /* the number of the call that it is for, from 1; 0: each one */
		/* Not 0: it is for calls that take more nanoseconds, when they return, and counts
		 * these; the lower word first. */
		uint32_t longer[2];
	} triggers[LITIFUT_TRIGGERS];
};

struct litifut_argument_site {
	/* Link-time: the return address of the call as the DB has it, or what the trace has for
	 * its return. */
	uint32_t address;
	uint8_t fields[LITIFUT_ARGUMENT_FIELDS];
};

/* In the trace, in front of the event: the control word LITIFUT_WORD_ARGUMENTS, a head, a word for
 * each four fields (the first one in the lowest byte), then the values in the order of the fields.
 * No word is 0, which stands for what was not written.
 *
 * A value is a word; of one that is 0, the head has a bit, and 1 stands in its place. That of a
 * string is LITIFUT_STRING_HEAD, and its bytes behind it, the first one in the lowest byte of a
 * word; it has no byte that is 0. */
#define LITIFUT_ARGUMENT_HEAD(count) (0x80000000u | (count))
#define LITIFUT_ARGUMENT_COUNT(head) ((head)&0xffu)
#define LITIFUT_ARGUMENT_IS_ZERO(head, field) ((head) >> (8 + (field)) & 1u)
#define LITIFUT_ARGUMENT_ZERO(field) (0x100u << (field))
#define LITIFUT_STRING_HEAD(bytes, cut) (0x80000000u | ((cut) ? 0x10000u : 0u) | (bytes))
#define LITIFUT_STRING_BYTES(word) ((word)&0xffffu)
#define LITIFUT_STRING_IS_CUT(word) ((word) >> 16 & 1u)

/* The most words of one call's values, with the control word. */
#define LITIFUT_ARGUMENT_WORDS 256u

_Static_assert(sizeof(struct litifut_argument_header) == 128, "argument header layout");
_Static_assert(sizeof(struct litifut_argument_site) == 16, "argument site layout");

#endif
