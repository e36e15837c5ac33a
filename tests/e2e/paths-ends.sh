#!/bin/sh
# LITIFUT_MODE=paths: what was executed before a program ended. Where it crashes, nothing behind the block of
# the crash counts as executed: not what its function does then, and not its callers. Where it ends by exit(), _exit(),
# abort() or the like, all is there. The same where a signal handler ends it, or goes on elsewhere, or a thread crashes.
. "$(dirname "$0")/../lib.sh"
few_targets armhf mipsel

sources()
{
	cat >main.c <<-'END'
		#include <setjmp.h>
		#include <signal.h>
		#include <stdio.h>
		#include <stdlib.h>
		#include <string.h>
		#include <unistd.h>

		struct node { struct node *next; const char *name; int value; };
		static struct node second = {NULL, "b", 2}, first = {&second, "a", 1};
		static int printed, handled;
		static volatile int rounds;
		static sigjmp_buf again;

		__attribute__((noipa)) static struct node *find(const char *name)
		{
			for (struct node *node = &first; node; node = node->next)
				if (!strcmp(node->name, name))
					return node;
			return NULL;
		}
		__attribute__((noipa)) static int value(const char *name)
		{
			struct node *node = find(name);

			if (*name != 'x') {
		#if defined(__arm__) && !defined(__thumb__)
				__asm__ volatile(""); /* else no branch leads here, but conditions */
		#endif
				return node->value; /* crash */
			}
			return 0;
		} /* value ends */
		__attribute__((noipa)) static void after(int number)
		{
			if (number >= printed) /* with -O0 a decision behind the crash, and before the next call */
				printed += number; /* after */
		}
		__attribute__((noipa)) static void print(const char *name)
		{
			int number = value(name); /* call */

			after(number);
			printf("%s=%d\n", name, number); /* print */
			fflush(stdout);
		}
		__attribute__((noipa)) static int deep(int n)
		{
			return n ? deep(n - 1) + printed : value("nosuch"); /* deep */
		}
		static void tell(void)
		{
			static const char text[] = "handled\n";

			for (int i = rounds; i; i--)
				if (rounds == i)
					handled = 0;
			if (write(1, text, sizeof(text) - 1) > 0)
				handled++;
		}
		static void ends(int number)
		{
			tell();
			_exit(3); /* ends */
		}
		static void goes_on(int number)
		{
			tell();
			signal(number, SIG_DFL); /* goes */
		}
		static void jumps(int number)
		{
			tell();
			siglongjmp(again, 1); /* jumps */
		}
		static int by_value(const void *left, const void *right)
		{
			if (handled)
				_exit(4);
			return *(const int *)left - *(const int *)right;
		}
		int main(int argc, char **argv)
		{
			static int list[] = {3, 1, 2};

			if (strlen(argv[2]) > 10)
				rounds = 50000;
			switch (argv[1][0]) {
			case 'h': signal(SIGSEGV, ends); break;
			case 'g': signal(SIGSEGV, goes_on); break;
			case 'j': signal(SIGSEGV, jumps); break;
			case 'd': return deep(3);
			case 'q': qsort(list, 3, sizeof(*list), by_value); break;
			}
			if (argv[1][0] != 'j' || !sigsetjmp(again, 1)) {
				after(0);
				print(argv[2]);
			}
			puts("done"); /* done */
			return 0;
		}
	END
}

# Ends without a decision of its own before.
leaves_source()
{
	cat >leaves.c <<-'END'
		#include <err.h>
		#include <stdlib.h>
		#include <unistd.h>

		static int printed;

		__attribute__((noipa)) static void after(int number)
		{
			printed += number;
		}
		__attribute__((noipa)) static void leave(char how)
		{
			after(2);
			if (how == 'a')
				after(3), abort();
			if (how == 'r')
				after(3), errx(5, "left");
			after(4);
			_exit(6);
		}
		__attribute__((noipa)) static int goes(char how)
		{
			after(1);
			leave(how);
			return printed;
		}
		int main(int argc, char **argv)
		{
			return goes(argv[argc - 1][0]);
		}
	END
}

# The number of the line with this comment.
line_of()
{
	sed -n "/\/\* $1 \*\//=" main.c
}

# How often the lines with these comments were executed; - where a line has no code
counts_of()
{
	for comment in "$@"; do
		sed -n "s/^DA:$(line_of "$comment"),//p" lines.info | grep . || echo -
	done | tr '\n' ' '
}

