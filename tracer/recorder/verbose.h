/* LITIFUT_VERBOSE. */
#ifndef LITIFUT_TRACER_VERBOSE_H
#define LITIFUT_TRACER_VERBOSE_H

/* With LITIFUT_VERBOSE=1, "litifut: PROGRAM.PID: WHAT WHERE" as one line on stderr, and
 * the reason when `result` is that of a system call which failed. Async-signal-safe;
 * brings the program no signal. */
void litifut_tell(const char *what, const char *where, long result)
	__attribute__((visibility("hidden")));
/* No words in a program that was started without a stderr. */
void litifut_tell_start(void) __attribute__((visibility("hidden")));

#endif
