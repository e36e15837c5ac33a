#!/bin/sh
# A single object with much more code than a branch reaches (+-128 KB), in a
# position-independent executable and in a shared library: every call is traced,
# from the middle as well as from the ends, of every form, tail calls too, and
# functions whose start made room for an island do what they did.
. "$(dirname "$0")/../lib.sh"
few_targets mipsel
[ "$TARGETS" = "$all_targets" ] && TARGETS="mipsel mips"

# How many calls through a register have a callee that the code before them tells.
known_callees()
{
	"$BUILD/bin/litifut" info --sites "$1" |
		awk '$2 == "indirect" && $3 != "0x00000000" { count++ } END { print count + 0 }'
}

# 500 functions with different frames, some 900 bytes each; those in the middle of
# `big.c` are followed by assembly code. Each fourth ends in a tail call.
big_source()
{
	awk 'BEGIN {
		print "#include \"big.h\""
		print "LOCAL int leaf(int a, int b) { __asm__ volatile(\"\"); return a * 3 + b; }"
		print "LOCAL long long wide(int a, int b) { __asm__ volatile(\"\"); return (long long)a * b; }"
		for (i = 0; i < 500; i++) {
			if (i == 250)
				print "#include \"forms.h\""
			printf "KEEP int f%d(int a, int b, int c, int (*other)(int, int))\n{\n", i
			printf "\tdouble d = a + 0.5; long long w = 0;\n"
			if (i % 4 == 3) {
				for (j = 0; j < 9; j++)
					printf "\tw += leaf(a + %d, c) * CALL(b, %d); w ^= wide(b, c + %d);\n", j, i, j
				printf "\treturn %s((int)w, c);\n}\n", i % 8 == 3 ? "leaf" : "other"
				continue
			}
			printf "\tint v[%d];\n", 4 + i % 9
			for (j = 0; j < 4 + i % 9; j++)
				printf "\tv[%d] = leaf(a + %d, b ^ c) + CALL(b, %d);\n", j, j, i
			for (j = 0; j < 3; j++)
				printf "\tw += wide(v[%d], c) + (long long)(d * v[%d]);\n", j, j + 1
			printf "\ttouch(v);\n\treturn (int)(w >> 3) + v[2];\n}\n"
		}
		print "int (*const table[])(int, int, int, int (*)(int, int)) = {"
		for (i = 0; i < 500; i++)
			printf "f%d,%s", i, i % 8 == 7 ? "\n" : " "
		print "};"
	}'
}

