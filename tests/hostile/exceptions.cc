/* Exceptions, destructors of threads and of the program. */

extern "C" {
#include "hostile.h"
}

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>
#include <pthread.h>
#include <stdexcept>
#include <string>
#include <unistd.h>

namespace
{

struct guarded {
	unsigned number;
	KEEP explicit guarded(unsigned n) : number(n) { hostile_sum = hostile_sum + work(1); }
	KEEP ~guarded() { hostile_sum = hostile_sum + work(1) + number; }
	guarded(const guarded &) = delete;
	guarded &operator=(const guarded &) = delete;
};

/* The second member throws, the first one is to be destroyed. */
struct broken {
	guarded first;
	struct thrower {
		KEEP explicit thrower(unsigned n)
		{
			if (work(n) != 1)
				throw std::runtime_error("member");
		}
	} second;
	KEEP explicit broken(unsigned n) : first(n), second(n) {}
};

KEEP unsigned thrown(unsigned n)
{
	guarded here(n);

	if (!n)
		throw std::logic_error("at the end");
	return thrown(n - 1) + work(1);
}

KEEP unsigned catches(unsigned n)
{
	try {
		return thrown(n);
	} catch (const std::exception &e) {
		return static_cast<unsigned>(std::string(e.what()).size()) + work(2);
	}
}

int compared;

/* called by libc, whose frames the exception goes through */
KEEP int compare(const void *, const void *)
{
	guarded here(1);

	if (++compared == 30)
		throw 7;
	return static_cast<int>(work(1)) & 1;
}

KEEP unsigned sorts()
{
	int numbers[100] = {};

	compared = 0;
	try {
		qsort(numbers, 100, sizeof(numbers[0]), compare);
	} catch (int number) {
		return static_cast<unsigned>(number) + work(3);
	}
	return 0;
}

KEEP unsigned rethrows(unsigned n)
{
	try {
		return catches(n) + thrown(n);
	} catch (...) {
		hostile_sum = hostile_sum + work(2);
		if (n < 3)
			throw;
		try {
			return rethrows(n - 1);
		} catch (const std::logic_error &) {
			return work(4);
		}
	}
}

KEEP unsigned constructs(unsigned n)
{
	unsigned sum = 0;

	for (unsigned i = 0; i < n; i++) {
		try {
			broken *one = new broken(i);

			delete one;
		} catch (const std::runtime_error &) {
			sum += work(1) + i;
		}
	}
	return sum;
}

void *all_of_them(void *times)
{
	unsigned long sum = 0;

	for (unsigned long i = 0; i < reinterpret_cast<unsigned long>(times); i++)
		sum += catches(20) + sorts() + rethrows(5) + constructs(5);
	return reinterpret_cast<void *>(sum);
}

void run_exceptions()
{
	printf("%lu\n", reinterpret_cast<unsigned long>(all_of_them(reinterpret_cast<void *>(20))));
}

void *throws_alone(void *times)
{
	unsigned long sum = 0;

	for (unsigned long i = 0; i < reinterpret_cast<unsigned long>(times); i++)
		sum += catches(20) + rethrows(5) + constructs(5);
	return reinterpret_cast<void *>(sum);
}

void run_throwing_threads()
{
	pthread_t threads[6];

	for (pthread_t &thread : threads)
		pthread_create(&thread, nullptr, throws_alone, reinterpret_cast<void *>(15));
	for (pthread_t &thread : threads) {
		void *sum;

		pthread_join(thread, &sum);
		printf("%lu\n", reinterpret_cast<unsigned long>(sum));
	}
}

struct local {
	unsigned n = 0;
	KEEP ~local() { hostile_sum = hostile_sum + work(n); }
};

thread_local local of_thread;
thread_local guarded early(3);

KEEP void *uses_local(void *n)
{
	of_thread.n = static_cast<unsigned>(reinterpret_cast<unsigned long>(n));
	hostile_sum = hostile_sum + early.number;
	return work_in_thread(n);
}

KEEP void leaves(unsigned n)
{
	guarded here(n);

	if (!n)
		pthread_exit(reinterpret_cast<void *>(5));
	leaves(n - 1);
	hostile_sum = hostile_sum + work(1);
}

void *leaves_deep(void *n)
{
	uses_local(n);
	leaves(30);
	return nullptr;
}

KEEP void waits()
{
	guarded here(1);

	for (;;) {
		hostile_sum = hostile_sum + work(50);
		pthread_testcancel();
	}
}

void *waits_for_cancel(void *n)
{
	uses_local(n);
	waits();
	return nullptr;
}

/* Destructors of thread-local variables, pthread_exit and cancellation through frames. */
void run_locals()
{
	for (int i = 0; i < 30; i++) {
		pthread_t threads[3];
		void *result;

		pthread_create(&threads[0], nullptr, uses_local, reinterpret_cast<void *>(700));
		pthread_create(&threads[1], nullptr, leaves_deep, reinterpret_cast<void *>(300));
		pthread_create(&threads[2], nullptr, waits_for_cancel,
			       reinterpret_cast<void *>(100));
		pthread_join(threads[0], &result);
		pthread_join(threads[1], &result);
		if (result != reinterpret_cast<void *>(5))
			puts("not 5");
		pthread_cancel(threads[2]);
		pthread_join(threads[2], &result);
		if (result != PTHREAD_CANCELED)
			puts("not cancelled");
	}
	uses_local(reinterpret_cast<void *>(50));
}

void at_terminate()
{
	printf("terminate %u\n", work(500));
	fflush(stdout);
	_exit(8);
}

/* Nobody catches it. */
void run_uncaught()
{
	std::set_terminate(at_terminate);
	hostile_sum = hostile_sum + work(1000);
	hostile_sum = hostile_sum + thrown(20);
}

} // namespace

extern "C" const struct hostile_case exception_cases[] = {
	{"exceptions", run_exceptions}, {"throwing", run_throwing_threads},
	{"locals", run_locals},         {"uncaught", run_uncaught},
	{nullptr, nullptr},
};
