/* The library of tests/hostile/libraries.c: with thread-local variables, a constructor, a
 * destructor, and a destructor of threads. */

#include <pthread.h>

#define KEEP __attribute__((noipa))

unsigned library_work(unsigned n);
int library_key(pthread_key_t *key);

static __thread unsigned calls[50];
static volatile unsigned sum;

static KEEP unsigned library_leaf(unsigned n)
{
	calls[n % 50]++;
	return n * 5 + 1;
}

KEEP unsigned library_work(unsigned n)
{
	unsigned all = 0;

	for (unsigned i = 0; i < n; i++)
		all += library_leaf(i);
	return all + (calls[0] > 0);
}

static KEEP void library_key_end(void *n)
{
	sum += library_work((unsigned)(unsigned long)n);
}

int library_key(pthread_key_t *key)
{
	return pthread_key_create(key, library_key_end);
}

static __attribute__((constructor)) void library_begins(void)
{
	sum += library_work(30);
}

static __attribute__((destructor)) void library_ends(void)
{
	sum += library_work(30);
}
