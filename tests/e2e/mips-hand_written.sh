#!/bin/sh
# Calls that no compiler makes: functions without a type, a call whose delay slot is jumped
# to or changes what the call needs, returns by other registers than ra, calls that link
# another one.
. "$(dirname "$0")/../lib.sh"
[ "$TARGETS" = "$all_targets" ] && TARGETS="mipsel mips"

sources()
{
	cat >hand.S <<-'END'
		.text
		.set push
		.set noreorder
		# without .type, .size, .ent; a local leaf
		bare_leaf:
		jr $ra
		addiu $2, $4, 1
		.globl bare
		bare:
		addiu $sp, $sp, -32
		sw $ra, 28($sp)
		bal bare_leaf
		addiu $4, $4, 1
		lw $ra, 28($sp)
		jr $ra
		addiu $sp, $sp, 32
		# a call whose delay slot is the target of a branch
		.globl slot_target
		.type slot_target, @function
		.ent slot_target
		slot_target:
		addiu $sp, $sp, -32
		sw $ra, 28($sp)
		sw $16, 24($sp)
		move $16, $0
		beqz $4, 1f
		addiu $16, $16, 1
		bal slot_leaf
		1:	addiu $4, $4, 10
		addu $2, $2, $4
		addu $2, $2, $16
		lw $16, 24($sp)
		lw $ra, 28($sp)
		jr $ra
		addiu $sp, $sp, 32
		.end slot_target
		.size slot_target, . - slot_target
		.type slot_leaf, @function
		.ent slot_leaf
		slot_leaf:
		jr $ra
		addiu $2, $4, 100
		.end slot_leaf
		.size slot_leaf, . - slot_leaf
		# branches of the floating-point unit lead to a return point
		# it returns before it has a frame as well, and computes in ra
		.globl early
		.type early, @function
		.ent early
		early:
		blez $4, 1f
		nop
		addiu $sp, $sp, -32
		sw $ra, 28($sp)
		ori $ra, $0, 3
		addu $4, $4, $ra
		bal bare_leaf
		addiu $4, $4, 1
		addu $2, $2, $2
		addiu $2, $2, 1
		ori $ra, $0, 2
		addu $2, $2, $ra
		lw $ra, 28($sp)
		jr $ra
		addiu $sp, $sp, 32
		1:
		jr $ra
		addiu $2, $4, 5
		.end early
		.size early, . - early
		.globl float_loop
		.type float_loop, @function
		.ent float_loop
		float_loop:
		addiu $sp, $sp, -32
		sw $ra, 28($sp)
		sw $16, 24($sp)
		addiu $16, $0, 5
		bal slot_leaf
		mtc1 $0, $f2
		1:	addiu $16, $16, -1
		mtc1 $16, $f0
		addu $2, $2, $16
		c.eq.s $f0, $f2
		bc1f 1b
		nop
		addiu $4, $16, 1
		c.eq.s $fcc1, $f2, $f2
		bal slot_leaf
		mtc1 $4, $f0
		2:	c.eq.s $fcc2, $f0, $f2
		mtc1 $0, $f0
		addiu $2, $2, 1
		bc1f $fcc2, 2b
		nop
		lw $16, 24($sp)
		lw $ra, 28($sp)
		jr $ra
		addiu $sp, $sp, 32
		.end float_loop
		.size float_loop, . - float_loop
		# jalr whose delay slot changes its register and is the target of a branch
		.globl slot_changes
		.type slot_changes, @function
		.ent slot_changes
		slot_changes:
		addiu $sp, $sp, -32
		sw $ra, 28($sp)
		move $2, $0
		bal 3f
		move $8, $0
		3:	addiu $8, $ra, slot_leaf - 3b
		move $9, $8
		beqz $4, 1f
		nop
		jalr $8
		1:	addiu $8, $8, 4
		subu $8, $8, $9
		addu $2, $2, $8
		lw $ra, 28($sp)
		jr $ra
		addiu $sp, $sp, 32
		.end slot_changes
		.size slot_changes, . - slot_changes
		# a call directly behind the delay slot of a branch
		.globl behind
		.type behind, @function
		.ent behind
		behind:
		addiu $sp, $sp, -32
		sw $ra, 28($sp)
		beqz $4, 1f
		nop
		bal slot_leaf
		nop
		bal slot_leaf
		move $4, $2
		1:	bal slot_leaf
		nop
		lw $ra, 28($sp)
		jr $ra
		addiu $sp, $sp, 32
		.end behind
		.size behind, . - behind
		# jalr $zero
		.globl jalr_zero
		.type jalr_zero, @function
		.ent jalr_zero
		jalr_zero:
		move $8, $ra
		bal 3f
		nop
		3:	addiu $25, $ra, slot_leaf - 3b
		move $ra, $8
		jalr $0, $25
		nop
		.end jalr_zero
		.size jalr_zero, . - jalr_zero
		# jr t9 at the very end, its register changed in the delay slot
		.globl tail_slot
		.type tail_slot, @function
		.ent tail_slot
		tail_slot:
		move $8, $ra
		bal 3f
		nop
		3:	addiu $25, $ra, slot_leaf - 3b
		move $ra, $8
		jr $25
		move $25, $0
		.end tail_slot
		.size tail_slot, . - tail_slot
		# another link register
		.globl other_link
		.type other_link, @function
		.ent other_link
		other_link:
		move $10, $ra
		bal 3f
		nop
		3:	addiu $25, $ra, linked_leaf - 3b
		jalr $24, $25
		addiu $4, $4, 2
		jr $10
		addiu $2, $2, 1
		.end other_link
		.size other_link, . - other_link
		.type linked_leaf, @function
		.ent linked_leaf
		linked_leaf:
		jr $24
		addiu $2, $4, 1000
		.end linked_leaf
		.size linked_leaf, . - linked_leaf
		# ra changed in the delay slot of a call
		.globl slot_ra
		.type slot_ra, @function
		.ent slot_ra
		slot_ra:
		addiu $sp, $sp, -32
		sw $ra, 28($sp)
		bal slot_leaf
		addiu $ra, $ra, 4
		addiu $2, $2, 1000
		addiu $2, $2, 1
		lw $ra, 28($sp)
		jr $ra
		addiu $sp, $sp, 32
		.end slot_ra
		.size slot_ra, . - slot_ra
		# a call whose delay slot reads ra
		.globl slot_reads_ra
		.type slot_reads_ra, @function
		.ent slot_reads_ra
		slot_reads_ra:
		addiu $sp, $sp, -32
		sw $ra, 28($sp)
		bal slot_leaf
		sw $ra, 24($sp)
		lw $8, 24($sp)
		subu $8, $ra, $8
		addu $2, $2, $8
		lw $ra, 28($sp)
		jr $ra
		addiu $sp, $sp, 32
		.end slot_reads_ra
		.size slot_reads_ra, . - slot_reads_ra
		# calls and returns in one place, hi and lo, t-registers kept across by knowledge
		.globl keeps
		.type keeps, @function
		.ent keeps
		keeps:
		addiu $sp, $sp, -32
		sw $ra, 28($sp)
		mult $4, $4
		li $8, 3
		li $24, 5
		li $15, 7
		li $3, 11
		bal slot_leaf
		nop
		mflo $9
		addu $2, $2, $9
		addu $2, $2, $8
		addu $2, $2, $24
		addu $2, $2, $15
		addu $2, $2, $3
		lw $ra, 28($sp)
		jr $ra
		addiu $sp, $sp, 32
		.end keeps
		.size keeps, . - keeps
		# falls into the next function
		.globl falls
		.type falls, @function
		.ent falls
		falls:
		addiu $4, $4, 1
		.end falls
		.size falls, . - falls
		.globl fallen
		.type fallen, @function
		.ent fallen
		fallen:
		b slot_leaf
		addiu $4, $4, 1
		.end fallen
		.size fallen, . - fallen
		.set pop
	END
	cat >main.c <<-'END'
		#include <stdio.h>
		int bare(int), slot_target(int), slot_changes(int), behind(int), jalr_zero(int);
		int tail_slot(int), float_loop(int), other_link(int), slot_ra(int), slot_reads_ra(int), keeps(int);
		int falls(int), fallen(int), early(int);
		#define SHOW(name) printf(#name " %d %d\n", name(0), name(5));
		int main(void)
		{
			SHOW(bare) SHOW(slot_target) SHOW(slot_changes) SHOW(behind) SHOW(jalr_zero)
			SHOW(tail_slot) SHOW(other_link) SHOW(slot_reads_ra) SHOW(keeps) SHOW(falls)
			SHOW(fallen) SHOW(slot_ra) SHOW(float_loop) SHOW(early)
			return 0;
		}
	END
}

