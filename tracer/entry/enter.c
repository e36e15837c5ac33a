/* From a patched call to the recorder and on to the callee. One copy of this
 * code is in every traced module; the recorder that it calls is the process's.
 *
 * Everything is reached through the arguments, and nothing but the recorder is
 * called, because the code also runs before the module is relocated: in the
 * start-up code of a static PIE program and in IFUNC resolvers. On MIPS even
 * the address of a static variable would come from the unrelocated GOT. */

#include <stddef.h>

#include "argument_registers.h"
#include "floating.h"
#include "frame.h"
#include "tracer/entry/database.h"
#include "tracer/entry/enter.h"
#include "tracer/entry/guard.h"
#include "tracer/entry/module_state.h"
#ifdef LITIFUT_COUNTS
#include "tracer/entry/counter.h"
#endif

struct litifut_module litifut_module
	__attribute__((section(LITIFUT_SECTION_MODULE), visibility("hidden"), used)) = {
		.magic = LITIFUT_MODULE_MAGIC,
		.version = LITIFUT_MODULE_VERSION_WORD,
};

/* start.S and thunk_shared.S read these. */
_Static_assert(offsetof(struct litifut_module, link_address) == 16, "LINK_ADDRESS");
_Static_assert(offsetof(struct litifut_module, entry) == 644, "ENTRY");
_Static_assert(offsetof(struct litifut_module, fast_ok) == 756, "FAST_OK");

/* In the object that reserves room, as large as the DB makes it useful. */
extern struct litifut_site_cache litifut_site_cache __attribute__((visibility("hidden")));

static void litifut_module_start(void);
static void litifut_module_end(void);

/* The default recorder's; absent with one of the user's own. The second is found by
 * each module when it goes: at exit or by dlclose. */
void litifut_module_enter(struct litifut_module *module) __attribute__((weak));
void litifut_module_leave(struct litifut_module *module) __attribute__((weak));

/* Of a recorder of the user's, which may have it. */
void litifut_record_return(const struct litifut_call *call) __attribute__((weak));

/* By this name of its own, because gold for MIPS forgets the relocation of a word that
 * refers to a global symbol which code refers to as well. */
static struct litifut_module_state litifut_module_state_itself
	__attribute__((alias("litifut_module_state")));

struct litifut_module_state litifut_module_state __attribute__((visibility("hidden"))) = {
	.self = &litifut_module_state_itself,
	.record = litifut_record_trace,
	.start = litifut_module_start,
	.end = litifut_module_end,
	.enter = litifut_module_enter,
	.leave = litifut_module_leave,
	.site_cache = &litifut_site_cache,
	.record_return = litifut_record_return,
};

static bool litifut_stands_for_return(const struct litifut_call *call)
{
	const struct litifut_module *module = call->module;
	const uint32_t bias = (uint32_t)module - module->link_address;

	return call->kind == LITIFUT_SITE_DIRECT &&
	       call->return_address - bias - module->exits_start <
		       module->exits_end - module->exits_start;
}

/* To a recorder of the user's; the default one takes returns as it takes calls. */
static void litifut_record_return_to(struct litifut_module_state *state,
				     const struct litifut_call *call)
{
	struct litifut_call done = {
		.return_address = call->return_address,
		.kind = call->kind,
		.stack_pointer = call->stack_pointer,
		.module = call->module,
		.arguments = call->arguments ? call->arguments + LITIFUT_PORT_RETURN_VALUE : NULL,
	};

	if (state->record_return)
		litifut_record_guarded(state->record_return, &done, state->floating);
}

/* The default recorder marks the modules that it has met. Any other one may do
 * what it likes to the floating-point registers. */
static void litifut_record_to(struct litifut_module_state *state, const struct litifut_call *call)
{
	if (__builtin_expect(!call->module->registered, 0)) {
		if (!state->floating)
			state->floating = litifut_port_floating();
		if (!state->enter && litifut_stands_for_return(call)) {
			litifut_record_return_to(state, call);
			return;
		}
		litifut_record_guarded(state->record, call, state->floating);
		return;
	}
	state->record(call);
}

static inline void litifut_keep_early(struct litifut_module_state *state,
				      const struct litifut_call *call)
{
	struct litifut_early_call *early;

	if (state->early_count == LITIFUT_EARLY_CALLS) {
		state->early_lost++;
		return;
	}
	early = &state->early[state->early_count++];
	early->return_address = call->return_address;
	early->callee = call->callee;
	early->kind = call->kind;
	early->stack_pointer = call->stack_pointer;
}

/* The first call after relocation: those before it come first. Relocation is
 * done by one thread, before there can be others in this module. Apart, so that others do
 * not have its stack. */
static __attribute__((noinline)) void litifut_record_early(struct litifut_module *module,
							   struct litifut_module_state *state)
{
	uint32_t count = state->early_count;

