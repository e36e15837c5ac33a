#!/bin/sh
# The last line of `litifut build': what the links came to. Its exit status and signals are the command's.
TARGETS=${TARGETS:-"armhf mips"}
. "$(dirname "$0")/../lib.sh"

# says DESCRIPTION LINE COMMAND...: what build writes to stderr, warnings of links aside
says()
{
	says_description=$1
	says_line=$2
	shift 2
	"$BUILD/bin/litifut" build "$@" 2>build.err >/dev/null
	is "$says_description" "$(grep '^litifut: ' build.err | sed 's/ [.]init: 0x[0-9a-f]*://')" "$says_line"
}

behaviour()
{
	cat >main.c <<-'END'
		#include <stdio.h>
		int main(void) { return puts("hello") < 0; }
	END
	compiler -c -o main.o main.c
	mkdir tmp
	TMPDIR=$(pwd)/tmp
	export TMPDIR
	says "a traced program: how many" "litifut: 1 linked file traced" \
		"$triplet-gcc" main.o -o program
	says "a traced program without a name" "litifut: 1 linked file traced" "$triplet-gcc" main.o
	says "no link" "litifut: nothing is traced: no link was seen; delete linked files, so that they are made again" \
		"$triplet-gcc" -c main.c
	says "a failed command: nothing" "" "$triplet-gcc" -c nosuch.c
	says "a command that fails after a link" "litifut: the command has failed; before that 1 linked file traced" \
		sh -c "$triplet-gcc main.o -o program && exit 3"
	says "no link for the device" "litifut: nothing is traced: no link was of a program or library for 32-bit ARM, MIPS or AVR" \
		"$triplet-gcc" -r main.o -o partial.o
	says "one that stays plain" "litifut: 0 linked files traced, 1 left plain: a.out" \
		"$triplet-gcc" -no-pie -Wl,-Ttext-segment=0x8000 main.o
	is "whose own line says why" "$(grep -c 'litifut-ld: warning: .*a.out: left untraced: .*code below 0x10000 ' build.err)" 1
	says "a trial of configure" "litifut: nothing is traced yet: the links were trials of a configure script; run the build with \`litifut build', too" \
		sh -c "$triplet-gcc -r main.o -o partial.o && $triplet-gcc main.o -o conftest"
	says "a makefile that tries an option" "litifut: 1 linked file traced" \
		sh -c "$triplet-gcc main.o -o /dev/null && $triplet-gcc main.o -o program"
	says "a link that stays plain" "litifut: 0 linked files traced, 1 left plain: program" \
		"$triplet-gcc" -no-pie -Wl,-Ttext-segment=0x8000 main.o -o program
	says "one of two" "litifut: 1 linked file traced, 1 left plain: program: code below 0x10000 can't be traced" \
		sh -c "$triplet-gcc -no-pie -Wl,-Ttext-segment=0x8000 main.o -o program && $triplet-gcc main.o -o other"
	# without the plugin collect2 links, compiles, and links again
	says "a program that is linked twice" "litifut: 1 linked file traced" \
		"$triplet-gcc" -flto -fno-use-linker-plugin main.c -o program
	says "one of them not as the other" "litifut: 1 linked file traced" \
		sh -c "$triplet-gcc -no-pie -Wl,-Ttext-segment=0x8000 main.o -o program && $triplet-gcc main.o -o program"
	mkdir one other_folder
	says "two of the same name, in two folders" "litifut: 2 linked files traced" \
		sh -c "(cd one && $triplet-gcc ../main.o -o same) && cd other_folder && $triplet-gcc ../main.o -o same"
	echo 'void special(void) {}' >special.c
	LITIFUT_EXCLUDE=special says "two, where a setting names nothing in one that is linked twice" \
		"litifut: 2 linked files traced" \
		sh -c "$triplet-gcc main.o special.c -o program && $triplet-gcc main.o -o other && $triplet-gcc main.o -o other"
	says "a nested build: one line" "litifut: nothing is traced: no link was seen; delete linked files, so that they are made again" \
		"$BUILD/bin/litifut" build true
	LITIFUT_ENGINE=thunks says "an ignored setting" \
		"litifut: 2 linked files traced; LITIFUT_ENGINE=thunks: ignored, as it is none of thunk, db; did you mean thunk?" \
		sh -c "$triplet-gcc main.o -o program && $triplet-gcc main.o -o other"
	LITIFUT_DEDUP=1 LITIFUT_CLOCK=mono says "settings of the run, at the link" \
		"litifut: 1 linked file traced; the link does not use LITIFUT_CLOCK, LITIFUT_DEDUP: set that where the program runs, or in LITIFUT_DEFAULTS" \
		"$triplet-gcc" main.o -o program
	LITIFUT_DEDUP=1 LITIFUT_DEFAULTS=LITIFUT_DEDUP=1 LITIFUT_DIR=$(pwd)/data says "those that the program has got, and its folder" \
		"litifut: 1 linked file traced" "$triplet-gcc" main.o -o program
	says "strict, no link for the device" "litifut: nothing is traced: no link was of a program or library for 32-bit ARM, MIPS or AVR" \
		--strict "$triplet-gcc" -r main.o -o partial.o
	"$BUILD/bin/litifut" build --strict "$triplet-gcc" -r main.o -o partial.o 2>/dev/null
	is "strict, no link for the device: exit status" $? 1
	"$BUILD/bin/litifut" build --strict true 2>/dev/null
	is "strict, nothing to link: exit status" $? 0
	"$BUILD/bin/litifut" build sh -c 'exit 7' 2>/dev/null
	is "exit status" $? 7
	"$BUILD/bin/litifut" build nosuch-command 2>/dev/null
	is "exit status: no such command" $? 127
	"$BUILD/bin/litifut" build sh -c 'kill -TERM $$' 2>/dev/null
	is "a signal that ends the command ends build" $? 143
	# shellcheck disable=SC2009
	"$BUILD/bin/litifut" build sh -c 'echo $$ >child; exec sleep 100' 2>/dev/null &
	while [ ! -s child ]; do sleep 0.1; done
	kill -TERM $!
	wait $!
	is "a signal to build ends it as well" $? 143
	ok "and its command" sh -c "! kill -0 $(cat child) 2>/dev/null"
	is "no file is left" "$(find tmp -name 'litifut-build-*')" ""
}

