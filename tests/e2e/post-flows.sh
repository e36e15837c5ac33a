#!/bin/sh
# Arrows from what one process sends to what another one receives: two processes that answer each other
# through pipes, so that the order of all sends and receives is known.
. "$(dirname "$0")/../lib.sh"

# arrows SEND RECEIVE: lines of time, number, S or R and process
arrows()
{
	"$BUILD/bin/litifut-post" -q -f perfetto --flow "write($1)=read($2)" -o "flow.$1" data traced/program &&
		python3 "$root/tests/perfetto.py" "flow.$1" 2>/dev/null >"slices.$1" &&
		awk '$3 == "S" || $3 == "R" { print $4, $5, $3, $1 }' "slices.$1" >"arrows.$1" &&
		[ "$(wc -l <"arrows.$1")" = 40 ]
}

in_order()
{
	read -r there_in there_out back_in back_out parent child <traced.out
	arrows "$there_out" "$there_in" && arrows "$back_out" "$back_in" || return
	sed 's/$/ there/' "arrows.$there_out" >all
	sed 's/$/ back/' "arrows.$back_out" >>all
	# four steps a round; the number of the arrow is that of the round
	sort -n all | awk -v parent="$parent" -v child="$child" '
		{ step = (NR - 1) % 4; round = int((NR - 1) / 4) + 1 }
		$2 != round || $3 != (step % 2 ? "R" : "S") || $5 != (step < 2 ? "there" : "back") ||
		$4 != (step == 0 || step == 3 ? parent : child) { print "line " NR ": " $0; bad = 1 }
		END { exit bad || NR != 80 }'
}

# without an argument all writes and reads of both pipes are taken
all_of_them()
{
	"$BUILD/bin/litifut-post" -q -f perfetto --flow 'w*e=read' -o flow.all data traced/program &&
		python3 "$root/tests/perfetto.py" flow.all 2>/dev/null | awk '$3 == "S"' | wc -l | grep -x 40
}

wrong_words()
{
	! "$BUILD/bin/litifut-post" -f perfetto --flow write -o x data 2>words && grep 'SEND=RECEIVE' words &&
		! "$BUILD/bin/litifut-post" -f perfetto --flow 'write(x)=read' -o x data 2>words
}

behaviour()
{
	if [ "$target" = armel ]; then
		skip "flows" "the thunks of spans need a CPU that armel programs do not"
		return
	fi
	cat >main.c <<-'END'
		#include <stdio.h>
		#include <sys/wait.h>
		#include <unistd.h>
		int main(void)
		{
			int there[2], back[2], number = 0;
			if (pipe(there) || pipe(back))
				return 1;
			pid_t child = fork();
			if (!child) {
				close(there[1]);
				close(back[0]);
				while (read(there[0], &number, sizeof number) == sizeof number) {
					number++;
					if (write(back[1], &number, sizeof number) != sizeof number)
						return 1;
				}
				return 0;
			}
			close(there[0]);
			close(back[1]);
			for (int i = 0; i < 20; i++)
				if (write(there[1], &number, sizeof number) != sizeof number ||
				    read(back[0], &number, sizeof number) != sizeof number)
					return 1;
			close(there[1]);
			waitpid(child, 0, 0);
			printf("%d %d %d %d %d %d\n", there[0], there[1], back[0], back[1], (int)getpid(), (int)child);
			return number != 20;
		}
	END
	export LITIFUT_MODE=spans LITIFUT_ARGS='write:i0,r;read:i0,r'
	link program ../main.c -O1 || return
	unset LITIFUT_MODE LITIFUT_ARGS
	guest_environment="LITIFUT_CLOCK=mono LITIFUT_DIR=$(pwd)/data"
	run traced program
	guest_environment=''
	ok "each arrow begins at its write and ends at its read" in_order
	ok "without an argument" all_of_them
	ok "a wrong pair is reported" wrong_words
}
for_targets behaviour
