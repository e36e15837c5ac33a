/* Measures what the tracer adds to a call: a loop of calls of an empty function, traced and not. To
 * be included in one C file of the program, which calls energy_calibrate() once, from traced code,
 * while nothing else runs. `litifut-post energy` finds the cost in the trace then
 * (docs/energy.md). With LITIFUT_MODE=spans, of a Linux program or of a firmware. */
#ifndef LITIFUT_CALIBRATE_H
#define LITIFUT_CALIBRATE_H

#if defined(__has_attribute)
#if __has_attribute(noipa)
#define LITIFUT_CALIBRATE_APART __attribute__((noipa, used))
#endif
#endif
#if !defined(LITIFUT_CALIBRATE_APART) && defined(__clang__)
#define LITIFUT_CALIBRATE_APART __attribute__((noinline, used))
#elif !defined(LITIFUT_CALIBRATE_APART)
#define LITIFUT_CALIBRATE_APART __attribute__((noinline, noclone, used))
#endif

/* How many calls a short and a long loop make, and how often each is run. */
#define LITIFUT_CALIBRATE_SHORT 8
#define LITIFUT_CALIBRATE_LONG 40
#define LITIFUT_CALIBRATE_RUNS 4

/* Blanks, so that no two functions are taken for one. */
static LITIFUT_CALIBRATE_APART void energy_calibrate_empty(void)
{
	__asm__ volatile("" ::: "memory");
}

static LITIFUT_CALIBRATE_APART void litifut_calibrate_empty(void)
{
	__asm__ volatile(" " ::: "memory");
}

static LITIFUT_CALIBRATE_APART void energy_calibrate_traced(unsigned calls)
{
	for (; calls; calls--)
		energy_calibrate_empty();
	__asm__ volatile("" ::: "memory");
}

/* Calls in a function of such a name are not traced. */
static LITIFUT_CALIBRATE_APART void litifut_calibrate_loop(unsigned calls)
{
	for (; calls; calls--)
		litifut_calibrate_empty();
	__asm__ volatile(" " ::: "memory");
}

static LITIFUT_CALIBRATE_APART void energy_calibrate_plain(unsigned calls)
{
	litifut_calibrate_loop(calls);
	__asm__ volatile("" ::: "memory");
}

static LITIFUT_CALIBRATE_APART void energy_calibrate(void)
{
	unsigned run;

	for (run = 0; run < LITIFUT_CALIBRATE_RUNS; run++) {
		energy_calibrate_traced(LITIFUT_CALIBRATE_SHORT);
		energy_calibrate_plain(LITIFUT_CALIBRATE_SHORT);
		energy_calibrate_traced(LITIFUT_CALIBRATE_LONG);
		energy_calibrate_plain(LITIFUT_CALIBRATE_LONG);
	}
	__asm__ volatile("" ::: "memory");
}

#endif
