#!/bin/sh
# What stands where the output goes: its mode, its other names and links to it are
# afterwards as the linker alone leaves them. And limits: of the size of files, of
# memory, of the disk; a crash of the wrapper itself.
TARGETS=${TARGETS:-"armhf mipsel"}
. "$(dirname "$0")/../lib.sh"

traced_compiler()
{
	front="$BUILD/bin/litifut build -q" compiler "$@"
}

is_traced()
{
	"$BUILD/bin/litifut" info "$1" | grep -q ': rewritten'
}

# both DESCRIPTION PREPARATION OPTION...: what is there before the link; plain and traced.
both()
{
	description=$1
	preparation=$2
	shift 2
	rm -rf plain traced && mkdir plain traced
	(cd plain && eval "$preparation" && ${compiler:-compiler} -o program ../main.o "$@" &&
		describe) >plain.txt 2>&1
	(cd traced && eval "$preparation" && front="$BUILD/bin/litifut build -q" \
		${compiler:-compiler} -o program ../main.o "$@" && describe) >traced.txt 2>&1
	ok "$description" cmp plain.txt traced.txt
	ok "$description: traced" is_traced traced/program
}

# Names, kinds, modes, numbers of links, and which of them hold anything.
describe()
{
	find . -mindepth 1 -printf '%p %y %m %n %l\n' | sort
	find . -type f -size +0 | sort
}

outputs()
{
	both "no output there" true
	both "a program there" 'cp ../some program; chmod 700 program'
	both "an empty file of mktemp's mode" '>program; chmod 600 program'
	both "an empty file that can't be written" '>program; chmod 444 program'
	both "an empty file with another name" '>program; ln program other'
	both "a program with another name" 'cp ../some program; ln program other'
	both "a link to an empty file" '>file; ln -s file program'
	both "a link to a program" 'cp ../some file; ln -s file program'
	both "a link to nothing" 'ln -s file program'
	both "a link to nothing elsewhere" 'ln -s ../elsewhere program; rm -f ../elsewhere'
	both "with a umask" 'umask 027'
	both "an empty file with a umask" '>program; chmod 666 program; umask 077'
}

# lld replaces whatever was there.
outputs_of_lld()
{
	compiler=with_lld
	both "lld: an empty file of mktemp's mode" '>program; chmod 600 program'
	both "lld: a link to nothing" 'ln -s file program'
	both "lld: another file beside the output" true -Wl,--time-trace
	compiler=compiler
}

with_lld()
{
	${front:-} clang --target="$triplet" -fuse-ld=lld "$@"
}

words()
{
	compiler -o some main.o -Wl,--verbose >plain.txt
	traced_compiler -o some main.o -Wl,--verbose >traced.txt
	ok "--verbose says the same" cmp plain.txt traced.txt
}

# under LIMIT: the exit status of a traced link is that of a plain one, and what a
# failed one leaves is not more.
under()
{
	rm -rf plain traced && mkdir plain traced
	(cd plain && ulimit "$@" && compiler -static -o program ../main.o) >plain.txt 2>&1
	plain=$?
	(cd traced && ulimit "$@" && traced_compiler -static -o program ../main.o) >traced.txt 2>&1
	is "ulimit $*: exit status" $? $plain
	is "ulimit $*: no temporary files" "$(ls -A tmp)" ""
	is "ulimit $*: beside the output" "$(ls -A traced)" "$(ls -A plain)"
}

limits()
{
	for blocks in 1 10 20 40 60 100 1000 100000; do
		under -f $blocks
	done
	for memory in 40000 60000 80000 120000 200000 400000; do
		under -v $memory
	done
	under -n 10
	under -n 20
}

# A linker that brings its caller down, the first time.
crash()
{
	mkdir -p deadly
	real=$(command -v "$triplet-ld")
	cat >deadly/ld <<-END
		#!/bin/sh
		[ -f "$(pwd)/was-run" ] && exec "$real" "\$@"
		echo half >"$(pwd)/was-run"
		kill -SIGNAL \$PPID
		exec sleep 10
	END
	ln -sf "$BUILD/bin/litifut-ld" ld
	compiler -c -o main.o main.c
	for signal in SEGV BUS ABRT; do
		sed "s/SIGNAL/$signal/" deadly/ld >deadly/ld.$signal
		rm -rf was-run deadly.$signal && mkdir deadly.$signal
		mv deadly/ld.$signal deadly.$signal/ld && chmod +x deadly.$signal/ld
		(cd traced && rm -f program && LITIFUT=1 COMPILER_PATH=$(pwd)/../deadly.$signal ../ld -e main \
			--unresolved-symbols=ignore-all -o program ../main.o) >crash.txt 2>&1
		is "SIG$signal in the wrapper: exit status" $? 0
		is "SIG$signal in the wrapper: one line" "$(cat crash.txt)" \
			"litifut-ld: warning: program: left untraced: internal error"
		ok "SIG$signal in the wrapper: the linker's output" \
			"$triplet-readelf" -h traced/program
		is "SIG$signal in the wrapper: no temporary files" "$(ls -A tmp traced)" "$(printf 'tmp:\n\ntraced:\nprogram')"
		rm -f was-run
		(cd traced && rm -f program && LITIFUT=1 LITIFUT_STRICT=1 COMPILER_PATH=$(pwd)/../deadly.$signal \
			../ld -e main --unresolved-symbols=ignore-all -o program ../main.o) >crash.txt 2>&1
		is "SIG$signal in the wrapper, strict" $? 1
		is "SIG$signal in the wrapper, strict: no output" "$(ls -A traced)" ""
	done
}

