#!/bin/sh
# LITIFUT_MODE=paths: position-independent MIPS code loads the address of each function that it calls. The start of
# a function whose address is only loaded for calls that can be followed is not recorded; that of one whose
# address may go elsewhere is.
. "$(dirname "$0")/../lib.sh"
few_targets mipsel
[ "$TARGETS" = "$all_targets" ] && TARGETS="mipsel mips"

called_source()
{
	cat >called.c <<-'END'
		#include <stdio.h>
		#define KEEP __attribute__((noipa))
		#define HIDDEN __attribute__((noipa, visibility("hidden")))

		/* Calls twice(), which leaves $t9 as it was, and then again without its address being loaded;
		 * and kept() by a register that calls preserve. */
		__asm__(".text\n.set push\n.set noreorder\n.globl several\n.type several, @function\n.ent several\n"
			"several: lui $28, %hi(_gp_disp)\naddiu $28, $28, %lo(_gp_disp)\naddu $28, $28, $25\n"
			"addiu $29, $29, -40\nsw $31, 36($29)\nsw $16, 32($29)\nsw $28, 16($29)\n"
			"lw $25, %call16(twice)($28)\nnop\njalr $25\nnop\njalr $25\nmove $4, $2\n"
			"lw $16, %call16(kept)($28)\nmove $25, $16\njalr $25\nmove $4, $2\n"
			"andi $4, $2, 3\nbeqz $4, 1f\nmove $4, $2\nmove $25, $16\njalr $25\nnop\n"
			"1: lw $31, 36($29)\nlw $16, 32($29)\njr $31\naddiu $29, $29, 40\n"
			".end several\n.size several, . - several\n"
			".globl twice\n.hidden twice\n.type twice, @function\n.ent twice\n"
			"twice: sll $2, $4, 1\nxori $2, $2, 1\nxori $2, $2, 1\nbltz $4, 1f\nnop\n1: jr $31\nnop\n.end twice\n.size twice, . - twice\n.set pop\n");
		int several(int x);

		HIDDEN int kept(int x) { return x % 7 ? x + 1 : x - 3; }
		HIDDEN int called(int x) { return x % 3 ? x + 2 : x / 2; }
		KEEP static int local(int x) { return x & 1 ? called(x) + 1 : called(x + 1); }
		HIDDEN int pointed(int x) { return x % 5 ? x * 3 : x; }
		HIDDEN int ended(int x) { return x > 10 ? x - 10 : x; }
		HIDDEN int given(int x) { return x % 9 ? x - 2 : x * 2; }
		HIDDEN int returned(int x) { return x % 11 ? x + 5 : x; }
		KEEP static int (*chosen_of(int x))(int) { return x ? returned : given; }
		KEEP static int tail(int x) { return ended(x + (x & 2)); }
		KEEP static int by_pointer(int (*f)(int), int x) { return f(x) + f(x + 1); }
		static int (*const table[])(int) = {local, called};
		int (*chosen)(int) = pointed;

		int main(int argc, char **argv)
		{
			int sum = 0;

			(void)argv;
			for (int i = 0; i < 40; i++) {
				sum += several(i) + called(i) + tail(i);
				sum ^= pointed(i) + local(i);
				sum += by_pointer(given, i) + given(i);
				sum ^= chosen_of(i % 3)(i) + returned(i);
				if (i % 8 == 0)
					sum += by_pointer(i % 16 ? chosen : pointed, i);
				if (i > 30 && argc > 1)
					sum += table[i & 1](i);
			}
			printf("%d\n", sum);
			return 0;
		}
	END
}

# Its calls are all through t9, and one of them returns twice.
caught_source()
{
	cat >caught.c <<-'END'
		#include <setjmp.h>
		#include <stdio.h>
		#define KEEP __attribute__((noipa))

		static jmp_buf place;
		static int count;

		KEEP static int once(int n) { return n + 1; }
		KEEP static int more(int n) { return count += n; }
		KEEP static int caught(int n)
		{
			if (setjmp(place))
				return n;
			once(n);
			more(n);
			longjmp(place, once(n));
		}
		int main(void)
		{
			printf("%d %d\n", caught(3), caught(4));
			return 0;
		}
	END
}