# What README.md tells a user to type, on a program with a library in a folder, in qemu-user.
readme()
{
	behaviour
	[ "$target" = armhf ] || return 0
	rm -rf readme && mkdir readme && cd readme || return
	cat >core.c <<-'END'
		__attribute__((noipa)) int hash(int n) { int h = 0; while (n--) h = h * 33 + n; return h; }
		int work(int n) { return hash(n) + hash(n / 2); }
	END
	cat >main.c <<-'END'
		#include <stdio.h>
		int work(int);
		int main(void) { int s = 0; for (int i = 0; i < 90; i++) s += work(i); return printf("%d\n", s) < 0; }
	END
	printf '%s\n' "CC = $triplet-gcc" 'CFLAGS = -O2 -fPIC' 'PROGRAM: main.o lib/libcore.so' \
		"	\$(CC) -o \$@ main.o -Llib -lcore '-Wl,-rpath,\$(CURDIR)/lib'" 'lib/libcore.so: core.o' \
		"	mkdir -p lib && \$(CC) -shared -o \$@ core.o" >makefile
	for mode in spans paths; do
		{
			sed -n "s/^    LITIFUT_MODE=spans \(litifut build make\) .*/LITIFUT_MODE=$mode \1/p" "$root/README.md"
			sed -n 's/.*`\(qemu-arm [^`]*\)`.*/\1/p' "$root/README.md"
			case $mode in
			spans) sed -n 's/^    \(litifut-post -f report [^#]*\).*/\1/p' "$root/README.md" ;;
			paths) sed -n 's/.*`\(litifut-post -f html -o report.html [^`…]*\)`.*/\1/p' "$root/README.md" ;;
			esac
		} >commands
		is "README.md: $mode: its commands are found" "$(wc -l <commands)" 3
		rm -rf PROGRAM lib litifut-data
		ok "README.md: $mode: they run" sh -c 'PATH=$1:$PATH sh -e commands >shown' sh "$BUILD/bin"
		[ $mode = paths ] ||
			ok "README.md: functions of the program and of its library" sh -c 'grep "work \[libcore.so\]" shown && grep "main \[PROGRAM\]" shown'
	done
	ok "README.md: a page with executed instructions" grep -q '"instructions":\[[0-9,]*[1-9]' report.html
}

for_targets readme
