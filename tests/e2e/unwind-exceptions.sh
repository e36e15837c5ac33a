#!/bin/sh
# What other tracers break: C++ exceptions through traced frames, longjmp,
# backtrace() from inside traced calls, _Unwind_ForcedUnwind of a cancelled thread.
. "$(dirname "$0")/../lib.sh"
few_targets armhf armel mipsel

# calls_of FOLDER: how many calls the program `static` in it makes
calls_of()
{
	rm -f oracle.*
	qemu_options="-plugin $BUILD/tests/oracle.so,calls=oracle,through=oracle.through"
	python3 "$root/tests/oracle/oracle.py" ranges "$1/static" >oracle.through
	guest_environment="LITIFUT_DIR=$(pwd)/data"
	run "$1" static
	qemu_options='' guest_environment=''
	python3 "$root/tests/oracle/oracle.py" calls oracle "$1/static" | wc -l
}

# The unwinder also searches the frames of the tracer. On ARM, where a small program has half as many
# entries in its table, that is one step more in a search of ten. On MIPS the unwinder sorts them as
# well, which takes half as many calls again where the recorder is linked before the program's objects,
# and twice as many where an entry has another encoding.
few_more_calls()
{
	[ "$cpu" = arm ] && most=120 || most=115
	plain_calls=$(calls_of plain)
	traced_calls=$(calls_of traced)
	ok "exceptions take not many more calls ($traced_calls and not $plain_calls)" \
		test "$plain_calls" -gt 100 -a "$traced_calls" -lt $((plain_calls * most / 100))
}

behaviour()
{
	cat >main.cc <<-'END'
		#include <csetjmp>
		#include <cstdio>
		#include <execinfo.h>
		#include <functional>
		#include <pthread.h>
		#include <stdexcept>
		#include <string>
		#include <unistd.h>
		#include <vector>
		#define KEEP __attribute__((noipa))
		struct noisy {
			const char *name;
			~noisy() { std::printf("~%s\n", name); }
		};
		KEEP int throws(int n)
		{
			noisy here{"throws"};
			if (n == 0)
				throw std::runtime_error("from the bottom");
			return throws(n - 1) + 1;
		}
		KEEP int through_pointer(int (*function)(int), int n) { noisy here{"pointer"}; return function(n) + 1; }
		KEEP int catches(int n)
		{
			try {
				return through_pointer(throws, n);
			} catch (const std::exception &e) {
				std::printf("caught %s\n", e.what());
				return n;
			}
		}
		KEEP void rethrows()
		{
			try {
				throws(1);
			} catch (...) {
				std::puts("again");
				throw;
			}
		}
		static std::jmp_buf place;
		KEEP void jumps(int n)
		{
			if (n == 0)
				std::longjmp(place, 7);
			jumps(n - 1);
			__asm__ volatile("");
		}
		KEEP int frames(int n)
		{
			void *addresses[64];
			int depth = n ? frames(n - 1) : backtrace(addresses, 64);
			__asm__ volatile("");
			return depth;
		}
		KEEP void waits()
		{
			noisy here{"cancelled"};
			for (;;)
				sleep(10);
		}
		static void *thread(void *argument) { waits(); return argument; }
		int main()
		{
			pthread_t one;
			std::printf("%d\n", catches(3));
			try {
				rethrows();
			} catch (const std::runtime_error &) {
				std::puts("outside");
			}
			if (int value = setjmp(place))
				std::printf("jumped with %d\n", value);
			else
				jumps(5);
			std::printf("frames %d\n", frames(6) - frames(2));
			std::function<int(int)> function = [](int n) { return n ? throw n : 1; };
			try {
				function(4);
			} catch (int n) {
				std::printf("int %d\n", n);
			}
			pthread_create(&one, nullptr, thread, nullptr);
			usleep(1000);
			pthread_cancel(one);
			pthread_join(one, nullptr);
			std::vector<std::string> strings{"a", "b"};
			try {
				strings.at(5);
			} catch (const std::out_of_range &) {
				std::puts("out of range");
			}
		}
	END
	language=g++
	flags="-funwind-tables -fexceptions -pthread"
	link program ../main.cc || return
	same_run program
	events_equal_calls program
	flags="$flags -static -Wl,--whole-archive -lpthread -Wl,--no-whole-archive"
	link static ../main.cc || return
	same_run static
	events_equal_calls static
	few_more_calls
}

for_targets behaviour
