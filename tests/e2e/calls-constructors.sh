#!/bin/sh
# Calls before main and after it: constructors, initialisers of C++ objects,
# atexit, destructors, indirect functions' resolvers.
. "$(dirname "$0")/../lib.sh"

behaviour()
{
	cat >main.cc <<-'END'
		#include <cstdio>
		#include <cstdlib>
		#include <string>
		#define KEEP __attribute__((noipa))
		KEEP static int work(const char *where) { int n = std::printf("%s\n", where); __asm__ volatile(""); return n; }
		struct object {
			std::string name;
			explicit object(const char *n) : name(n) { work("object made"); __asm__ volatile(""); }
			~object() { work("object gone"); __asm__ volatile(""); }
		};
		static object global("global");
		static void last() { work("atexit"); __asm__ volatile(""); }
		__attribute__((constructor(101))) static void early() { work("early"); __asm__ volatile(""); }
		__attribute__((constructor)) static void constructor() { work("constructor"); __asm__ volatile(""); }
		__attribute__((destructor)) static void destructor() { work("destructor"); __asm__ volatile(""); }
		int main()
		{
			static object local("local");
			std::atexit(last);
			work("main");
		}
	END
	language=g++
	for flags in -pie -static; do
		link program ../main.cc || continue
		same_run program
		events_equal_calls program
		is "$flags: all calls of work are recorded" "$(recorded_like work)" 9
		rm -rf plain traced
	done
}

# the names of C++ functions may be shown with or without their arguments
recorded_like()
{
	awk -F '\t' -v name="$1" '
		NR == 1 { for (i = 1; i <= NF; i++) if ($i == "callee") column = i; next }
		$column ~ "(^|ZL[0-9]+)" name { count++ }
		END { print count + 0 }' events.tsv
}

for_targets behaviour