	state->relocated = 1;
	state->early_count = 0;
	for (uint32_t i = 0; i < count; i++) {
		struct litifut_call call = {
			.return_address = state->early[i].return_address,
			.callee = state->early[i].callee,
			.kind = state->early[i].kind,
			.stack_pointer = state->early[i].stack_pointer,
			.module = module,
		};

		litifut_record_to(state, &call);
	}
}

static inline __attribute__((always_inline)) void
litifut_record(uint32_t stack_pointer, struct litifut_module *module,
	       struct litifut_module_state *state, uint32_t return_address, uint32_t callee,
	       uint32_t kind, const uint32_t *arguments)
{
	struct litifut_call call = {
		.return_address = return_address,
		.callee = callee,
		.kind = kind,
		.stack_pointer = stack_pointer,
		.module = module,
		.arguments = arguments,
	};

	if (__builtin_expect(!state->relocated, 0)) {
		/* volatile: the dynamic linker changes them behind our back */
		if (*(struct litifut_module_state *volatile *)&state->self != state ||
		    !*(void (*volatile *)(const struct litifut_call *)) & state->record) {
			litifut_keep_early(state, &call);
			return;
		}
		litifut_record_early(module, state);
	}
	if (kind != LITIFUT_SITE_DIRECT &&
	    (callee == (uint32_t)state->end || callee == (uint32_t)state->start))
		return;
	litifut_record_to(state, &call);
}

uint32_t litifut_enter(const struct litifut_frame *frame, struct litifut_module *module,
		       struct litifut_module_state *state)
{
	uint32_t bias = (uint32_t)module - module->link_address;
	uint32_t return_address = litifut_frame_return_address(frame);
	const struct litifut_db_header *header =
		(const struct litifut_db_header *)(module->db_address + bias);
	const struct litifut_db_entry *entries = (const struct litifut_db_entry *)(header + 1);
	uint32_t count = module->db_count;
	struct litifut_site_cache *cache = state->site_cache;
	uint32_t index;
	uint32_t kind;
	uint32_t callee;

	/* The way to the cache needs relocation. */
	if (__builtin_expect(!state->relocated, 0))
		index = litifut_database_find(entries, count, return_address - bias);
	else
		index = litifut_database_find_cached(entries, count, return_address - bias,
						     cache->slots, cache->mask + 1,
						     LITIFUT_SITE_ALIGNMENT_BITS);
	if (__builtin_expect(index == count, 0))
		return 0;
	callee = litifut_frame_next_pc(frame, entries[index].instruction, return_address, &kind);
#ifdef LITIFUT_COUNTS
	if (callee)
		litifut_count(module, bias, index);
#else
	if (callee)
		litifut_record(litifut_frame_stack_pointer(frame), module, state, return_address,
			       callee, kind, litifut_frame_arguments(frame));
#endif
	return callee;
}

#ifdef LITIFUT_CALL_REGISTER
void litifut_enter_register(const struct litifut_frame *frame, struct litifut_module *module,
			    struct litifut_module_state *state)
{
	litifut_record(litifut_frame_stack_pointer(frame), module, state,
		       litifut_frame_return_address(frame),
		       litifut_frame_register(frame, LITIFUT_CALL_REGISTER), LITIFUT_SITE_INDIRECT,
		       litifut_frame_arguments(frame));
}

void litifut_enter_near(const struct litifut_frame *frame, struct litifut_module *module,
			struct litifut_module_state *state)
{
	litifut_record(litifut_frame_stack_pointer(frame), module, state,
		       litifut_frame_return_address(frame),
		       litifut_frame_register(frame, LITIFUT_CALL_REGISTER), LITIFUT_SITE_DIRECT,
		       litifut_frame_arguments(frame));
}
#endif

uint32_t litifut_enter_thunk(const struct litifut_frame *frame, struct litifut_module *module,
			     struct litifut_module_state *state, uint32_t stack_pointer)
{
	uint32_t kind;
	/* The default recorder, which marks the modules that it has met, needs no
	 * more than the return address of a direct call. */
	uint32_t callee = litifut_frame_exit(frame, module->registered != 0, &kind);

	litifut_record(stack_pointer, module, state, litifut_frame_return_address(frame), callee,
		       kind, litifut_frame_arguments(frame));
	return callee;
}

static void litifut_module_start(void)
{
	if ((litifut_module.engine == LITIFUT_ENGINE_THUNK || litifut_module.flags_bytes) &&
	    litifut_module_state.enter)
		litifut_module_state.enter(&litifut_module);
}

static void litifut_module_end(void)
{
	if (litifut_module_state.leave)
		litifut_module_state.leave(&litifut_module);
}

/* Priority 0: runs before every other constructor of the module. */
static void (*const litifut_module_start_entry)(void)
	__attribute__((section(".init_array.00000"), used)) = litifut_module_start;

/* Priority 0: runs after every other destructor of the module, so that their
 * calls are seen. It is also what keeps this object in a link that collects
 * unused sections. */
static void (*const litifut_module_end_entry)(void)
	__attribute__((section(".fini_array.00000"), used)) = litifut_module_end;