# Why the calls in the function NAME were left.
why()
{
	"$BUILD/bin/litifut" info --sites traced/hand |
		awk -v name="$1" '$NF == name && $(NF - 2) !~ /patched|not-a-call/ { print $(NF - 2) }'
}

sites()
{
	"$BUILD/bin/litifut" info --sites traced/hand | grep -c " in $1\$"
}

behaviour()
{
	sources
	flags=-O2
	link hand ../main.c ../hand.S || return
	same_run hand
	events_equal_calls hand
	is "a delay slot that is jumped to stays" "$(why slot_changes)" branch-target
	is "one that changes ra, too" "$(why slot_ra)" delay-slot
	is "another link register is left" "$(why other_link)" special-form
	is "a return by it is not a call" "$(sites linked_leaf)" 0
	is "nor is one by a copy of ra" "$(sites other_link)" 2
	is "nothing else is left" "$("$BUILD/bin/litifut" info traced/hand |
		awk '/^    / && $1 != "not-a-call" { count += $2 } END { print count }')" 4

	export LITIFUT_CLOCK=page LITIFUT_MODE=spans
	link spans ../main.c ../hand.S
	unset LITIFUT_CLOCK LITIFUT_MODE
	same_run spans
	run_timed spans
	# shellcheck disable=SC2046
	ok "spans: calls, returns and their times are those of the oracle" \
		python3 "$root/tests/oracle/returns.py" times oracle data $(traced_files)
	is "branches of the floating-point unit are led past two records" \
		"$("$BUILD/bin/litifut" info --sites traced/spans | grep -c 'patched.* float_loop$')" 2
	is "what computes in ra may return before that" \
		"$("$BUILD/bin/litifut" info --skipped traced/spans | grep ' early$')" ""

	flags="-O2 -no-pie"
	link fixed ../main.c ../hand.S || return
	same_run fixed
	events_equal_calls fixed

	flags="-O2 -static"
	link static ../main.c ../hand.S || return
	same_run static
	events_equal_calls static
}

both_engines()
{
	behaviour
	# what a thunk can't store goes that way as well
	flags=-O2
	LITIFUT_ENGINE=db
	export LITIFUT_ENGINE
	link hand ../main.c ../hand.S || return
	same_run hand
	events_equal_calls hand
	unset LITIFUT_ENGINE
}

for_targets both_engines
