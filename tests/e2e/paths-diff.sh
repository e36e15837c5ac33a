#!/bin/sh
# litifut-post path-diff: it prints where two runs part, with thread, activation and line, and of seven programs
# with faults (tests/faults) the first ten lines have the line that the repair changes, whether the good runs
# are those of the faulty program that went well or those of the repaired one. Good and bad runs have other
# seeds, so that they differ in much else.
. "$(dirname "$0")/../lib.sh"
few_targets armhf mipsel

faults=$root/tests/faults
export LITIFUT_MODE=paths

# Prints the seeds with which a program, compiled for this machine, ends with the status, at most COUNT.
# seeds PROGRAM STATUS FIRST COUNT
seeds()
{
	seed=$3
	found=0
	while [ "$found" -lt "$4" ] && [ "$seed" -lt $(($3 + 200)) ]; do
		"../host/$1" "$seed" >/dev/null
		[ $? != "$2" ] || { echo "$seed" && found=$((found + 1)); }
		seed=$((seed + 1))
	done
}

# Faulty and repaired sources of a program in folders of these names.
sources()
{
	mkdir -p faulty repaired
	sed '/repair: insert/d' "$faults/$1.c" >"faulty/$1.c"
	sed '/repair: delete/d' "$faults/$1.c" >"repaired/$1.c"
}

