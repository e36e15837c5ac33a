#!/bin/sh
# Where names and lines come from: C++ and Rust as their authors wrote them, the
# device's stripped file with the build tree's, each kind of debug file, source
# lines, a table for each module.
. "$(dirname "$0")/../lib.sh"

post="$BUILD/bin/litifut-post -q --no-maps-paths"

# Callers and callees by name, those of start-up files and of the C library left out.
names()
{
	$post -f tsv "$@" 2>/dev/null | awk -F '\t' 'NR > 1 { print $6; print $10 }' |
		grep -v '@plt\|^_[^ZR]\|^call_\|^frame_\|register_tm\|+0x' | LC_ALL=C sort -u
}

behaviour()
{
	cat >library.cc <<-'END'
		#define KEEP __attribute__((noipa))
		#pragma GCC visibility push(hidden)
		namespace shape {
		struct Box { int side; KEEP int area() const { return side * side; } };
		template <class T> KEEP T twice(T x) { return x + x; }
		}
		#pragma GCC visibility pop
		static KEEP int hidden(int x) { return x + 1; }
		extern "C" KEEP int ours(int x)
		{
			shape::Box box = {x};
			return hidden(box.area()) + shape::twice(x);
		}
	END
	cat >main.c <<-'END'
		#include <stdio.h>
		#define KEEP __attribute__((noipa))
		/* as rustc names them, in its first manner and in its second */
		static KEEP int first(int x) __asm__("_ZN7mycrate5first17h0123456789abcdefE");
		static KEEP int second(int x) __asm__("_RNvNtCs1234_7mycrate5inner6second");
		int ours(int x);
		static KEEP int first(int x) { return x + 2; }
		static KEEP int second(int x)
		{
			return first(x) +
			       first(x + 1);
		}
		int main(void)
		{
			printf("%d\n", second(1) + ours(3));
			return 0;
		}
	END
	language=g++
	link libours.so -fPIC -shared -Wl,--build-id ../library.cc || return
	language=gcc
	link program -Wl,--build-id ../main.c -L. -lours || return
	same_run program
	cat >expected <<-'END'
		hidden(int)
		int shape::twice<int>(int)
		main
		mycrate::first
		mycrate::inner::second
		ours
		shape::Box::area() const
	END
	names data traced/program traced/libours.so >shown
	ok "C++ and Rust names" diff expected shown
	ok "or as in the symbol table" grep -q '_ZN7mycrate5first17h0123456789abcdefE' <<-END
		$(names --no-demangle data traced/program traced/libours.so)
	END

	ok "a part of a C++ name that is misspelt: what was meant" sh -c \
		'"$1" callers-of aera data traced/program traced/libours.so 2>&1 | grep "and no function of that name; there is shape::Box::area() const"' \
		sh "$BUILD/bin/litifut-post"

	mkdir device debug "debug/.build-id"
	for file in program libours.so; do
		"$triplet-strip" -o device/$file traced/$file
		"$triplet-objcopy" --only-keep-debug traced/$file debug/$file.debug 2>/dev/null
		id=$("$triplet-readelf" -n traced/$file | sed -n 's/.*Build ID: //p')
		rest=${id#??}
		mkdir -p "debug/.build-id/${id%"$rest"}"
		cp debug/$file.debug "debug/.build-id/${id%"$rest"}/$rest.debug"
	done
	names data device >shown
	ok "a stripped file has no names for them" [ "$(grep -c 'mycrate\|hidden' shown)" = 0 ]
	"$BUILD/bin/litifut-post" -q data device >shown 2>told
	is "and a line says what is missing" "$(grep -c 'has no symbol table (stripped)' told)" 2
	"$BUILD/bin/litifut-post" -q data device traced/program traced/libours.so >shown 2>told
	is "or not, when it isn't" "$(grep -c 'no symbol table' told)" 0
	names data device traced/program traced/libours.so >shown
	ok "the build tree's files name them" diff expected shown
	rm debug/*.debug
	names data --debug-dir debug device >shown
	ok "the build-id tree names them" grep -q 'mycrate::inner::second' shown
	ok "and those of the library" grep -q 'shape::Box::area() const' shown
	rm -r debug/.build-id
	for file in program libours.so; do
		"$triplet-objcopy" --only-keep-debug traced/$file debug/$file.dbg 2>/dev/null
		(cd debug && "$triplet-objcopy" --add-gnu-debuglink=$file.dbg ../device/$file)
	done
	names data device >shown
	ok ".gnu_debuglink alone does not find them elsewhere" [ "$(grep -c mycrate shown)" = 0 ]
	names data --debug-dir debug device >shown
	ok ".gnu_debuglink names them" grep -q 'mycrate::inner::second' shown
	mkfifo device/program.dbg
	timeout 60 "$BUILD/bin/litifut-post" -q -o report.txt -f report data device 2>told
	ok "a FIFO in the place of a debug file does not block" [ $? -lt 2 ]
	rm device/program.dbg
	for file in program libours.so; do
		"$triplet-strip" --strip-debug -o debug/mini debug/$file.dbg 2>/dev/null
		xz -kf debug/mini
		"$triplet-objcopy" -R .gnu_debuglink --add-section .gnu_debugdata=debug/mini.xz \
			device/$file
	done
	names data device >shown
	ok ".gnu_debugdata names them" grep -q 'mycrate::inner::second' shown
	ok "and those of the library" grep -q 'shape::Box::area() const' shown

	first=$(($(grep -n 'return first(x) +' main.c | cut -d: -f1)))
	$post callers-of mycrate::first --lines data traced/program traced/libours.so >shown
	ok "the line of a call" grep -q "main.c:$first" shown
	ok "its file has a path from the root" grep -q " /[^ ]*/main.c:$first" shown
	ok "and of the second one on the next line" grep -q "main.c:$((first + 1))" shown
	cat >inlined.c <<-'LINES'
		__attribute__((noipa)) int leaf(int x) { return x * 3; }
		static inline __attribute__((always_inline)) int inner(int x) { return leaf(x) + 1; }
		static inline __attribute__((always_inline)) int outer(int x) { return inner(x) + 2; }
		int main(void)
		{
			return outer(1) +
			       outer(2);
		}
	LINES
	link inlined ../inlined.c -g
	rm -rf inlined.data
	guest_environment="LITIFUT_DIR=$(pwd)/inlined.data"
	run traced inlined
	guest_environment=
	"$BUILD/bin/litifut-post" -q callers-of leaf --lines inlined.data traced/inlined >shown
	is "the lines of inlined calls" "$(grep -o 'inlined.c:[0-9]*' shown | tr '\n' ' ')" \
		"inlined.c:2 inlined.c:3 inlined.c:6 inlined.c:2 inlined.c:3 inlined.c:7 "
	$post -f callgrind --lines data traced/program traced/libours.so >shown
	ok "callgrind names the source file" grep -q '^fl=.*main.c$' shown
	ok "and the line" grep -q "^0x[0-9a-f]* $first [0-9]" shown
	$post -f report --by-module data traced/program traced/libours.so >shown
	is "a table for each module" \
		"$(sed -n '/libours.so/,/^$/p' shown | grep -c 'shape::Box::area() const\|hidden(int)')" 2
	is "with the program's functions in its own" \
		"$(sed -n '/libours.so/,/^$/p' shown | grep -c 'mycrate')" 0
}
for_targets behaviour
