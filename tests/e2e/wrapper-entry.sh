#!/bin/sh
# A program that names no entry point begins with the first code of its first object, and so
# it does when it is traced.
. "$(dirname "$0")/../lib.sh"

sources()
{
	if [ "$cpu" = arm ]; then
		cat >first.s <<-'END'
			.syntax unified
			.arm
			.text
			mov r0, #3
			bl second
			mov r7, #1
			svc #0
			.section .note.GNU-stack, "", %progbits
		END
		cat >second.s <<-'END'
			.syntax unified
			.arm
			.text
			.global second
			.type second, %function
			second: add r0, r0, #4
			bx lr
			.section .note.GNU-stack, "", %progbits
		END
	else
		cat >first.s <<-'END'
			.text
			.global begin
			.type begin, @function
			.ent begin
			begin: .set noreorder
			li $a0, 3
			bal second
			nop
			li $v0, 4001
			syscall
			.end begin
			.size begin, . - begin
			.section .note.GNU-stack, "", @progbits
		END
		cat >second.s <<-'END'
			.text
			.global second
			.type second, @function
			second: .set noreorder
			jr $ra
			addiu $a0, $a0, 4
			.section .note.GNU-stack, "", @progbits
		END
	fi
	sed '/note/d; s/second/third/' first.s >one.s
	sed '/\.text$/d; /\.arm$/d; s/second/third/; s/global/local/' second.s >>one.s
}

# begins DESCRIPTION LINKER WORD...
begins()
{
	description=$1
	linker=$2
	shift 2
	rm -rf plain traced && mkdir plain traced
	(cd plain && "$triplet-$linker" -o program "$@") >plain.log 2>&1
	(cd traced && "$BUILD/bin/litifut" build -q "$triplet-$linker" -o program "$@") >traced.log 2>&1
	ok "$description: traced" rewritten traced/program
	run plain program
	is "$description: it begins where it should" "$(cat plain.status)" 7
	same_run program
}

behaviour()
{
	sources
	for source in first second one; do
		compiler -c -o $source.o $source.s
	done
	begins "two objects" ld.bfd ../first.o ../second.o
	begins "one object" ld.bfd ../one.o
	"$triplet-ar" rcs libsecond.a second.o
	begins "an object and an archive" ld.bfd -L.. ../first.o -lsecond
	begins "in a group" ld.bfd --start-group ../first.o ../second.o --end-group
	begins "a binary file at the end" ld.bfd ../one.o ../second.o -b binary ../first.s
}

for_targets behaviour