# An address that stays in v0 behind the call of its function; one that is read for a call of something else; and
# one that is there only where a branch is not taken.
kept_source()
{
	cat >kept.c <<-'END'
		#include <stdio.h>
		typedef int function(int);
		static int count;

		static __attribute__((noinline)) void stays(int a)
		{
			if (a > 3)
				__asm__ volatile("nop");
		}
		__attribute__((noipa)) static void (*stays_of(int x))(int)
		{
			stays(x);
			return stays;
		}
		__asm__(".text\n.set push\n.set noreorder\n"
			"third: .type third, @function\n.ent third\nbltz $4, 1f\nmove $2, $4\naddiu $2, $2, 1\n1: jr $31\nnop\n.end third\n.size third, . - third\n"
			"by_t9: .type by_t9, @function\n.ent by_t9\nbeqz $4, 1f\nnop\n1: jr $25\nnop\n.end by_t9\n.size by_t9, . - by_t9\n"
			".globl through\n.type through, @function\n.ent through\n"
			"through: lui $28, %hi(_gp_disp)\naddiu $28, $28, %lo(_gp_disp)\naddu $28, $28, $25\n"
			"addiu $29, $29, -32\nsw $31, 28($29)\nsw $28, 16($29)\n"
			"lw $25, %got(third)($28)\naddiu $25, $25, %lo(third)\nbal by_t9\nnop\n"
			"lw $31, 28($29)\njr $31\naddiu $29, $29, 32\n.end through\n.size through, . - through\n"
			"near: .type near, @function\n.ent near\nbltz $4, 1f\nmove $2, $4\naddiu $2, $2, 1\n1: jr $31\nnop\n.end near\n.size near, . - near\n"
			".globl either\n.type either, @function\n.ent either\n"
			"either: lui $28, %hi(_gp_disp)\naddiu $28, $28, %lo(_gp_disp)\naddu $28, $28, $25\n"
			"lw $2, %got(near)($28)\nbeql $4, $0, 1f\nlw $2, %got(far)($28)\naddiu $2, $2, %lo(near)\njr $31\nnop\n"
			"1: addiu $2, $2, %lo(far)\njr $31\nnop\n.end either\n.size either, . - either\n"
			".space 0x18000\n"
			"far: .type far, @function\n.ent far\nbgtz $4, 1f\nmove $2, $4\naddiu $2, $2, 3\n1: jr $31\nnop\n.end far\n.size far, . - far\n.set pop\n");
		int through(int x);
		function *either(int x);

		int main(void)
		{
			for (int i = 0; i < 20; i++) {
				stays_of(i - 3)(i - 5);
				count += through(i - 5);
				count += either(i % 3)(i - 5);
				if (i & 1)
					count++;
			}
			printf("%d\n", count);
			return 0;
		}
	END
	cat >child.c <<-'END'
		#include <sys/wait.h>
		#include <unistd.h>
		__attribute__((noipa)) static int parent(void)
		{
			int pid = vfork();

			if (!pid)
				_exit(0);
			return waitpid(pid, 0, 0) == pid;
		}
		int main(void) { return !parent(); }
	END
}

# which FUNCTION...: those of them whose start is recorded
which()
{
	"$BUILD/bin/litifut" info --sites traced/called | awk '$2 == "block" { print $1 }' >sites.txt
	for function; do
		address=$("$triplet-nm" traced/called | awk -v name="$function" '$3 == name { print $1 }')
		grep -q "0x$address" sites.txt && printf '%s ' "$function"
	done
}

called()
{
	called_source
	export LITIFUT_MODE=paths
	for flags in "-O1 -mxgot" "-O2 -fno-pie -no-pie" -O0 -Os -O2; do
		rm -rf plain traced
		link called ../called.c && same_run called && blocks_equal "" called
	done
	is "starts are recorded where not all calls can be followed" \
		"$(which several twice kept called local pointed given returned tail)" \
		"several twice called local pointed given returned "
	caught_source
	flags="-O2 -mno-relax-pic-calls"
	rm -rf plain traced
	link caught ../caught.c && same_run caught && blocks_equal "" caught
	is "behind the call that returns twice a branch is recorded, and nothing behind the others" \
		"$("$BUILD/bin/litifut" info --sites traced/caught | awk '$NF == "caught" { print $2 }')" branch
	kept_source
	flags=-O2
	rm -rf plain traced
	link kept ../kept.c && same_run kept && blocks_equal "" kept
	export LITIFUT_MODE=units LITIFUT_UNITS=parent
	rm -rf plain traced
	link child ../child.c && same_run child
	# jalr $t9, to vfork()
	is "units: the recorder is prepared before a child is made" "$("$BUILD/bin/litifut" info --sites traced/child |
		awk '$2 == "block" && $4 == "0320f809" { print $5, $NF }')" "patched parent"
	unset LITIFUT_MODE LITIFUT_UNITS
}

for_targets called
