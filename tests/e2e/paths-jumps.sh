#!/bin/sh
# LITIFUT_MODE=paths: blocks are those that are executed, in order, with longjmp, siglongjmp out of a handler, and
# exceptions: in static programs, whose C library and unwinder are traced as well, so that functions are followed
# that end elsewhere than behind their calls; and where setjmp is called by a pointer, out of the GOT of a
# static program on MIPS, or as -mlong-calls does on ARM.
. "$(dirname "$0")/../lib.sh"
few_targets armhf mipsel

jumps_source()
{
	cat >jumps.c <<-'END'
		#include <setjmp.h>
		#include <signal.h>
		#include <stdio.h>
		#define KEEP __attribute__((noipa))

		static sigjmp_buf there;
		static jmp_buf place;
		static volatile int count;

		static void handler(int number) { siglongjmp(there, number); }
		KEEP static int deep(int n)
		{
			if (n == 0)
				longjmp(place, 3);
			return deep(n - 1) + 1;
		}
		KEEP static int caught(int n)
		{
			if (setjmp(place))
				return n;
			return deep(n);
		}
		int main(void)
		{
			signal(SIGUSR1, handler);
			if (sigsetjmp(there, 1))
				count++;
			if (count < 3)
				raise(SIGUSR1);
			printf("%d\n", count);
			printf("%d\n", caught(4) + caught(2));
			return 0;
		}
	END
}

exceptions_source()
{
	cat >exceptions.cc <<-'END'
		#include <cstdio>
		#include <stdexcept>
		#define KEEP __attribute__((noipa))

		struct guard {
			int n;
			KEEP ~guard() { printf("%d\n", n); }
		};
		KEEP static int deep(int n)
		{
			guard one{n};

			if (n == 0)
				throw std::runtime_error("at the bottom");
			return deep(n - 1) + 1;
		}
		KEEP static int again(int n)
		{
			try {
				return deep(n);
			} catch (std::logic_error &) {
				return 1;
			} catch (...) {
				throw;
			}
		}
		int main()
		{
			for (int i = 0; i < 3; i++)
				try {
					again(i);
				} catch (std::exception &error) {
					puts(error.what());
				}
			return 0;
		}
	END
	# an exception passes through calls of a function that calls itself, and one of them goes on
	cat >levels.cc <<-'END'
		#include <cstdio>
		#include <stdexcept>
		#define KEEP __attribute__((noipa))

		struct guard {
			int n;
			KEEP ~guard() { printf("%d\n", n); }
		};
		KEEP static int last(int n)
		{
			if (n < -4)
				return n;
			return last(n - 1) + 1;
		}
		KEEP static int level(int n, int goes_on)
		{
			if (n % 3 == 1)
				return level(n - 1, goes_on) + 2;
			guard one{n};

			if (n == 0)
				throw std::runtime_error("at the bottom");
			try {
				return level(n - 1, goes_on) + 1;
			} catch (std::exception &error) {
				if (n != goes_on)
					throw;
				puts(error.what());
			}
			return last(n) - 1000;
		}
		int main()
		{
			for (int i = 2; i < 9; i++)
				try {
					printf("%d\n", level(8, i) + last(i));
				} catch (std::exception &error) {
					puts("main");
				}
			return 0;
		}
	END
}

# Exceptions that code which is not followed catches, as the streams of the C++ library do, also where what lands of another
# one stands behind the call that throws
stream_source()
{
	cat >stream.cc <<-'END'
		#include <cstdio>
		#include <istream>
		#include <stdexcept>
		#include <streambuf>
		#include <string>
		#define KEEP __attribute__((noipa))

		KEEP static void fail(int n)
		{
			if (n % 2)
				throw n;
		}
		struct source : std::streambuf {
			char buffer[4];
			int n;
			KEEP explicit source(int n) : n(n) {}
			KEEP int_type underflow() override
			{
				if (n % 3 == 2) {
					fail(n);
					return traits_type::eof();
				}
				if (n == 0)
					throw std::runtime_error("at the end");
				buffer[0] = 'a' + n--;
				setg(buffer, buffer, buffer + 1);
				return traits_type::to_int_type(buffer[0]);
			}
		};
		KEEP static int reads(int n)
		{
			source from(n);
			std::istream stream(&from);
			char got[8] = "";

			stream.read(got, sizeof(got) - 1);
			for (int i = 0; i < 7 && got[i]; i++)
				n += got[i] % 3 ? got[i] : i;
			return stream.bad() ? -n : n;
		}
		int main()
		{
			for (int i = 0; i < 7; i++) {
				int got = reads(i);

				printf("%d\n", got);
				if (got < 0)
					puts("bad");
			}
			return 0;
		}
	END
}

