#!/bin/sh
# What code that is not traced calls, one after another, has one depth, also where it ends with a
# tail call of such code: the initialisers of C++ objects, main, what atexit() was given. What
# is called back is below the function that calls it back.
. "$(dirname "$0")/../lib.sh"
few_targets armhf armhf-arm mips

post()
{
	"$BUILD/bin/litifut-post" -q "$@" data traced/program
}

# Each function of the program that the sources define, with its depth below the one that calls main.
tree()
{
	post -f tree | awk '
		/\[program\]$/ {
			depth = (match($0, /[^ ]/) - 1) / 2
			tail = /=> /
			sub(/^ *(\* |=> )?/, "")
			sub(/(\(.*)? \[program\]$/, "")
			sub(/_GLOBAL__sub_I_.*/, "initialiser")
			if ($0 == "main")
				base = depth
			if ($0 ~ /^(initialiser|frame_dummy|early|main|sort|compare|leaf|one_end|other_end|object<.*)$/) {
				name[++count] = $0
				at[count] = depth
			}
		}
		END { for (i = 1; i <= count; i++) printf "%d %s\n", at[i] - base, name[i] }'
}

behaviour()
{
	cat >object.h <<-'END'
		#include <cstdio>
		#include <cstdlib>
		#include <string>
		#define KEEP __attribute__((noipa))
		KEEP int leaf(int);
		template <int number> struct object {
			void *memory = std::malloc(number);
			KEEP ~object() { leaf(number); std::free(memory); }
		};
	END
	for number in 1 2 3; do
		cat >$number.cc <<-END
			#include "object.h"
			object<$number> object$number;
			std::string text$number("text");
		END
	done
	cat >main.cc <<-'END'
		#include "object.h"
		static volatile int sink;
		static int numbers[] = {1, 2};
		static void *memory[2];
		KEEP int leaf(int x) { return x + sink; }
		KEEP static int compare(const void *a, const void *b)
		{
			int x = *(const int *)a;
			sink = leaf(x);
			return x - *(const int *)b;
		}
		KEEP static void sort(int *n) { sink = 1; std::qsort(n, 2, sizeof *n, compare); }
		__attribute__((constructor(101))) static void early() { std::qsort(numbers, 2, sizeof *numbers, compare); }
		static void one_end() { sink = leaf(1); std::free(memory[0]); }
		static void other_end() { sink = leaf(2); std::free(memory[1]); }
		int main()
		{
			int n[] = {3, 4};
			for (void *&m : memory)
				m = std::malloc(5);
			std::atexit(one_end);
			std::atexit(other_end);
			sort(n);
			std::printf("%d\n", n[0] + sink);
			sink = leaf(1);
			return 0;
		}
	END
	language=g++
	# the toolchain's frame_dummy comes before the constructors without a number
	before="0 early,2 compare,3 leaf,0 frame_dummy,0 initialiser,0 initialiser,0 initialiser,"
	main="0 main,1 sort,3 compare,4 leaf,1 leaf,"
	after="0 other_end,1 leaf,0 one_end,1 leaf,"
	destructors="0 object<3>::~object,1 leaf,0 object<2>::~object,1 leaf,0 object<1>::~object,1 leaf,"
	for mode in calls spans; do
		[ "$mode-$target" != spans-armel ] || continue # it records no returns
		export LITIFUT_MODE=$mode
		link program ../1.cc ../2.cc ../3.cc ../main.cc || return
		unset LITIFUT_MODE
		guest_environment=LITIFUT_CLOCK=mono
		same_run program
		guest_environment=
		post -f tree >tree.text
		ok "$mode: initialisers end with a tail call" sh -c '
			[ "$(grep -A 9 "[*] _GLOBAL__sub_I_" tree.text | grep -c "=> __.*_atexit")" -ge 3 ]'
		# in `calls`, destructors that end without a tail call are below the last call, see litifut-post(1)
		shown=$before$main$after
		if [ $mode = spans ]; then
			is "$mode: depths" "$(tree | tr '\n' ,)" "$shown$destructors"
		else
			is "$mode: depths" "$(tree | sed '/object</,$d' | tr '\n' ,)" "$shown"
		fi
		is "$mode: without the initialisers main is there" \
			"$(post -f report -N '_GLOBAL__sub_I*' | grep -c ' \(main\|sort(int\*)\) \[program\]$')" 2
	done
}

for_targets behaviour
