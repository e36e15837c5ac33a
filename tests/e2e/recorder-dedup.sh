#!/bin/sh
# LITIFUT_DEDUP against the exact set: a program with 6,000 pairs of call site and
# callee, which four threads go through at the same time, many times over. What the
# filter takes wrongly for known is within twice the theory, nothing
# is there twice that one thread met twice, and litifut-post tells the error.
. "$(dirname "$0")/../lib.sh"
few_targets armhf mips

# Two runs are compared by the addresses of callees, which calls that are filtered have in any case.
export LITIFUT_EXACT=1

many_calls()
{
	awk 'BEGIN {
		print "#include <pthread.h>\n#include <stdio.h>"
		for (i = 0; i < 1000; i++)
			printf("__attribute__((noipa)) void f%d(void) { __asm__ volatile(\"\"); }\n", i)
		for (i = 0; i < 60; i++) {
			printf("__attribute__((noipa)) void g%d(void)\n{\n", i)
			for (j = 0; j < 100; j++)
				printf("\tf%d();\n", (i * 100 + j) * 7919 % 1000)
			print "\t__asm__ volatile(\"\");\n}"
		}
		print "static void *all(void *argument)\n{\n\tfor (int i = 0; i < 8; i++) {"
		for (i = 0; i < 60; i++)
			printf("\t\tg%d();\n", i)
		print "\t}\n\treturn argument;\n}"
		print "int main(void)\n{\n\tpthread_t thread[4];"
		print "\tfor (int i = 0; i < 4; i++)\n\t\tpthread_create(&thread[i], 0, all, 0);"
		print "\tfor (int i = 0; i < 4; i++)\n\t\tpthread_join(thread[i], 0);"
		print "\tputs(\"done\");\n\treturn 0;\n}"
	}' >many.c
}

checker()
{
	cat >check.py <<-'END'
		import math, struct, sys
		order, kb = {"l": "<", "b": ">"}[sys.argv[1]], int(sys.argv[2])
		def pairs(path):
		    with open(path) as file:
		        columns = file.readline().rstrip("\n").split("\t")
		        places = [columns.index(c) for c in
		                  ("tid", "site_module", "site_offset", "callee_module", "callee_offset")]
		        for line in file:
		            row = line.rstrip("\n").split("\t")
		            yield tuple(row[i] for i in places)
		exact = {row[1:] for row in pairs(sys.argv[3])}
		rows = list(pairs(sys.argv[4]))
		found = {row[1:] for row in rows}
		if found - exact:
		    sys.exit(f"{len(found - exact)} pairs that were never called")
		if len(rows) != len(set(rows)):
		    sys.exit("a thread wrote a pair twice")
		bits, hashes = kb * 8192, 4
		# the filter's fill when the i-th pair comes, and all its bits set by then
		theory = sum((1 - math.exp(-hashes * i / bits)) ** hashes for i in range(len(exact)))
		missed = len(exact) - len(found)
		with open(sys.argv[5], "rb") as file:
		    header = file.read(96)
		told_bits, told_hashes, told_set, held = struct.unpack_from(order + "4I", header, 80)
		fill = 1 - math.exp(-hashes * len(exact) / bits)
		print(f"{len(exact)} pairs, {missed} missed, {theory:.1f} by the theory; "
		      f"fill {told_set / told_bits:.3f}, {fill:.3f} by the theory; {held} held back; "
		      f"error {100 * (told_set / told_bits) ** hashes:.3f} %")
		if (told_bits, told_hashes) != (bits, hashes):
		    sys.exit("not the filter that was asked for")
		if abs(told_set / told_bits - fill) > 0.02:
		    sys.exit("the header's fill is not that of so many pairs")
		if missed > 2 * theory + 3 or (theory > 20 and missed < theory / 2):
		    sys.exit("not what the theory says")
		sys.exit(f"only {len(exact)} pairs" if len(exact) < 6000 else 0)
	END
}

traced()
{
	rm -rf data
	guest_environment="LITIFUT_DIR=$(pwd)/data LITIFUT_CLOCK=none $2"
	run traced many
	guest_environment=
	ok "$2: the program does not notice" diff plain.out traced.out
	ok "$2: the trace is read" "$BUILD/bin/litifut-post" -f tsv -o "$1.tsv" data/trace data/maps \
		traced/many
}

behaviour()
{
	many_calls
	checker
	byte_order=l
	[ "$cpu" = mips ] && byte_order=b
	flags="-pthread -O1"
	link many ../many.c || return
	run plain many
	traced exact "LITIFUT_DEDUP=0"
	all_bytes=$(stat -c %s data/trace/*.trace)
	for kb in 2 4 64; do
		traced "dedup$kb" "LITIFUT_DEDUP=1 LITIFUT_BLOOM_KB=$kb"
		ok "a filter of $kb KiB misses what the theory says" \
			sh -c "python3 check.py $byte_order $kb exact.tsv dedup$kb.tsv data/trace/*.trace >check.out"
		sed "s/^/# $target, $kb KiB: /" check.out
		"$BUILD/bin/litifut-post" -f report -o report.txt data/trace data/maps traced/many \
			2>post.err
		ok "litifut-post reports its error: $(sed -n 's/.*; error //p' check.out)" \
			grep -qF "up to $(sed -n 's/.*; error //p' check.out) of them may be missing" post.err
	done
	echo "# $target: $all_bytes bytes of trace, $(stat -c %s data/trace/*.trace) with LITIFUT_DEDUP"
}

for_targets behaviour
