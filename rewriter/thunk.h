/* What takes a call over in the thunk engine. */
#ifndef LITIFUT_REWRITER_THUNK_H
#define LITIFUT_REWRITER_THUNK_H

#include <stdbool.h>
#include <stdint.h>

enum litifut_thunk_kind {
	LITIFUT_THUNK_NONE = 0,      /* none: the call uses the instruction DB */
	LITIFUT_THUNK_ENTRY,         /* code that the tracer brings: entry point `number` */
	LITIFUT_THUNK_CALLEE,        /* made by the rewriter: for direct calls of `callee` */
	LITIFUT_THUNK_REGISTER,      /* the same for indirect calls through register `number` */
	LITIFUT_THUNK_TAIL,          /* for direct tail calls, from their trampolines */
	LITIFUT_THUNK_TAIL_REGISTER, /* for indirect ones through register `number` */
	LITIFUT_THUNK_EXIT,          /* for returns, from their trampolines */
};

/* In `number` of LITIFUT_THUNK_EXIT: it stores nothing itself, as the recorder is to see each
 * return. */
#define LITIFUT_THUNK_SLOW 0x80u

struct litifut_thunk {
	enum litifut_thunk_kind kind;
	bool thumb; /* the state its code is in */
	uint8_t number;
	uint32_t callee; /* link-time address with the Thumb bit */
	/* LITIFUT_MODE=counts: link-time address of the counter, where each site has a separate
	 * thunk; else 0. */
	uint32_t counter;
};

static inline bool litifut_thunk_is_tail(const struct litifut_thunk *thunk)
{
	return thunk->kind == LITIFUT_THUNK_TAIL || thunk->kind == LITIFUT_THUNK_TAIL_REGISTER;
}

static inline bool litifut_thunk_has_register(const struct litifut_thunk *thunk)
{
	return thunk->kind == LITIFUT_THUNK_REGISTER || thunk->kind == LITIFUT_THUNK_TAIL_REGISTER;
}

#endif
