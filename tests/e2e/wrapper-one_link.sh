#!/bin/sh
# One link is enough: the room and the islands that the inputs seem to need are
# there from the start, for objects, for what is taken from archives of every kind,
# for code that is made in the link and for code far apart.
. "$(dirname "$0")/../lib.sh"
few_targets armhf mips
[ "$TARGETS" = "$all_targets" ] && TARGETS="armhf armel mipsel mips"

# part NAME COUNT BYTES MORE: functions with calls, tail calls and calls through
# pointers all over COUNT times BYTES of code, and MORE bytes that are not executed. A
# fourth of them ends in tail calls, or with a fifth word of 0 all of them.
part()
{
	echo "__asm__(\".text; .balign 4; .type $1_more, %function; $1_more: .space $4; .size $1_more, $4\");"
	echo 'int hop(int); extern int (*volatile other)(int);'
	for i in $(seq 1 "$2"); do
		printf '%s\n' "__attribute__((noipa)) int $1_$i(int x)" "{ __asm__(\".space $3\"); x = hop(x) + other($i);" \
			"return ${5:-$((i % 4))} ? x * 5 - hop(x) : x & 1 ? hop(x) : other(x); }"
	done
	echo "__attribute__((noipa)) int $1(int x) { return 0"
	for i in $(seq 1 "$2"); do
		echo "+ $1_$i(x)"
	done
	echo '; }'
}

# sources BYTES MORE FLAGS: FLAGS are for sections-NAME.o, which are not made without
sources()
{
	for name in a b c d; do
		part $name 60 "$1" "$2" >"part-$name.c"
		flags="-fPIC" compiler -c -o "part-$name.o" "part-$name.c"
		[ -z "$3" ] || flags="-fPIC $3" compiler -c -o "sections-$name.o" "part-$name.c"
	done
	cat >main.c <<-'END'
		#include <stdio.h>
		int a(int), b(int), c(int), d(int);
		__attribute__((noipa)) int hop(int x) { return x + 1; }
		int (*volatile other)(int) = hop;
		int main(void) { printf("%d\n", a(1) + b(2) + c(3) + d(4)); return 7; }
	END
	flags="-fPIC" compiler -c -o main.o main.c
	rm -f ./*.a
	"$triplet-ar" rc libparts.a part-?.o
	"$triplet-ar" rcT libthin.a part-?.o
}

# once NAME ARGUMENTS...: links the program NAME with one run of the linker; no
# call is out of reach, and it does what it did.
once()
{
	name=$1
	shift
	rm -rf plain traced
	LITIFUT_VERBOSE=1 && export LITIFUT_VERBOSE
	mkdir -p traced
	for engine in thunk db; do
		LITIFUT_ENGINE=$engine && export LITIFUT_ENGINE
		(cd traced && front="$BUILD/bin/litifut build -q" compiler -o program "$@") >verbose.log 2>&1
		is "$name, $engine: one run of the linker" "$(grep -c '^litifut-ld: run:' verbose.log)" 1
		is "$name, $engine: the passes of the rewriter are listed, from the first to the last" \
			"$(sed -n 's/^litifut-ld: rewriter: //p' verbose.log | sed -n '1p;$p' | tr '\n' ',')" \
			"find the tracer's module record,save,"
	done
	unset LITIFUT_VERBOSE LITIFUT_ENGINE
	is "$name: no map is made" "$(grep -c -e '-Map=' verbose.log)" 0
	rm -rf traced
	link program "$@" || return
	same_run program
	is "$name: no call is out of reach" \
		"$("$BUILD/bin/litifut" info --json traced/program | grep -c out-of-reach)" 0
}

# Names that all objects call, and static functions of each: a thunk is made once.
many_callees()
{
	for name in a b c d; do
		for i in $(seq 1 90); do
			printf "%s\n" "extern int base; int shared_$i(int);" \
				"static __attribute__((noipa)) int local_$i(int x) { return x + $i + base; }" \
				"int $name$i(int x) { return shared_$i(x) + local_$i(x) * local_$i(x + 1); }"
		done >"callees-$name.c"
	done
	for i in $(seq 1 90); do
		echo "extern int base; int a$i(int), b$i(int), c$i(int), d$i(int); int shared_$i(int x) { return x + base; }"
	done >callees.c
	{
		echo 'int base; int main(void) { return (0'
		for i in $(seq 1 90); do
			echo "+ a$i(1) + b$i(2) + c$i(3) + d$i(4)"
		done
		echo ') & 63; }'
	} >>callees.c
}

# used WHAT: "used of reserved", as verbose.log says it
used()
{
	sed -n "s/.*used:.* \([0-9]* of [0-9]*\) bytes of $1.*/\1/p" verbose.log | tail -n 1
}