# The lines of faulty/NAME.c that the repair deletes, and those with code around what it inserts.
repaired_lines()
{
	awk -v name="$1" '
		{ inserted = /repair: insert/ }
		!inserted { number++ }
		/repair: delete/ || (!inserted && after && /[;(]/) { print name ".c:" number }
		inserted && before { print name ".c:" before }
		{ after = inserted }
		!inserted { before = /[;(]/ ? number : 0 }' "$faults/$1.c" | sort -u
}

# "file.c:3 4 *7 .. 9 < other.c:5" has these lines, each with the name of its file
spelled_out()
{
	head -n 10 "$1" | tr -s ' ,;' '\n' | awk '
		/^\*?[a-z_]+\.[ch]:[0-9]+$/ { sub(/^\*/, ""); print; sub(/:.*/, ""); file = $0; next }
		/^\*?[0-9]+$/ && file { sub(/^\*/, ""); print file ":" $0; next }
		!/^\.\.$/ { file = "" }' | sort -u
}

names_the_line()
{
	spelled_out "$1" >spelled.out
	repaired_lines "$2" >repaired.lines
	grep -Fxf repaired.lines spelled.out || { cat "$1" repaired.lines && false; }
}

# record FOLDER VERSION PROGRAM SEED...: one trace a seed
record()
{
	record_folder=$1
	version=$2
	program=$3
	shift 3
	for seed; do
		env -i LITIFUT_DIR="$(pwd)/$record_folder/$seed" timeout 60 "qemu-$cpu" -L "$sysroot" \
			"$version/$program" "$seed" >/dev/null
	done
}

path_diff()
{
	"$BUILD/bin/litifut-post" path-diff "$@" 2>diff.err
}

# line_of TEXT FILE
line_of()
{
	grep -Fn "$1" "$2" | cut -d : -f 1
}

fault()
{
	sources "$1"
	for version in faulty repaired; do
		(cd $version && front="$BUILD/bin/litifut build -q" compiler -I"$faults/node" -o "$1" "$1.c" ../node/*.o) \
			>link.log 2>&1 || ok "$1: link" show_and_fail link.log
	done
	# shellcheck disable=SC2046
	record "$1.good" faulty "$1" $(seeds "$1.faulty" 0 1 3)
	# shellcheck disable=SC2046
	record "$1.bad" faulty "$1" $(seeds "$1.faulty" 1 1 3)
	# shellcheck disable=SC2046
	record "$1.repaired" repaired "$1" $(seeds "$1.repaired" 0 1001 3)
	path_diff --top 50 "$1.good" "$1.bad" "faulty/$1" >same.out
	is "$1: runs of one build" "$(cat diff.err)" "litifut-post path-diff: 3 good runs, 3 bad ones, 0 gaps"
	path_diff --top 50 "$1.repaired" "$1.bad" "faulty/$1" "repaired/$1" >two.out
	is "$1: the builds, and runs" "$(cat diff.err)" "litifut-post path-diff: GOOD and BAD are of different builds of $1: what is \
compared are lines, counted from the start of their function; where it has changed, differences may come from that
litifut-post path-diff: 3 good runs, 3 bad ones, 0 gaps"
	ok "$1: the line is among the first ten, beside the repaired program" names_the_line two.out "$1"
	[ "$2" != same ] || ok "$1: the same, beside runs of the same program" names_the_line same.out "$1"
	[ "$2" = same ] || ok "$1: beside runs of the same program the line that fails" \
		grep -q "$1.c:.* $(line_of "$2" "faulty/$1.c") .*" same.out
	is "$1: nothing is only in good runs when compared with themselves" \
		"$(path_diff "$1.good" "$1.good" "faulty/$1" | sed 's/.*: //')" \
		"$(printf '%s\n' "all that is compared is the same as in GOOD process $(first_process "$1.good")" \
			"no path is in BAD runs only")"
}

first_process()
{
	find "$1" -name '*.trace*' | sort -V | head -n 1 | sed 's/.*\.\([0-9]*\)\.trace.*/\1/'
}

# The third call of work() in the second thread goes another way; the order of threads is that of their starts.
parting()
{
	cat >parting.c <<-'END'
		#include <pthread.h>
		#include <stdio.h>
		static int other;
		__attribute__((noipa)) static int work(int number)
		{
			int sum = 0;
			for (int i = 0; i < number; i++)
				sum += i ^ 5;
			if (number == other)
				printf("%d\n", sum);
			else
				puts("other");
			return sum;
		}
		static void *thread(void *argument)
		{
			int *from = argument;
			for (int i = 0; i < 6; i++)
				*from += work(i);
			return argument;
		}
		int main(int count, char **arguments)
		{
			int sum = 0;
			pthread_t one;
			(void)arguments;
			other = count == 2 ? 2 : 99;
			pthread_create(&one, NULL, thread, &sum);
			pthread_join(one, NULL);
			printf("%d\n", sum);
			return 0;
		}
	END
	mkdir -p traced
	(cd traced && front="$BUILD/bin/litifut build -q" compiler -pthread -o parting ../parting.c)
	env -i LITIFUT_DIR="$(pwd)/good" timeout 60 "qemu-$cpu" -L "$sysroot" traced/parting >good.out
	env -i LITIFUT_DIR="$(pwd)/bad" timeout 60 "qemu-$cpu" -L "$sysroot" traced/parting bad >bad.out
	path_diff --top 1 good bad traced/parting | tail -n 1 >row.out
	path_diff good bad traced/parting >parting.out
	is "the thread, the activation and the lines at which they part" \
		"$(sed -n 's/.*up to \(.*:[0-9]*\) in activation/\1 in activation/p' parting.out | tail -n 1)" \
		"parting.c:9 in activation 3 of work, called at parting.c:19; then GOOD parting.c:12, BAD parting.c:10"
	ok "the path of bad runs alone" grep -q '1/1 .* work:.*parting.c:.*\*10' parting.out
	is "--top" "$(grep -c parting.c: row.out)" 1
	path_diff good nothing_there traced/parting >none.out
	is "a side without a trace: exit status, output" "$? $(cat none.out)" "1 "
	ok "a side without a trace: it is named" grep -q 'nothing_there: no trace of the BAD side' diff.err
	path_diff good >none.out
	is "one side only: exit status" $? 2
}

behaviour()
{
	case $target in
	armhf* | mips*) ;;
	*)
		skip "path-diff" "LITIFUT_MODE=paths is not there"
		return
		;;
	esac
	unset LITIFUT_EXCLUDE
	parting
	# small parts of the node that do the same everywhere are not recorded, as on a node with little memory
	LITIFUT_EXCLUDE="crc_*,node_random,energy_*,tasks_are_there,__aeabi_*"
	export LITIFUT_EXCLUDE
	mkdir -p node
	(cd node && compiler -c "$faults"/node/*.c)
	# the path of the cause is in good runs, too, that need the component once
	fault voltage "if (state != S_IDLE)"
	fault power same
	fault eeprom same
	fault buffer same
	# two CPUs, as what they show of the rest is the same
	case $target in
	armhf | mipsel) ;;
	*) [ -n "${LONG:-}" ] || return ;;
	esac
	fault radio same
	fault join same
	# the loop that runs too long is farther from what fails than a row shows
	fault lookup "if (post(sample_task) == SUCCESS)"
}

# Which seeds are good is the same everywhere.
host_programs()
{
	mkdir -p host/node
	(cd host/node && gcc -c "$faults"/node/*.c)
	for each in voltage power eeprom buffer radio lookup join; do
		for version in faulty repaired; do
			sed "/repair: $([ $version = faulty ] && echo insert || echo delete)/d" \
				"$faults/$each.c" >"host/$each.$version.c"
			gcc -O1 -I"$faults/node" -o "host/$each.$version" "host/$each.$version.c" host/node/*.o
		done
	done
}
need_build
mkdir -p "$BUILD/tests/e2e/$script"
(cd "$BUILD/tests/e2e/$script" && rm -rf host && host_programs)
for_targets behaviour
