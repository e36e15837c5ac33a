/* The stack of open calls of one thread, as the CPU makes and ends them. A call ends where
 * control arrives at its return address with the stack pointer that it had. */
#ifndef LITIFUT_TESTS_ORACLE_SHADOW_H
#define LITIFUT_TESTS_ORACLE_SHADOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tests/oracle/places.h"

struct oracle_frame {
	const struct oracle_place *site; /* NULL: a signal handler begins here */
	uint32_t return_address;
	uint32_t sp;
};

struct oracle_shadow {
	struct oracle_frame *frames;
	size_t count;
	size_t capacity;
};

enum oracle_arrival {
	ORACLE_ELSEWHERE, /* no call returns to this address */
	ORACLE_RETURNED,  /* the call whose site is in *site has ended */
	ORACLE_AGAIN      /* one that has ended did before, or it was a branch */
};

/* A call has reached its callee. False: it is a tail call, the end of which is that of the
 * call that is open already; *cut gets how many calls within that one have ended without a return.
 * Unless `may_begin`, all else is not a call. */
bool oracle_shadow_call(struct oracle_shadow *shadow, const struct oracle_place *site,
			uint32_t return_address, uint32_t sp, bool may_begin, uint32_t *cut);

/* Control is at `address`. *cut gets how many calls have ended without a return; *site the
 * last site that was called with this return address. */
enum oracle_arrival oracle_shadow_arrive(struct oracle_shadow *shadow, uint32_t address,
					 uint32_t sp, uint32_t *cut,
					 const struct oracle_place **site);

/* A signal handler begins, or the innermost one ends; returns how many calls were cut. */
void oracle_shadow_signal(struct oracle_shadow *shadow);
uint32_t oracle_shadow_signal_ends(struct oracle_shadow *shadow);

#endif