room_is_close()
{
	used trampolines | awk '{ exit !($1 <= $3 && $3 <= 1.25 * $1 + 8192) }'
}

guess_is_close()
{
	many_callees
	for more in "" -ffunction-sections; do
		rm -rf traced
		mkdir -p traced
		(cd traced && LITIFUT_VERBOSE=1 front="$BUILD/bin/litifut build -q" compiler $more \
			-o program ../callees.c ../callees-?.c) >verbose.log 2>&1
		is "many callees${more:+, $more}: one run of the linker" \
			"$(grep -c '^litifut-ld: run:' verbose.log)" 1
		ok "many callees${more:+, $more}: room for $(used trampolines) is close" room_is_close
	done
	rm -rf traced
}

# Of the modes that record branches too: a link that is used up is not written to, so that what is
# measured of it is the program that the linker has made.
branches_once()
{
	export LITIFUT_VERBOSE=1 LITIFUT_MODE
	for LITIFUT_MODE in paths coverage; do
		[ "$target" != armel ] || continue
		mkdir -p traced
		(cd traced && front="$BUILD/bin/litifut build -q" compiler -o program ../callees.c ../callees-?.c) \
			>verbose.log 2>&1
		is "$LITIFUT_MODE: the file is written once" "$(grep -c '^litifut-ld: rewriter: save$' verbose.log)" 1
		[ "$LITIFUT_MODE" = coverage ] || # whose flags are not guessed
			is "$LITIFUT_MODE: one run of the linker" "$(grep -c '^litifut-ld: run:' verbose.log)" 1
		rm -rf traced
	done
	unset LITIFUT_VERBOSE LITIFUT_MODE
}

behaviour()
{
	guess_is_close
	branches_once
	sources 1024 4 -ffunction-sections # 240 KiB: more than a branch of MIPS reaches
	once objects ../main.o ../part-a.o ../part-b.o ../part-c.o ../part-d.o
	events_equal_calls program
	once archive ../main.o ../libparts.a
	events_equal_calls program
	once "thin archive" ../main.o ../libthin.a
	once "whole archive" ../main.o -Wl,--whole-archive ../libparts.a -Wl,--no-whole-archive
	once "collected garbage" ../main.o ../sections-a.o ../sections-b.o ../sections-c.o \
		../sections-d.o -Wl,--gc-sections
	once static -static ../main.o ../libparts.a
	if [ "$cpu" != arm ]; then
		# No function makes room for an island: what only a map can tell is asked
		# for in a second link, and used in a third.
		for name in a b c d; do
			part $name 60 1024 4 0 >"part-$name.c"
			flags="-fPIC" compiler -c -o "part-$name.o" "part-$name.c"
		done
		"$triplet-ar" rc libhard.a part-?.o
		rm -rf plain traced
		link program ../main.o ../libhard.a
		same_run program
		is "an archive without hosts: no call is out of reach" \
			"$("$BUILD/bin/litifut" info --json traced/program | grep -c out-of-reach)" 0
	fi
	rm -f ./*.o ./*.a
	for name in a b c d; do
		part $name 20 4 4 >"part-$name.c"
		flags="-fPIC -flto" compiler -c -o "part-$name.o" "part-$name.c"
	done
	flags="-fPIC -flto" compiler -c -o main.o main.c
	flags=-flto
	once "link-time optimisation" ../main.o ../part-a.o ../part-b.o ../part-c.o ../part-d.o
	events_equal_calls program
	flags=
	rm -f ./*.o
	[ "$cpu" = arm ] || return
	sources 4 9000000 '' # 36 MB: more than a branch of ARM reaches
	once "far objects" ../main.o ../part-a.o ../part-b.o ../part-c.o ../part-d.o
	events_equal_calls program
	rm -rf plain traced ./*.o ./*.a
}

for_targets behaviour