# Calls written by hand, far from the tracer.
forms_source()
{
	cat <<-'END'
		__asm__(".text\n"
			".set push\n"
			".set noreorder\n"
			".macro enter name\n"
			".globl \\name\n"
			".type \\name, @function\n"
			".ent \\name\n"
			"\\name:\n"
			".cpload $25\n"
			"addiu $sp, $sp, -32\n"
			"sw $ra, 28($sp)\n"
			".cprestore 16\n"
			".endm\n"
			".macro leave name\n"
			"lw $ra, 28($sp)\n"
			"jr $ra\n"
			"addiu $sp, $sp, 32\n"
			".end \\name\n"
			".size \\name, . - \\name\n"
			".endm\n"
			/* returns $4 + 1, and $8 in $3; needs no $25 */
			".type plain_leaf, @function\n"
			".ent plain_leaf\n"
			"plain_leaf: move $3, $8\n"
			"jr $ra\n"
			"addiu $2, $4, 1\n"
			".end plain_leaf\n"
			".size plain_leaf, . - plain_leaf\n"
			"enter form_bal\n"
			"bal plain_leaf\n"
			"addiu $4, $4, 10\n"
			"leave form_bal\n"
			/* taken or not; ra is set in both cases */
			"enter form_bgezal\n"
			"move $2, $0\n"
			"bgezal $4, plain_leaf\n"
			"nop\n"
			"leave form_bgezal\n"
			"enter form_bltzal\n"
			"move $2, $0\n"
			"bltzal $4, plain_leaf\n"
			"addiu $4, $4, 10\n"
			"leave form_bltzal\n"
			"enter form_register\n"
			"lw $9, %got(plain_leaf)($28)\n"
			"addiu $9, $9, %lo(plain_leaf)\n"
			"jalr $9\n"
			"addiu $4, $4, 20\n"
			"leave form_register\n"
			"enter form_kept_register\n"
			"sw $16, 24($sp)\n"
			"lw $16, %got(plain_leaf)($28)\n"
			"addiu $16, $16, %lo(plain_leaf)\n"
			"jalr $16\n"
			"addiu $4, $4, 30\n"
			"lw $16, 24($sp)\n"
			"leave form_kept_register\n"
			/* the delay slot changes the register of the call */
			"enter form_slot\n"
			"lw $8, %got(plain_leaf)($28)\n"
			"addiu $8, $8, %lo(plain_leaf)\n"
			"move $9, $8\n"
			"jalr $8\n"
			"addiu $8, $8, 7\n"
			"subu $3, $3, $9\n"
			"addu $2, $2, $3\n"
			"leave form_slot\n"
			"enter form_slot_t9\n"
			"lw $25, %got(plain_leaf)($28)\n"
			"addiu $25, $25, %lo(plain_leaf)\n"
			"jalr $25\n"
			"move $25, $0\n"
			"addu $2, $2, $25\n"
			"leave form_slot_t9\n"
			"enter form_barrier\n"
			"lw $25, %got(plain_leaf)($28)\n"
			"addiu $25, $25, %lo(plain_leaf)\n"
			"jalr.hb $25\n"
			"addiu $4, $4, 40\n"
			"leave form_barrier\n"
			/* tail calls that have no room to say which they are: by a full delay
			 * slot, by one with at, by one that is jumped to */
			".macro function name\n"
			".globl \\name\n"
			".type \\name, @function\n"
			".ent \\name\n"
			"\\name:\n"
			".endm\n"
			".macro close name\n"
			".end \\name\n"
			".size \\name, . - \\name\n"
			".endm\n"
			".set noat\n"
			"function form_condition\n"
			"bgez $4, plain_leaf\n"
			"addiu $4, $4, 5\n"
			"jr $31\n"
			"move $2, $4\n"
			"close form_condition\n"
			"function form_condition_at\n"
			"li $1, 7\n"
			"bltz $4, plain_leaf\n"
			"addu $4, $4, $1\n"
			"jr $31\n"
			"addu $2, $4, $1\n"
			"close form_condition_at\n"
			"function form_condition_label\n"
			"beqz $4, 2f\n"
			"nop\n"
			"bgtz $4, plain_leaf\n"
			"2: addiu $4, $4, 3\n"
			"jr $31\n"
			"move $2, $4\n"
			"close form_condition_label\n"
			"function form_tail_at\n"
			"li $1, 9\n"
			"b plain_leaf\n"
			"addu $4, $4, $1\n"
			"close form_tail_at\n"
			".set at\n"
			/* reads the pc, calls nothing */
			"enter form_no_call\n"
			"bal 1f\n"
			"nop\n"
			"1: subu $2, $ra, $ra\n"
			"leave form_no_call\n"
			".set pop\n");
	END
}

main_source()
{
	cat <<-'END'
		#include "big.h"
		#include <stdio.h>
		static KEEP int add(int a, int b) { return a + b; }
		static KEEP int sub(int a, int b) { return a - b; }
		#define SHOW(name) printf(#name " %d %d\n", name(5), name(-5));
		int main(void)
		{
			unsigned sum = 1;
			for (unsigned round = 0; round < 2; round++)
				for (unsigned i = 0; i < 500; i++)
					sum = sum * 31 + (unsigned)table[i]((int)i, (int)(sum % 97), 3, i & 1 ? add : sub);
			printf("%u\n", sum);
			SHOW(form_bal) SHOW(form_bgezal) SHOW(form_bltzal) SHOW(form_register)
			SHOW(form_kept_register) SHOW(form_slot) SHOW(form_slot_t9) SHOW(form_no_call)
			SHOW(form_barrier) SHOW(form_condition) SHOW(form_condition_at)
			SHOW(form_condition_label) SHOW(form_tail_at)
			return 0;
		}
	END
}

