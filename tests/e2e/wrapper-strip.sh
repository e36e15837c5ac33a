#!/bin/sh
# -s, -S and -x in the link leave what they leave without LITIFUT (the names that -s
# takes are kept in a file beside the output), and strip,
# objcopy and install -s afterwards keep a rewritten program working.
. "$(dirname "$0")/../lib.sh"
few_targets armhf mips

names()
{
	"$triplet-nm" "$1" 2>/dev/null | awk '$NF == "main" || $NF == "helper" { print $NF }'
}

has_debug_info()
{
	readelf -SW "$1" | grep -c '\.debug_info'
}

traced_calls()
{
	rm -rf data
	guest_environment="LITIFUT_DIR=$(pwd)/data" run traced "$1"
	"$BUILD/bin/litifut-post" -f tsv -o events.tsv data/trace data/maps traced/* >post.log 2>&1
	awk 'END { print NR - 1 }' events.tsv
}

# What -s takes away is kept beside the program, and found there: also what `paths` needs of it.
names_of_a_stripped_link()
{
	is "-s: the names are kept beside the program" "$(cd traced && echo *)" "program program.litifut.debug"
	is "and are not programs" "$(find traced -perm /111 -type f | sort)" traced/program
	traced_calls program >counted
	is "litifut-post finds them" "$(cut -f 6,10 events.tsv | grep -c '^main.helper$')" 2
	rm -rf data
	guest_environment="LITIFUT_DIR=$(pwd)/data" run traced program
	is "also for the program alone" "$("$BUILD/bin/litifut-post" -f edges data traced/program 2>&1 | grep -c 'main -> helper')" 1
	mkdir -p device
	cp traced/program device
	"$BUILD/bin/litifut-post" -f edges -o edges.txt data device/program >told 2>&1
	is "a copy without them says where they are" "$(grep -c 'that is NAME.litifut.debug beside it' told)" 1
	is "conftest keeps none" "$(mkdir -p trial && cd trial && front="$BUILD/bin/litifut build -q" compiler ../main.c -Wl,-s \
		-o conftest 2>/dev/null && echo *)" conftest
	[ "$target" != armel ] || return # CPUs before ARMv7 have no `paths`
	(cd traced && LITIFUT_MODE=paths front="$BUILD/bin/litifut build -q" compiler ../main.c -Wl,-s -o program) >traced.log 2>&1
	is "no word of them" "$(own_words traced.log)" ""
	rm -rf data
	guest_environment="LITIFUT_DIR=$(pwd)/data" run traced program
	is "paths are found by them" "$("$BUILD/bin/litifut-post" -f coverage data traced/program 2>&1 | grep -c '\(^\|[ /]\)main\b')" 1
}

behaviour()
{
	cat >main.c <<-'END'
		#include <stdio.h>
		static __attribute__((noipa)) int helper(int value) { return value + 1; }
		int main(void)
		{
			printf("%d\n", helper(helper(1)));
			return 5;
		}
	END
	for option in -s -S -x; do
		rm -rf plain traced
		link program ../main.c -Wl,$option
		same_run program
		is "$option leaves the same symbols" "$(names traced/program)" "$(names plain/program)"
		is "$option leaves the same debug information" "$(has_debug_info traced/program)" \
			"$(has_debug_info plain/program)"
		if [ $option = -s ]; then
			names_of_a_stripped_link
		else
			is "$option: nothing else is left in the folder" "$(ls -A traced)" program
		fi
	done
	rm -rf plain traced
	link program ../main.c
	cp traced/program whole
	calls=$(traced_calls program)
	for command in "$triplet-strip" "$triplet-strip -g" "$triplet-strip --strip-unneeded" \
		"$triplet-strip -x" "$triplet-strip -R .comment" "$triplet-objcopy --strip-debug" \
		"$triplet-objcopy --compress-debug-sections" "$triplet-objcopy --weaken" \
		eu-strip "eu-strip --strip-sections" eu-elfcompress dwz "chrpath -d" \
		"patchelf --set-rpath /no/such/folder" "patchelf --add-needed libm.so.6"; do
		# what it makes of big-endian MIPS programs does not start, traced or not
		[ "$target ${command%% *}" = "mips patchelf" ] && continue
		cp whole traced/program
		# shellcheck disable=SC2086
		ok "$command takes it" $command traced/program
		same_run program
		is "the calls are recorded as before" "$(traced_calls program)" "$calls"
	done
	cp whole traced/program
	ok "a separate debug file is made" sh -c "$triplet-objcopy --only-keep-debug whole program.debug &&
		$triplet-strip traced/program && $triplet-objcopy --add-gnu-debuglink=program.debug traced/program"
	same_run program
	is "the calls are recorded as before" "$(traced_calls program)" "$calls"
	ok "install -s takes it" install -s --strip-program="$triplet-strip" whole traced/program
	same_run program
	is "only a file with symbols shows how large the tracer is" \
		"$("$BUILD/bin/litifut" info whole traced/program | grep -c '^ *tracer ')" 1
}

for_targets behaviour
