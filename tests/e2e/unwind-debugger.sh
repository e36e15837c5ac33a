#!/bin/sh
# A debugger that stops anywhere between a traced call and its callee, at each
# instruction, sees the program's frames; and so it does when an instruction
# faults that was moved to make room for a call.
. "$(dirname "$0")/../lib.sh"
few_targets armhf mips

sources()
{
	cat >main.c <<-'END'
		#include <stdio.h>
		#define KEEP __attribute__((noipa))
		struct object { int (*method)(struct object *, int); int value; };
		KEEP int leaf(int x) { return x + 1; }
		KEEP int method(struct object *o, int x) { return leaf(o->value) + x; }
		KEEP int through(struct object *o, int x) { return o->method(o, x) * 2; }
		KEEP int passes(struct object *o, int x) { return leaf(x * 2 + o->value); }
		#ifdef __arm__
		KEEP int by_lr(int x)
		{
			register int r0 __asm__("r0") = x;
			__asm__ volatile("mov lr, %1\n\tblx lr" : "+r"(r0) : "r"(leaf)
					 : "lr", "r1", "r2", "r3", "r12", "cc", "memory");
			return r0 * 2;
		}
		#else
		KEEP int by_lr(int x) { return leaf(x) * 2; }
		#endif
		KEEP int middle(struct object *o) { int r = through(o, 1) + passes(o, 3); return by_lr(r) + 1; }
		int main(int count, char **words)
		{
			struct object o = {method, 4};
			(void)words;
			printf("%d\n", middle(&o));
			printf("%d\n", middle(count > 1 ? (struct object *)0 : &o));
			return 0;
		}
	END
	cat >frames.py <<-'END'
		import gdb

		def frames():
		    frame, names = gdb.newest_frame(), []
		    while frame:
		        names.append(frame.name())
		        frame = frame.older()
		    return names

		def follow(caller, callee, expected, calls=1):
		    """From that call of `caller` (0: it has begun), step by step, into `callee`."""
		    point = gdb.Breakpoint(caller)
		    for _ in range(calls):
		        gdb.execute("continue", to_string=True)
		    point.delete()
		    seen, wrong = 0, set()
		    names = frames()
		    while names[0] != callee and seen < 5000:
		        if names[0].startswith("litifut_"):
		            seen += 1
		            if [name for name in names if not name.startswith("litifut_")] != expected:
		                wrong.add((hex(gdb.newest_frame().pc()), tuple(names)))
		        gdb.execute("stepi", to_string=True)
		        names = frames()
		    print(f"{caller}: arrived {names[0] == callee}, traced {seen >= FEWEST}, wrong {len(wrong)}")
		    for each in sorted(wrong)[:5]:
		        print(each)
	END
	cat >ways.py <<-'END'
		import gdb
		import os
		FEWEST = int(os.environ["FEWEST"])
		gdb.execute("source ../frames.py")
		follow("middle", "through", ["middle", "main"], calls=2)  # the symbols are bound then
		follow("through", "method", ["through", "middle", "main"], calls=0)
		follow("passes", "leaf", ["middle", "main"])
		follow("by_lr", "leaf", ["by_lr", "middle", "main"])
	END
	cat >lines.py <<-'END'
		import gdb
		import os

		gdb.Breakpoint("main")
		gdb.execute("continue", to_string=True)
		for _ in range(60):
		    frame = gdb.newest_frame()
		    place = frame.find_sal()
		    print([frame.name(), place.line if place.symtab else 0])
		    if frame.name() == "main" and place.line == LAST:
		        break
		    gdb.execute(os.environ["HOW"], to_string=True)
	END
	sed -i "s/LAST/$(grep -n 'return 0;' main.c | cut -d: -f1)/" lines.py
	cat >fault.py <<-'END'
		import gdb
		gdb.execute("source ../frames.py")
		gdb.execute("continue", to_string=True)
		print([name for name in frames() if not name.startswith("litifut_")])
	END
}

# debug SCRIPT ARGUMENT...: what the script prints about the program in `folder`
settings=
folder=traced
debug()
{
	script_file=$1
	shift
	rm -rf data socket
	mkdir -p data
	# shellcheck disable=SC2086
	env -i LITIFUT_DIR="$(pwd)/data" $settings timeout 100 "qemu-$cpu" -L "$sysroot" -g socket \
		$folder/program "$@" >debuggee.out 2>&1 &
	tries=0
	until [ -S socket ] || [ $tries -gt 200 ]; do
		sleep 0.05
		tries=$((tries + 1))
	done
	(cd $folder && timeout 100 gdb-multiarch -nx -batch -ex "set remotetimeout 100" -ex "set sysroot $sysroot" -ex 'file program' \
		-ex 'target remote ../socket' -ex "source ../$script_file" -ex kill) 2>gdb.err |
		grep "^(\|^\['\|arrived"
	wait
}

# same_lines NAME HOW: a debugger that goes through main by lines sees those that it sees
# without LITIFUT. Into a callee it can only go where no code of the tracer calls any.
same_lines()
{
	HOW=$2
	export HOW
	folder=plain
	lines=$(debug lines.py | up_to_by_lr)
	folder=traced
	ok "$1: $2: there are lines" test "$(echo "$lines" | wc -l)" -ge 3
	is "$1: $2: the lines of the program" "$(debug lines.py | up_to_by_lr)" "$lines"
}

# A call through lr passes through the tracer's code with either engine.
up_to_by_lr()
{
	[ "$HOW" = step ] && set -- -e "/'by_lr'/,\$d"
	sed -e '' "$@"
}

# way CALLER: the lines about it in `ways`
way()
{
	echo "$ways" | awk -v caller="$1:" '/: arrived/ { shown = $1 == caller } shown'
}

# each_way NAME FEWEST: so many steps at least are in code of the tracer
each_way()
{
	export FEWEST="$2"
	ways=$(debug ways.py)
	is "$1: an indirect call: its caller's frames at each instruction on the way" \
		"$(way through)" "through: arrived True, traced True, wrong 0"
	is "$1: a direct call: the same" "$(way middle)" \
		"middle: arrived True, traced True, wrong 0"
	is "$1: a call through the link register: the same" "$(way by_lr)" \
		"by_lr: arrived True, traced True, wrong 0"
	is "$1: a tail call: the frames of who called its caller" "$(way passes)" \
		"passes: arrived True, traced True, wrong 0"
	same_lines "$1" next
	is "$1: a fault before a call has the frames of its function" "$(debug fault.py crash)" \
		"['through', 'middle', 'main']"
}

behaviour()
{
	command -v gdb-multiarch >/dev/null || {
		skip "frames in a debugger" "no gdb-multiarch"
		return
	}
	sources
	export LITIFUT_ENGINE=db
	link program ../main.c || return
	each_way db 20
	LITIFUT_ENGINE=thunk
	link program ../main.c || return
	each_way thunk 6
	# code for ARMv5 has the db engine all the same
	"$BUILD/bin/litifut" info traced/program | grep -q 'engine  *thunk' && same_lines thunk step
	# then no thunk stores an event by itself
	settings=LITIFUT_DEDUP=1
	each_way "thunk, the long way" 20
	settings=
}

for_targets behaviour