# Of the room on a disk little is left, then less.
full_disk()
{
	mkdir -p disk
	if ! mount -t tmpfs -o size=2m tmpfs disk 2>/dev/null; then
		skip "a full disk" "no disk can be mounted"
		return
	fi
	for kilobytes in 0 1200 1800 2000; do
		rm -rf disk/* && mkdir disk/tmp
		dd if=/dev/zero of=disk/filler bs=1024 count=$kilobytes 2>/dev/null
		(cd disk && compiler -static -o program ../main.o) >plain.txt 2>&1
		plain=$?
		rm -f disk/program
		(cd disk && TMPDIR=$(pwd)/tmp traced_compiler -static -o program ../main.o) >traced.txt 2>&1
		is "a disk with $kilobytes KB less: exit status" $? $plain
		is "a disk with $kilobytes KB less: nothing beside the output" \
			"$(find disk -mindepth 1 ! -name program ! -name filler ! -name tmp)" ""
	done
	umount disk
	mount -t tmpfs -o size=16k tmpfs disk
	rm -rf plain traced && mkdir plain traced
	(cd plain && compiler -o program ../main.o) >plain.txt 2>&1
	(cd traced && TMPDIR=$(pwd)/../disk traced_compiler -o program ../main.o) >traced.txt 2>&1
	is "a TMPDIR that is full: exit status" $? 0
	ok "a TMPDIR that is full: the plain linker's bytes" cmp plain/program traced/program
	ok "a TMPDIR that is full: what is reported" grep -q \
		"^litifut-ld: warning: program: left untraced: $(pwd)/traced/../disk/.*: cannot be written: No space left" traced.txt
	is "a TMPDIR that is full: nothing is left" "$(ls -A disk)" ""
	umount disk
}

# A file that can be written to, in a folder that can't, as containers have them.
bound_output()
{
	mkdir -p fixed
	: >fixed/program
	if ! mount --bind fixed fixed 2>/dev/null; then
		skip "an output in a read-only folder" "nothing can be mounted"
		return
	fi
	for linker in bfd gold; do
		for front in "" "$BUILD/bin/litifut build -q"; do
			echo old >bound && chmod 600 bound
			mount --bind bound fixed/program
			mount -o remount,ro,bind fixed
			(cd fixed && compiler -fuse-ld=$linker -o program ../main.o) >bound.txt 2>&1
			is "an output in a read-only folder, $linker: exit status" $? 0
			is "an output in a read-only folder, $linker: words" "$(cat bound.txt)" ""
			[ -n "$front" ] || mode=$(stat -c %a bound)
			umount fixed/program
			mount -o remount,rw,bind fixed
		done
		front=
		ok "an output in a read-only folder, $linker: traced" is_traced bound
		is "an output in a read-only folder, $linker: its mode" "$(stat -c %a bound)" "$mode"
		is "an output in a read-only folder, $linker: nothing beside it" "$(ls -A fixed tmp)" \
			"$(printf 'fixed:\nprogram\n\ntmp:')"
	done
	umount fixed
}

behaviour()
{
	mkdir tmp traced
	TMPDIR=$(pwd)/tmp
	export TMPDIR
	printf '%s\n' '#include <stdio.h>' 'int main(void) { return puts("hello") < 0; }' >main.c
	compiler -c -o main.o main.c
	compiler -o some main.o
	outputs
	outputs_of_lld
	words
	limits
	crash
	full_disk
	bound_output
	rm -rf traced && mkdir traced
	(cd traced && TMPDIR=$(pwd)/nowhere traced_compiler -o program ../main.o) >traced.txt 2>&1
	is "a TMPDIR that is not there: no word" "$(cat traced.txt)" ""
	ok "and traced" is_traced traced/program
	unset TMPDIR
}

for_targets behaviour
