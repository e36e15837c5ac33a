/* For programs that are traced: switch recording off and on, or write a
 * custom recorder. Nothing here needs to be linked by hand; in a link
 * without LITIFUT=1 the functions do not exist, so declare the use weak (as
 * below) and test the address when the same source is built both ways. */
#ifndef LITIFUT_H
#define LITIFUT_H

#include <stdint.h>

#include <litifut/module_format.h>

#ifdef __cplusplus
extern "C" {
#endif

/* One call, at the moment it is made: the callee has not started yet. */
struct litifut_call {
	uint32_t return_address; /* run-time, as the link register holds it (bit 0: Thumb caller) */
	uint32_t callee; /* run-time, bit 0 set: Thumb code; may be a PLT entry or a veneer */
	uint32_t kind;   /* enum litifut_site_kind */
	uint32_t stack_pointer;        /* of the caller at the call */
	struct litifut_module *module; /* that contains the call site */
	/* What the first four argument registers hold; NULL where that is not known. */
	const uint32_t *arguments;
};

/* The recorder: called once for every traced call, on the stack of the caller,
 * in any thread, signal handler or child process, before main and possibly
 * before libc is initialised. It must not itself make traced calls: an object
 * named in LITIFUT_RECORDER is exempt from rewriting, the libraries that it
 * calls are not. Give another one at link time with LITIFUT_RECORDER=FILE.o;
 * the default one writes the trace file. */
void litifut_record_trace(const struct litifut_call *call);

/* A recorder's, if it is defined and the link has LITIFUT_MODE=spans: called once for every return
 * that is recorded (`litifut info`), at the return point, under the same conditions.
 * `stack_pointer` is that of the call; calls that are still open at a lower one have been left in
 * another way. `return_address` stands for the call site, but is not that of the call; `callee` is
 * 0. `arguments` are the registers of the returned value, where that is known: one, and of 64 bits
 * two. */
void litifut_record_return(const struct litifut_call *call);

/* Stops recording in the whole process, closes the trace and copies it to
 * LITIFUT_COPY_TO. Async-signal-safe. */
void litifut_stop(void) __attribute__((weak));

/* Recording goes on (the same trace file is continued). Async-signal-safe. */
void litifut_start(void) __attribute__((weak));

/* The program's, if it has it and the link has LITIFUT_MARK_EVERY=MILLISECONDS: sets a pin, an LED
 * or any other load that a power analyser sees. The recorder calls it with 1 and then 0: at the
 * first event, at the first event behind each such time, and when recording ends. Each 1 is a mark
 * among the events (docs/energy.md). It may do what a signal handler may, on a stack of 16 KB, with
 * all signals blocked. A child does not call it. */
void litifut_mark_pin(int level);

#ifdef __cplusplus
}
#endif
#endif