# The last line of `path' that was executed for certain. Leaves what is only possible behind it in last.
last_line()
{
	"$BUILD/bin/litifut-post" -q -f path --last 1 data traced/program >last
	sed -n 's/.*main\.c:\([0-9]*\)$/\1/p' last | head -n 1
}

# followed OPTIONS WAY NAME: runs it, compares all blocks, and makes lines.info
followed()
{
	same_run program "$2" "$3"
	blocks_equal "$1" program "$2" "$3"
	"$BUILD/bin/litifut-post" -q -f lcov -o lines.info data traced/program
}

# Its line is the last one, or the end of its function, which is in the same block.
crash_is_last()
{
	last=$(last_line)
	echo "path ends with line $last"
	[ "$last" = "$(line_of crash)" ] || [ "$last" = "$(line_of 'value ends')" ]
}

# The instructions of `report' and `callgrind' are those that were executed up to the end of that block.
instructions_equal()
{
	"$BUILD/bin/litifut-post" -q -f callgrind -o callgrind.out data traced/program &&
		python3 "$root/tests/oracle/paths.py" instructions oracle callgrind.out traced/program
}

# Nothing behind the crash is on a path of the bad run.
difference_is_executed()
{
	"$BUILD/bin/litifut-post" path-diff -q good data traced/program >difference
	cat difference
	grep -q "main\.c:.*$(line_of crash)" difference && ! grep -q " $(line_of print)\>" difference
}

behaviour()
{
	sources
	leaves_source
	export LITIFUT_MODE=paths
	for flags in "-O0 -g" "-O2 -g" "-O2 -g -no-pie"; do
		rm -rf plain traced good
		link program ../main.c || continue
		followed "" c b
		is "$flags: all lines up to exit()" "$(counts_of call after print deep 'done')" "1 2 1 0 1 "
		mv data good
		followed --killed c nosuch
		is "$flags: lines up to a crash" "$(counts_of call after print deep 'done')" "1 1 0 0 0 "
		is "$flags: the function of the crash" "$(sed -n '/^FNDA:.*,value/p' lines.info)" FNDA:1,value
		ok "$flags: path ends with the block of the crash" crash_is_last
		ok "$flags: what path shows behind it is only possible" \
			grep -q '^[0-9]*	  *? print .*main.c:[0-9]*$' last
		ok "$flags: blocks behind it are only possible" grep -q '0x[0-9a-f]*?.*print$' blocks.tsv
		ok "$flags: instructions are those that were executed" instructions_equal
		ok "$flags: path-diff shows nothing behind it" difference_is_executed
		"$BUILD/bin/litifut-post" -q -f path --function print data traced/program >print.lines
		ok "$flags: --function says so as well" grep -q 'it is not recorded whether' print.lines
		followed --killed d nosuch
		# four calls, which the compiler may make a loop of
		is "$flags: recursive calls do not return" \
			"$(counts_of deep print 'done' | sed "$([ "$flags" = "-O0 -g" ] || echo 's/^[1-9][0-9]*/4/')")" "4 0 0 "
		# code that is not followed has called back before
		followed --killed q nosuch
		is "$flags: calls back before a crash" "$(counts_of after print 'done')" "1 0 0 "
		# a handler proves nothing of what it has interrupted
		followed --killed h nosuch
		is "$flags: a handler that ends the program" "$(counts_of after print 'done')" "1 0 0 "
		# for so long that the reader has to look ahead to find out
		followed --killed h nosuchthing
		is "$flags: a handler that does so late" "$(counts_of after print 'done')" "1 0 0 "
		ok "$flags: what it has interrupted is only possible" grep -q '0x[0-9a-f]*?.*print$' blocks.tsv
		# the block of the crash is executed again
		same_run program g nosuch
		"$BUILD/bin/litifut-post" -q -f lcov -o lines.info data traced/program
		is "$flags: a handler that returns to the crash" "$(counts_of after print 'done')" "1 0 0 "
		# nothing is only possible before a call that ends the program
		link leaves ../leaves.c || continue
		for how in e a r; do
			same_run leaves "$how"
			blocks_equal "" leaves "$how"
		done
		rm traced/leaves
		# with -O2 the next call may be that of the function that jumps
		case $flags in -O0*) ;; *) continue ;; esac
		followed --killed j nosuch
		is "$flags: a handler that jumps elsewhere" "$(counts_of jumps print 'done')" "1 0 1 "
		followed --killed j nosuchthing
		is "$flags: a handler that does so late" "$(counts_of jumps print 'done')" "1 0 1 "
	done
}

for_targets behaviour
