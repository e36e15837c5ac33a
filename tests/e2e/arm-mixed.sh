#!/bin/sh
# A32 and T32 code in one image, each calling the other in every way, itself and
# through a PLT: by blx, by pointers, by tail calls through the stubs that the linker
# makes to change the state.
TARGETS=${TARGETS:-armhf}
. "$(dirname "$0")/../lib.sh"

sources()
{
	cat >library.c <<-'END'
		#define KEEP __attribute__((noipa))
		KEEP __attribute__((target("arm"))) int library_arm(int x) { return x + 1; }
		KEEP __attribute__((target("thumb"))) int library_thumb(int x) { return x + 2; }
	END
	cat >main.c <<-'END'
		#include <stdio.h>
		#include <stdlib.h>
		#define KEEP __attribute__((noipa))
		#define ARM KEEP __attribute__((target("arm")))
		#define THUMB KEEP __attribute__((target("thumb")))
		int library_arm(int), library_thumb(int);
		int arm_to_thumb(int), thumb_to_arm(int), arm_to_library(int), thumb_to_library(int);
		int thumb_if_to_arm(int), arm_if_to_thumb(int);
		ARM int arm_leaf(int x) { return x * 3; }
		THUMB int thumb_leaf(int x) { return x * 5; }
		ARM int arm_calls(int x, int (*a)(int), int (*b)(int))
		{
			return arm_leaf(x) + thumb_leaf(x) + a(x) + b(x) + library_arm(x) + library_thumb(x);
		}
		THUMB int thumb_calls(int x, int (*a)(int), int (*b)(int))
		{
			return arm_leaf(x) + thumb_leaf(x) + a(x) + b(x) + library_arm(x) + library_thumb(x);
		}
		ARM int arm_compare(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }
		int main(void)
		{
			int numbers[] = {5, 3, 9, 1};
			qsort(numbers, 4, sizeof(int), arm_compare);
			for (int i = 0; i < 4; i++) {
				printf("%d %d\n", arm_calls(i, arm_leaf, thumb_leaf),
				       thumb_calls(i, arm_leaf, thumb_leaf));
				printf("%d %d %d %d\n", arm_to_thumb(i), thumb_to_arm(i),
				       arm_to_library(i), thumb_to_library(i));
				printf("%d %d\n", arm_if_to_thumb(i), thumb_if_to_arm(i));
			}
			return numbers[0];
		}
	END
	cat >tails.S <<-'END'
		.syntax unified
		.arch armv7-a
		.text
		.macro function name
		.globl \name
		.type \name, %function
		\name:
		.endm
		.arm
		function arm_to_thumb
		b thumb_leaf(PLT)
		.size arm_to_thumb, . - arm_to_thumb
		function arm_to_library
		b library_thumb(PLT)
		.size arm_to_library, . - arm_to_library
		function arm_if_to_thumb
		cmp r0, #2
		beq thumb_leaf(PLT)
		bx lr
		.size arm_if_to_thumb, . - arm_if_to_thumb
		.thumb
		.thumb_func
		function thumb_to_arm
		b.w arm_leaf(PLT)
		.size thumb_to_arm, . - thumb_to_arm
		.thumb_func
		function thumb_to_library
		b.w library_arm(PLT)
		.size thumb_to_library, . - thumb_to_library
		.thumb_func
		function thumb_if_to_arm
		cmp r0, #2
		beq.w arm_leaf(PLT)
		bx lr
		.size thumb_if_to_arm, . - thumb_if_to_arm
		.section .note.GNU-stack, "", %progbits
	END
}

behaviour()
{
	sources
	for kind in "-fPIE -pie" "-fno-pic -no-pie" "-fno-pic -static"; do
		name=program$(echo "$kind" | sed 's/.* //')
		flags="-fPIC -shared"
		link libours.so ../library.c || return
		flags="$kind -L."
		case $kind in
		*static) link "$name" ../main.c ../tails.S ../library.c || return ;;
		*) link "$name" ../main.c ../tails.S -lours || return ;;
		esac
		"$triplet-nm" "traced/$name" >symbols
		ok "$name: the linker has made stubs" grep -q '__.*_from_\(arm\|thumb\)' symbols
		same_run "$name"
		events_equal_calls "$name"
		is "$name: no call is left" "$("$BUILD/bin/litifut" info --skipped "traced/$name" | grep -c ^0x)" 0
		is "$name: tail calls into the other state" "$(awk -F '\t' '$11 ~ /^tail/ &&
			$6 ~ /_to_/ { print $6, $10 }' events.tsv | sed 's/@plt//' | sort | uniq -c |
			awk '{ print $1, $2, $3 }')" "$(expected)"
		rm -rf plain traced
	done
}

expected()
{
	cat <<-'END'
		1 arm_if_to_thumb thumb_leaf
		4 arm_to_library library_thumb
		4 arm_to_thumb thumb_leaf
		1 thumb_if_to_arm arm_leaf
		4 thumb_to_arm arm_leaf
		4 thumb_to_library library_arm
	END
}

for_targets behaviour
