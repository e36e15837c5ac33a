/* Which of the numbered words of a call (LITIFUT_ARGS counts registers first, then the stack) hold
 * which parameters of its callee: part of struct cpu. */
#ifndef LITIFUT_CPU_PARAMETERS_H
#define LITIFUT_CPU_PARAMETERS_H

#include <stdbool.h>
#include <stddef.h>

enum cpu_value_kind {
	CPU_VALUE_NONE = 0, /* of a result: there is none */
	CPU_VALUE_NUMBER,   /* an integer, a pointer, an enumeration */
	CPU_VALUE_FLOAT,    /* of 4 or 8 bytes */
	CPU_VALUE_STRUCT,   /* a structure or union, passed by value */
	CPU_VALUE_FLOATS    /* the same, of one to four floats of one size and nothing else */
};

struct cpu_value {
	enum cpu_value_kind kind;
	unsigned bytes;
	unsigned alignment;
	unsigned float_bytes; /* of CPU_VALUE_FLOATS: of each */
	bool by_reference;    /* its address is passed in its place, which is a number */
	unsigned word;        /* of a parameter: number of its first word; set */
};

/* What a function takes and returns. */
struct cpu_signature {
	unsigned flags; /* e_flags of its file */
	bool variadic;
	struct cpu_value result;
	struct cpu_value *parameters;
	size_t count;
};

/* Sets `word` of the parameters. Returns for how many from the first on it is certain; those that
 * are floats may be in other registers. */
typedef size_t cpu_place_parameters(const struct cpu_signature *signature);

/* For both calling conventions: the words of a value, from word *next on, which is set behind
 * them. */
static inline unsigned cpu_take_words(const struct cpu_value *value, unsigned *next)
{
	const unsigned first = value->alignment > 4 ? (*next + 1) & ~1u : *next;

	*next = first + (value->bytes + 3) / 4;
	return first;
}

#endif
