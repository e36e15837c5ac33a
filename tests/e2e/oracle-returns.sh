#!/bin/sh
# The oracle with returns, on plain programs: each call ends where control arrives at its return
# address with its stack pointer, longjmp cuts those that it leaves, and the time is a number of
# executed instructions.
. "$(dirname "$0")/../lib.sh"

behaviour()
{
	cat >main.c <<-'END'
		#include <setjmp.h>
		#include <signal.h>
		#define KEEP __attribute__((noipa))
		static jmp_buf place;
		static volatile int sink;
		KEEP void leaf(void) { sink++; }
		KEEP void down(int depth) { if (depth) { down(depth - 1); leaf(); } sink++; }
		KEEP void work(int rounds) { while (rounds--) sink++; __asm__ volatile(""); }
		KEEP void ends_in_leaf(void) { sink++; leaf(); }
		KEEP void leave(int depth) { if (depth) leave(depth - 1); else longjmp(place, 1); sink++; }
		KEEP void jumps(void) { if (!setjmp(place)) leave(3); leaf(); sink++; }
		KEEP void handler(int number) { (void)number; leaf(); sink++; }
		int main(void)
		{
			down(2);
			work(100);
			work(1100);
			ends_in_leaf();
			jumps();
			signal(SIGUSR1, handler);
			raise(SIGUSR1);
			leaf();
			return 0;
		}
	END
	ok "compile" compiler -o program main.c || return
	mkdir -p plain && mv program plain/
	qemu_options="-plugin $BUILD/tests/oracle.so,calls=oracle,returns=1"
	run plain program
	is "exit status" "$(cat plain.status)" 0
	python3 "$root/tests/oracle/returns.py" list oracle plain/program >events

	# of each call by one of these functions: what it does, less the offset; PLT entries and
	# the C library's are left out
	sed -n 's/[+][^ ]*//g; s/^[0-9]* [0-9]* //; /^[a-z]* \(main\|down\|jumps\|leave\|handler\)\>/p' \
		events | awk '
		$1 == "call" && $3 ~ /^(down|leaf|work|leave|ends_in_leaf|jumps)$/ { print; next }
		$1 == "return" || $1 == "again" { print $1, $2 }' | grep -v 'jumps$' >some
	sed -n '1,/call main work/p' some >down
	cat >expected <<-'END'
		call main down
		call down down
		call down down
		return down
		call down leaf
		return down
		return down
		call down leaf
		return down
		return main
		call main work
	END
	ok "each call returns, the inner ones first" diff expected down
	ok "the time of a call is exact" awk '
		$3 == "call" { callee = $5 }
		$3 == "return" && callee == "work" { took[n++] = $5; callee = "" }
		END { exit n != 2 || (took[1] - took[0]) % 1000 || took[1] < 3000 }' events
	is "longjmp cuts what it leaves, and arrives where setjmp did" "$(awk '
		$3 == "return" && /jumps/ && !from { from = $2 }
		$3 == "again" && /jumps/ { again++; to = $2 }
		$3 == "cut" && !again { cut = $4 }
		END { print again, (to == from), (cut >= 5) }' events)" "1 1 1"
	is "all other calls of main return" "$(grep -c ' return main' events)" \
		"$(grep -c ' call main' events)"
}

for_targets behaviour
