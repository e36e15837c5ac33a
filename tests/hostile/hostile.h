/* What the cases of the hostile program share. Each case does what few programs do, and prints only
 * what does not depend on time. */
#ifndef TESTS_HOSTILE_H
#define TESTS_HOSTILE_H

#include <stddef.h>
#include <sys/types.h>

#define KEEP __attribute__((noipa))

struct hostile_case {
	const char *name;
	void (*run)(void);
};

/* Each file has its cases, the last one without a name. */
extern const struct hostile_case memory_cases[], signal_cases[], process_cases[], thread_cases[],
	descriptor_cases[], end_cases[], fault_cases[], handler_cases[], exception_cases[],
	library_cases[], kernel_cases[], context_cases[], limit_cases[], child_cases[],
	pointer_cases[];

/* The arguments behind the name of the case. */
extern char **hostile_arguments;
/* Where the program is. */
extern char hostile_folder[];
extern volatile unsigned hostile_sum;
extern volatile int hostile_ticks;

/* n calls */
unsigned work(unsigned n);
void *work_in_thread(void *n);
void run_threads(int count, unsigned n, size_t stack);
void run_forks(int count, unsigned n);
/* Says so if the child has not ended with 0. */
void wait_for(pid_t child);
/* SIGALRM every so many microseconds; 0: no more. */
void tick(int microseconds);
void handle(int number, void (*handler)(int), int flags);
void on_tick(int number);
/* Lines of /proc/self/maps with this text; returns how many there are. */
int find_mappings(const char *with, unsigned long *from, unsigned long *to, int most);

#endif
