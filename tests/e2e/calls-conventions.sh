#!/bin/sh
# Calls that rely on more registers than the procedure call standard promises:
# static chains, many and variable arguments, structs, floats, 64-bit results,
# what -fipa-ra keeps across a call, and the calls of -pg.
. "$(dirname "$0")/../lib.sh"
few_targets armhf armel mipsel

behaviour()
{
	cat >main.c <<-'END'
		#include <complex.h>
		#include <stdarg.h>
		#include <stdint.h>
		#include <stdio.h>
		#define KEEP __attribute__((noipa))
		struct large { int words[10]; };
		struct small { short a; char b; };
		struct floats { double x, y; };
		static KEEP struct large make_large(int x) { struct large l; for (int i = 0; i < 10; i++) l.words[i] = x + i; return l; }
		static KEEP struct small make_small(int x) { return (struct small){(short)x, (char)(x + 1)}; }
		static KEEP struct floats make_floats(double x) { return (struct floats){x, -x}; }
		static KEEP int64_t wide(int64_t a, int b, int64_t c) { return a * b + c; }
		static KEEP double mixed(float a, int b, double c, float d, double e, int f, float g, double h)
		{
			return a + b + c * d + e * f + g * h;
		}
		static KEEP double complex turn(double complex z) { return z * I; }
		static KEEP int sum(int count, ...)
		{
			va_list list;
			int total = 0;
			va_start(list, count);
			while (count--)
				total += va_arg(list, int);
			va_end(list);
			return total;
		}
		static KEEP double sum_doubles(int count, ...)
		{
			va_list list;
			double total = 0;
			va_start(list, count);
			while (count--)
				total += va_arg(list, double);
			va_end(list);
			return total;
		}
		static KEEP int apply(int (*function)(int), int x) { return function(x); }
		/* GCC sees which registers these leave alone and uses them across calls */
		static __attribute__((noinline)) int tiny(int x) { __asm__ volatile(""); return x + 1; }
		static __attribute__((noinline)) unsigned keeps(unsigned a, unsigned b, unsigned c, unsigned d)
		{
			unsigned r = (unsigned)tiny((int)a);
			r = r * b + c;
			r += (unsigned)tiny((int)d) * a;
			return r ^ b ^ (c << 3) ^ (d << 7);
		}
		static __attribute__((noinline)) double keeps_floats(double a, double b, double c)
		{
			double r = tiny((int)a);
			r = r * b + c;
			return r + tiny((int)r) * a;
		}
		static KEEP int64_t divides(int64_t a, int64_t b) { return a / b + a % b; }
		int main(void)
		{
			int base = 40;
			int nested(int x) { return base++ + x; }
			struct large large = make_large(3);
			struct small small = make_small(7);
			struct floats floats = make_floats(1.5);
			printf("%d %d %d %d\n", large.words[0], large.words[9], small.a, small.b);
			printf("%g %g %lld\n", floats.x, floats.y, (long long)wide(1LL << 40, 3, -5));
			printf("%g\n", mixed(1, 2, 3, 4, 5, 6, 7, 8));
			printf("%g %g\n", creal(turn(1 + 2 * I)), cimag(turn(1 + 2 * I)));
			printf("%d %g\n", sum(6, 1, 2, 3, 4, 5, 6), sum_doubles(3, 0.5, 1.5, 2.5));
			printf("%d %d %d\n", nested(1), apply(nested, 2), base);
			for (unsigned i = 0; i < 4; i++)
				printf("%u %g\n", keeps(i, i + 1, i * 7, i ^ 5), keeps_floats(i, 2.5, i + .25));
			printf("%lld\n", (long long)divides(-1234567890123LL, 977));
			return 0;
		}
	END
	for optimisation in -O0 -O2 -Os -O3; do
		flags="$optimisation -fipa-ra -z execstack"
		link "program$optimisation" ../main.c || continue
		same_run "program$optimisation"
		events_equal_calls "program$optimisation"
	done
	flags="-O2 -fno-pie -no-pie -z execstack"
	link program-no-pie ../main.c || return
	same_run program-no-pie
	events_equal_calls program-no-pie

	# GCC's profiler has calls that keep the stack and registers in a way of their own
	flags="-O2 -pg -z execstack"
	link program-profiled ../main.c || return
	same_run program-profiled
	events_equal_calls program-profiled
}

for_targets behaviour
