#!/bin/sh
# Code that stands before the symbol of its function, as the error path of hand-written system
# calls does: it belongs to the function that branches to it, so its tail call is traced. Code
# that no function branches to is left and listed; with LITIFUT_MODE=coverage and paths its conditional branches are,
# unless other functions are chosen.
. "$(dirname "$0")/../lib.sh"

write_arm()
{
	cat <<-'END'
		.syntax unified
		.text
		.global before
		.type before, %function
		.ifdef __thumb__
		.thumb_func
		.endif
		.balign 4
		3:	bne	3b
		2:	b	other
		1:	adds	r0, r0, r0
			b	other
		before:
			cmp	r0, #0
			bmi	1b
			bx	lr
		.size before, . - before
	END
}

write_mips()
{
	cat <<-'END'
		.text
		.set noreorder
		.align 2
		.global before
		.ent before
		3:	bnez	$4, 3b
			nop
			jr	$31
			nop
		1:	lw	$25, %call16(other)($28)
			jr	$25
			addu	$4, $4, $4
		before:
			.cpload $25
			bltz	$4, 1b
			nop
			jr	$31
			addu	$2, $4, $0
		.end before
		.size before, . - before
		.type before, @function
	END
}

behaviour()
{
	case $target in
	arm*) write_arm >code.s ;;
	*) write_mips >code.s ;;
	esac
	case $target in
	armhf) sed -i 's/^/\t/; 1i .thumb' code.s && sed -i 's/.ifdef __thumb__/.if 1/' code.s ;;
	arm*) sed -i 's/.ifdef __thumb__/.if 0/' code.s ;;
	esac
	cat >main.c <<-'END'
		#include <stdio.h>
		#include <unistd.h>
		int before(int);
		int other(int value)
		{
			return printf("%d\n", value);
		}
		int main(void)
		{
			int sum = 0;
			for (int i = -3; i < 3; i++)
				sum += before(i);
			return sum + unlink("/nowhere/at/all");
		}
	END
	if link program ../main.c ../code.s; then
		same_run program
		events_equal_calls program
		events_equal_entries program
		is "its tail calls are traced" "$(recorded other)" 3
		case $target in
		arm*)
			ok "what no function branches to is listed" \
				grep_skipped no-function
			;;
		esac
	fi
	for mode in coverage paths; do
		[ "$mode $target" != "paths armel" ] || continue
		export LITIFUT_MODE=$mode
		# on MIPS nothing says that it is code
		if link program ../main.c ../code.s; then
			same_run program
			is "$mode: a branch in no function is listed" \
				"$(grep_skipped 'branch .*no-function' | wc -l)" "$(case $target in arm*) echo 1 ;; *) echo 0 ;; esac)"
		fi
		export LITIFUT_INCLUDE=main
		link program ../main.c ../code.s &&
			is "$mode: not where others are chosen" "$(grep_skipped no-function | wc -l)" 0
		unset LITIFUT_MODE LITIFUT_INCLUDE
	done
	if link static -static ../main.c ../code.s; then
		same_run static
		events_equal_calls static
		case $target in
		mips*) is "the error path of unlink is traced" "$(recorded __syscall_error)" 1 ;;
		esac
		is "and its tail calls are" "$(recorded other)" 3
	fi
}

grep_skipped()
{
	"$BUILD/bin/litifut" info --skipped traced/program | grep "$1"
}

for_targets behaviour
