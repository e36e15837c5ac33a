#!/bin/sh
# All tables in one run, printed and written into docs/cost.md (or FILE), with
# what they were measured with.
#
#   bench/cost.sh [FILE]                  BENCH_KEEP=1: with what is measured already
. "$(dirname "$0")/lib.sh"

page=${1:-$root/docs/cost.md}
folder=$root/bench

version()
{
	"$@" --version 2>/dev/null | head -n 1
}

# part TITLE COMMAND: the words in front of the table come from standard input
part()
{
	printf '\n## %s\n\n' "$1"
	cat
	echo
	"$2" </dev/null
}

# Of the link's first table the sizes and the ratios, not the seconds.
link_delay()
{
	RUNS=${RUNS:-3} "$folder/link_delay.sh" all-arm some-mips small-arm small-mips |
		awk -F '|' '!NF { over = 1 } !over && /^\|/ { printf("|%s|%s|%s|%s|%s|%s|\n", $2, $3, $4, $5, $8, $11) }'
}

# What depends on LITIFUT is made anew; plain programs of an earlier run stay.
[ -n "${BENCH_KEEP:-}" ] ||
	rm -f "$work/engines" "$trees"/*/*/*.measured "$trees"/*/*/db.built "$trees"/*/*/thunk.built
{
	cat <<-END
		# What tracing costs

		The tables of the paper's evaluation, printed by \`make bench\` in one run, and the same work under other
		tools. Instructions are those that the guest CPU executes, counted by a QEMU plugin: exact, and the same on every
		machine. Times stand only as ratios to the untraced run.

		Measured $(LC_ALL=C date '+%-d %B %Y') with LITIFUT $(git -C "$root" describe --always --dirty 2>/dev/null), engines: $(engines | xargs echo | sed 's/ /, /g'). $(version arm-linux-gnueabihf-gcc);
		$(version arm-linux-gnueabihf-ld); $(version qemu-arm); $(version clang);
		$(version valgrind). ARM is armv7, T32 unless said otherwise; MIPS is little endian.

		The workloads: bz2 from the benchmarks of the valgrind sources for a CPU-bound one, postmark for one that is
		bound by the file system, $compound as the large one; all from Debian's source archive, built by their own makefiles.
	END
	part "Table II: the workloads" "$folder/table2.sh" <<-END
		Calls are call sites in the file; on MIPS most calls are indirect in the instruction, through \`\$t9\`.
	END
	part "Table III: memory" "$folder/table3.sh" <<-END
		Bytes of all loaded segments over those of the plain program, buffers aside. Fixed is what a program that
		does nothing has too, tracer and recorder; what calls and functions bring is growing. "of source-level" is the ratio to
		-finstrument-functions with a recorder of 1 KB.
	END
	part "Table IV: size of the trace" "$folder/table4.sh" <<-END
		Every call without a time, and each (call site, callee) once (\`LITIFUT_DEDUP=1\`).
	END
	part "Figure 3: the whole run" "$folder/figure3.sh" <<-END
		Ratios to the run of the plain program, which is 1. Under qemu-user time holds the emulator's own work, which is
		some ten times the CPU's; writing to the trace is the host's.
	END
	part "What a call costs" "$folder/call_cost.sh" <<-END
		Executed instructions for each recorded call over the plain program. "As it is": \`LITIFUT_COMPACT=0\`, no chunk is made
		compact. Under qemu-user reading the clock is a system call.
	END
	part "What a count costs (LITIFUT_MODE=counts)" "$folder/counts_cost.sh" <<-END
		Executed instructions for each counted call over the plain program, position-independent programs. T32 takes 10 for a direct call, 11 into A32 code,
		MIPS 11 or, from a function without room on its stack, 12; the rest are the trampolines of calls that had to be moved, of tail calls, and islands.
		Before ARMv7 each call searches the instruction DB. All threads add to the same counter of a site, with ldrex and strex or ll and sc.
	END
	part "What spans and tables cost" "$folder/table_cost.sh" <<-END
		Executed instructions for each call and its return over the plain program, position-independent programs, \`LITIFUT_CLOCK=page\`, which takes one
		instruction more at each event than the counter of the CPU does. Spans: \`LITIFUT_COMPACT=0\`. In a table the thunks take as much as with
		spans, the rest is the summing up of full chunks.
	END
	part "Beside other tools" "$folder/peers.sh" <<-END
		On the same work. -finstrument-functions, -pg, uftrace and XRay see the functions of the program that were compiled
		for them; LITIFUT also the calls into libraries. Where a tool does not count its events, the number of entries that
		-finstrument-functions recorded stands for them. uftrace: ${BENCH_UFTRACE:-not given}.
	END
	part "Section V-D: delay of the link" link_delay <<-END
		LLVM's static libraries, linked whole and by a third, and libcrypto, libsqlite3 and libgit2: ratio of processor time, and of elapsed time, to the
		same link by the linker alone. Compiling is none of it: the objects stay as they are.
	END
	cat <<-END

		## What was aimed at

		- *Direct calls in 12 instructions on ARM and 14 on MIPS*: T32 and MIPS hold it. A call of A32 code, a PLT entry or any
		  in an A32 program, takes 13: one more, \`bx pc\`, to change the state without touching the flags.
		- *All calls together in 16 on ARM and 18 on MIPS*: lua and bzip2 hold it on ARM, in T32 and A32, and bzip2 on MIPS, also
		  with the chunks that are made compact to stay at four bytes an event. sqlite3 does not: every fifth call of it
		  goes through a register, which takes up to 18 instructions and three words on ARM; as it is, a call takes little more
		  than the aim, and the compact form of a third of its chunks adds the rest. On MIPS lua and sqlite3 are beyond it, too: calls
		  through pointers, calls that an island has to carry on, and two words for each callee that the code before does
		  not tell.
		- *An in-line scheme for at most 8 instructions more*: the compact form counts words that are foreseen and takes six or seven
		  instructions for each of them, more for the others: with \`LITIFUT_COMPACT=1\`, where all chunks are made compact, some ten in
		  lua (0.3 bytes a call), but thirty in bzip2, whose calls hang on its data (1.9 bytes). By default it costs up to one in both.
		- *With a time*, lua on T32, 260 instructions: 84 find the thread and store the event, 84 keep all registers, come from the
		  thunk to C code and go back, 31 compute nanoseconds from what the clock says, without the system call that
		  qemu-user makes of it, 72 are the compact form. The cheapest clock is \`LITIFUT_CLOCK=cycle\` where the CPU lets programs
		  read its counter.
		- *Less than half the memory of -finstrument-functions*: holds for the large program, on MIPS for all but the fixed part. Small ones
		  pay for tracer and recorder, which are the same for all. In T32 programs with few calls of each function thunks of 44
		  bytes weigh more than what the compiler puts into a function.
		- *8 KB of code and 4 KB of data for these*: the data hold it with thunks (3.7 KB). Of code there are 16 KB for ARMv7, 23 KB for older
		  ARM CPUs and 29 KB for MIPS: the trace file with its fallbacks for old kernels, the copy to a stick, settings
		  and the compact form take most of it.
		- *No DB in memory*: with thunks it holds only the calls that no thunk can serve ("of it DB"; a kilobyte is room that is
		  reserved at least). The list of sites by which the host knows direct callees is never loaded.
	END
} | tee "$work/cost.md"
cp "$work/cost.md" "$page"