# Nothing is left but what lies in start-up files or is not a call.
all_patched()
{
	"$BUILD/bin/litifut" info --skipped "$1" >skipped
	! grep -E 'out-of-reach|branch-target|delay-slot' skipped
}

behaviour()
{
	cat >big.h <<-'END'
		#ifdef __clang__
		/* it makes no room for the arguments of functions like these */
		#define KEEP __attribute__((noinline))
		#define LOCAL static KEEP
		LOCAL int pick(int a, int b) { __asm__ volatile(""); return a + b * 2; }
		#define CALL(a, b) pick(a, b)
		#else
		#define KEEP __attribute__((noipa))
		#define LOCAL KEEP
		#define CALL(a, b) other(a, b)
		#endif
		extern int (*const table[])(int, int, int, int (*)(int, int));
		static inline void touch(int *v) { __asm__ volatile("" : : "r"(v) : "memory"); }
		int form_bal(int), form_bgezal(int), form_bltzal(int), form_register(int);
		int form_kept_register(int), form_slot(int), form_slot_t9(int), form_no_call(int);
		int form_barrier(int), form_condition(int), form_condition_at(int);
		int form_condition_label(int), form_tail_at(int);
	END
	big_source >big.c
	forms_source >forms.h
	main_source >main.c

	flags="-O2 -fPIC -fno-toplevel-reorder" # the assembly stays in the middle
	ok "compile" compiler -c big.c main.c || return
	is "one object has more code than two branches reach" \
		"$("$triplet-size" big.o | awk 'NR == 2 { print ($1 > 2 * 131072) }')" 1

	flags=-pie
	link pie ../main.o ../big.o || return
	same_run pie
	events_equal_calls pie
	ok "pie: no call is out of reach" all_patched traced/pie
	# the db engine has no use for it
	[ "${ENGINE:-}" = db ] || ok "pie: what the far calls lead to is known" \
		[ "$(known_callees traced/pie)" -gt 1000 ]
	is "pie: each tail call in the object is recorded" "$(awk -F '\t' '
		NR == 1 { for (i = 1; i <= NF; i++) column[$i] = i; next }
		$column["kind"] == "tail" && $column["caller"] ~ /^f[0-9]/ { count++ }
		END { print count + 0 }' events.tsv)" 250

	flags=-shared
	link libbig.so ../big.o || return
	flags=-pie
	link with-library ../main.o -L. -lbig || return
	same_run with-library
	events_equal_calls with-library
	ok "library: no call is out of reach" all_patched traced/libbig.so
	is "library: another module may have functions of these names" \
		"$("$triplet-nm" -D --defined-only traced/libbig.so | awk '{ print "0x" $1 }' >exported
			"$BUILD/bin/litifut" info --sites traced/libbig.so |
			awk '$2 == "indirect" { print $3 }' | grep -cFf exported)" 0

	# Its functions begin in another way.
	if command -v clang >/dev/null; then
		ok "compile with clang" clang --target="$triplet" -O2 -fPIC -c big.c \
			-o clang.o || return
		flags=-pie
		link clang ../main.o ../clang.o || return
		same_run clang
		events_equal_calls clang
		ok "clang: no call is out of reach" all_patched traced/clang
		[ "${ENGINE:-}" = db ] || ok "clang: thunks in islands make room" sh -c \
			"'$triplet-objdump' -d --no-show-raw-insn traced/clang | grep -A 3 'jr.*at$' |
				grep -q 'addiu.*sp,sp,-16'"
	else
		skip "clang" "not installed"
	fi

	flags=-static
	link static ../main.o ../big.o || return
	same_run static
	events_equal_calls static
	ok "static: no call is out of reach" all_patched traced/static
}

for_targets behaviour