# An exception that goes through a function, whose code goes on behind the call that hands it on, to one that is not traced.
through_source()
{
	cat >through.cc <<-'END'
		#include <cstdio>
		#include <stdexcept>
		#define KEEP __attribute__((noinline, noclone))

		struct source {
			int n;
			KEEP bool next() { return n-- > 0; }
			KEEP ~source() { n = 0; }
		};
		[[noreturn]] KEEP static void fail(const std::runtime_error &error)
		{
			throw error;
		}
		KEEP static int search(int n)
		{
			source from{n};

			while (from.n != 100)
				if (!from.next())
					fail(std::runtime_error("none"));
			return from.n;
		}
		KEEP static int work(int n)
		{
			for (int i = 0; i < n; i++)
				if (i * 5 % 3 == 2)
					return i;
			return -1;
		}
		KEEP int untraced(int n)
		{
			int got = 0;

			for (int i = 0; i < n; i++) {
				try {
					got += search(i);
				} catch (std::runtime_error &error) {
					got += error.what()[0] + work(i);
				}
				got += work(i + 1);
			}
			return got;
		}
		int main()
		{
			int got = 0;

			for (int i = 0; i < 5; i++) {
				got += untraced(i);
				if (got % 3 == 0)
					puts("three");
				got += work(i);
			}
			printf("%d\n", got);
			return 0;
		}
	END
}

# A longjmp() to a function that is not traced.
outside_source()
{
	cat >outside.c <<-'END'
		#include <setjmp.h>
		#include <stdio.h>
		#define KEEP __attribute__((noipa))

		static jmp_buf place;
		static volatile int count;

		KEEP static int deep(int n)
		{
			if (n == 0)
				longjmp(place, 3);
			return deep(n - 1) + 1;
		}
		KEEP static int work(int n)
		{
			count += deep(n);
			return count;
		}
		KEEP int untraced(int n)
		{
			if (setjmp(place))
				return n;
			return work(n) + deep(n);
		}
		int main(void)
		{
			for (int i = 0; i < 5; i++) {
				int got = untraced(i);

				count += got;
				printf("%d %d\n", got, count);
			}
			return 0;
		}
	END
}

paths_of_jumps()
{
	if [ "$target" = armel ]; then
		skip "longjmp and exceptions" "LITIFUT_MODE=paths needs ARMv7"
		return
	fi
	export LITIFUT_MODE=paths
	jumps_source
	exceptions_source
	stream_source
	through_source
	outside_source
	# exit() comes to its last system call, behind which all is only possible
	link jumps ../jumps.c -static && same_run jumps && blocks_equal --killed jumps
	for flags in -mlong-calls "-mlong-calls -fno-pie -no-pie" "-mlong-calls -static"; do
		case $flags in *-static) ends=--killed ;; *) ends='' ;; esac
		rm -rf plain traced
		link jumps ../jumps.c && same_run jumps && blocks_equal "$ends" jumps
	done
	rm -rf plain traced
	flags=
	language=g++
	link exceptions ../exceptions.cc -static && same_run exceptions && blocks_equal --killed exceptions
	rm -rf plain traced
	link levels ../levels.cc && same_run levels && blocks_equal "" levels
	rm -rf plain traced
	link stream ../stream.cc && same_run stream && blocks_equal "" stream
	rm -rf plain traced
	export LITIFUT_EXCLUDE='untraced*,_Z8untraced*'
	for flags in -O1 -Os; do
		link through ../through.cc && same_run through && blocks_equal "" through
		rm -rf plain traced
	done
	flags=
	language=gcc
	export LITIFUT_EXCLUDE=untraced
	link outside ../outside.c && same_run outside && blocks_equal "" outside
	unset LITIFUT_EXCLUDE
}

for_targets paths_of_jumps
