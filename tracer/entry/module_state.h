/* What each traced module has of its own besides struct litifut_module. The
 * stubs find it relative to the program counter, so that it can be used before
 * the module is relocated. */
#ifndef LITIFUT_TRACER_MODULE_STATE_H
#define LITIFUT_TRACER_MODULE_STATE_H

#include <stdint.h>

#include <litifut/litifut.h>
#include <litifut/module_format.h>

#define LITIFUT_EARLY_CALLS 32

/* A call made before the module was relocated. */
struct litifut_early_call {
	uint32_t return_address;
	uint32_t callee;
	uint32_t kind;
	uint32_t stack_pointer;
};

struct litifut_module_state {
	/* These words are filled by relocations: `self` holds this struct's own
	 * address once the module is relocated (an executable or library at
	 * another address than it was linked for holds a wrong one before
	 * that); `record` is the process's recorder, 0 until the dynamic
	 * linker has looked it up. */
	struct litifut_module_state *self;
	void (*record)(const struct litifut_call *call);
	/* Our own constructor and destructor, which the start-up code of a static
	 * program calls from traced sites: calls that the program would not make
	 * without us. */
	void (*start)(void);
	void (*end)(void);
	/* The recorder's, 0 without the default one. Called by their addresses: a direct
	 * call from A32 code to T32 code would bring a veneer of the linker's. */
	void (*enter)(struct litifut_module *module);
	void (*leave)(struct litifut_module *module);
	struct litifut_site_cache *site_cache;
	/* That of a recorder of the user's, or 0. */
	void (*record_return)(const struct litifut_call *call);
	uint32_t relocated; /* the words above were seen to be right */
	uint32_t floating;  /* enum litifut_floating */
	uint32_t early_count;
	uint32_t early_lost;
	struct litifut_early_call early[LITIFUT_EARLY_CALLS];
};

#endif
