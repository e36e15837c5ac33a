#!/bin/sh
# The programs that a format is made for open it, and find in it what the trace
# holds: callgrind_annotate, dot, flamegraph.pl. Perfetto is not packaged, so
# its rules for a JSON trace stand here (its import: events sorted by time, kept
# in order where equal; an E ends the innermost open slice of its thread).
. "$(dirname "$0")/../lib.sh"
few_targets armhf mips

flamegraph=/usr/share/perl5/Devel/NYTProf/flamegraph.pl

perfetto_rules()
{
	python3 - "$1" "$2" <<-'END'
		import json, sys
		trace = json.load(open(sys.argv[1]))
		calls = int(sys.argv[2])
		assert "displayTimeUnit" not in trace # Perfetto has taken "ns" for the unit of ts
		named, stacks, slices, made = set(), {}, 0, 0
		def number(value, whole):
		    assert isinstance(value, int) or not whole and isinstance(value, float), value
		    assert 0 <= value < 2 ** 32 or not whole and value >= 0, value
		    return value
		for event in trace["traceEvents"]:
		    number(event["pid"], True), number(event["tid"], True)
		    if event["ph"] == "M":
		        assert event["name"] in ("process_name", "thread_name")
		        assert event["args"]["name"]
		        named.add((event["name"], event["pid"]))
		trace = [event for event in trace["traceEvents"] if event["ph"] != "M"]
		trace.sort(key=lambda event: number(event["ts"], False)) # is stable
		for event in trace:
		    assert ("process_name", event["pid"]) in named
		    stack = stacks.setdefault(event["tid"], [])
		    if event["ph"] == "B":
		        assert event["name"] and isinstance(event["name"], str)
		        assert isinstance(event["cat"], str)
		        made += "args" in event
		        stack.append(event)
		        continue
		    assert event["ph"] == "E", event
		    begun = stack.pop() # fails when nothing is open
		    assert begun["ts"] <= event["ts"] and begun["pid"] == event["pid"]
		    slices += 1
		assert not any(stacks.values()), "slices without an end"
		assert made == calls, (made, calls)
		print(slices, "slices of", len(stacks), "threads")
	END
}

dot_shows()
{
	dot -Tsvg -o "$1.svg" "$1" && python3 - "$1.svg" "$2" <<-'END'
		import sys, xml.etree.ElementTree as tree
		picture = tree.parse(sys.argv[1])
		kinds = [part.get("class") for part in picture.iter() if part.get("class")]
		assert kinds.count("edge") == int(sys.argv[2]), (kinds.count("edge"), sys.argv[2])
		assert kinds.count("node") > 1
	END
}

flamegraph_shows()
{
	perl "$flamegraph" --countname calls "$1" >"$1.svg" && python3 - "$1.svg" "$2" <<-'END'
		import re, sys
		text = open(sys.argv[1]).read()
		import xml.etree.ElementTree as tree
		tree.fromstring(text)
		total = re.search(r"all \(([0-9,]+) calls, 100%\)", text).group(1)
		assert total.replace(",", "") == sys.argv[2], total
	END
}

annotated()
{
	callgrind_annotate "$1" >"$1.txt" && grep "$2 (100.0%)  PROGRAM TOTALS" "$1.txt" &&
		grep 'shape::scale(int)' "$1.txt" && grep 'Profiled target: *program' "$1.txt"
}

# Stacks in which each function stands once, with as many calls.
merged()
{
	"$BUILD/bin/litifut-post" -q -f folded --merge-recursion data traced/program >out.merged &&
		python3 - "$1" <<-'END'
			import sys
			lines = [line.rsplit(" ", 1) for line in open("out.merged")]
			assert sum(int(cost) for _, cost in lines) == int(sys.argv[1])
			for stack, _ in lines:
			    names = stack.split(";")
			    assert len(set(names)) == len(names), stack
			assert 3 <= len(lines) < len(open("out.folded").readlines())
		END
}

few_merged()
{
	"$BUILD/bin/litifut-post" -q -f folded --merge-recursion data traced/program >out.merged 2>merged.err || return
	[ ! -s merged.err ] && cat out.merged && awk '{ calls += $NF } END { exit !(NR < 10 && calls >= 2000) }' out.merged
}

# 2,000 calls inside each other, of functions with names of 300 letters, have stacks of more than 512 MB, which
# a line says before they are written.
deep()
{
	mkdir deep && cd deep || return
	long=$(printf '%300s' '' | tr ' ' x)
	cat >main.c <<-END
		__attribute__((noinline)) int odd_$long(int n);
		__attribute__((noinline)) int even_$long(int n) { return n ? odd_$long(n - 1) + 1 : 0; }
		int odd_$long(int n) { return n ? even_$long(n - 1) + 1 : 0; }
		int main(int count, char **words) { (void)words; return even_$long(count * 1999) & 1 ? 0 : 1; }
	END
	link program ../main.c -O1 -fno-optimize-sibling-calls -fno-inline || return
	same_run program
	# head ends it
	"$BUILD/bin/litifut-post" -q -f folded data traced/program 2>deep.err | head -c 1 >/dev/null
	ok "large stacks are announced" grep 'the output will have [0-9]* MB or more.*--merge-recursion' deep.err
	ok "merged they are few" few_merged
	for format in graph html; do
		for merge in '' --merge-recursion; do
			# shellcheck disable=SC2086 # none or one
			"$BUILD/bin/litifut-post" -q -f $format $merge -o "deep.$format$merge" data traced/program
		done
		# of 2,000 nodes
		ok "merged, $format is shorter" \
			[ $(($(wc -c <"deep.$format--merge-recursion") + 10000)) -lt "$(wc -c <"deep.$format")" ]
	done
	cd ..
}

# Callers of functions in the caller's file and in another one, each function once, in the folder of the
# sources and elsewhere: callgrind_annotate shortens some names of files there, and not others.
callers()
{
	mkdir files && cd files || return
	cat >far.c <<-'END'
		__attribute__((noipa)) int far_away(int x) { return x * 7; }
	END
	cat >near.c <<-'END'
		int far_away(int x);
		__attribute__((noipa)) int nearby(int x) { return far_away(x) + far_away(x + 1); }
		int main(void) { return nearby(1) + far_away(2) == 0; }
	END
	for mode in calls paths; do
		export LITIFUT_MODE=$mode
		link $mode "$(pwd)/near.c" "$(pwd)/far.c" -g -O1 || return
		unset LITIFUT_MODE
		rm -rf data
		same_run $mode
		"$BUILD/bin/litifut-post" -q -f callgrind --lines -o $mode.out data traced/$mode
		for folder in . /; do
			out=$(pwd)/$mode.out
			(cd $folder && callgrind_annotate --tree=both --threshold=100 "$out") |
				sed -n -e '/> .*:main (/d' -e 's/^.* \([<>*]\) *\(.*\/\)\{0,1\}\([a-z]*\.c:[a-z_]*\)\( ([0-9]*x)\)\{0,1\}.*/\1 \3\4/p' >shown
			is "callgrind_annotate: callers, $mode, in $folder" "$(sort shown | tr '\n' ' ')" \
				"* far.c:far_away * near.c:main * near.c:nearby < near.c:main (1x) < near.c:main (1x) < near.c:nearby (2x) > far.c:far_away (1x) > far.c:far_away (2x) > near.c:nearby (1x) "
		done
	done
	"$BUILD/bin/litifut-post" -q callers-of far_away data traced/paths >shown
	"$BUILD/bin/litifut-post" -q callees-of main data traced/paths >>shown
	is "callers-of, callees-of in paths" "$(sed -n -e 's/ \[paths\]//' -e '/^ *[0-9].*%/p' shown |
		awk '{ print $1, $2, $4, ($3 > 0) }' | sort | tr '\n' ' ')" \
		"1 33.3% main 1 1 50.0% far_away 1 1 50.0% nearby 1 2 66.7% nearby 1 "
	is "each call site" "$(grep -c '^  .*[a-z]+0x[0-9a-f]*$' shown)" 5
	cd ..
}

with_commas()
{
	echo "$1" | sed -e ':again' -e 's/\([0-9]\)\([0-9]\{3\}\)\(,\|$\)/\1,\2\3/; t again'
}

behaviour()
{
	fibonacci_program
	language=g++
	link program ../main.cc -pthread || return
	language=gcc
	guest_environment="LITIFUT_CLOCK=$1"
	same_run program
	guest_environment=
	for format in callgrind dot folded chrome tsv; do
		"$BUILD/bin/litifut-post" -q -f $format --min 0 -o "out.$format" data traced/program ||
			ok "$format" false
	done
	calls=$(($(wc -l <out.tsv) - 1))
	edges=$("$BUILD/bin/litifut-post" -q -f edges data traced/program | wc -l)
	ok "there is something to show" [ $calls -gt 300 ]
	if command -v callgrind_annotate >/dev/null; then
		ok "callgrind_annotate finds all calls" annotated out.callgrind "$(with_commas $calls)"
	else
		skip "callgrind_annotate" "it is not installed"
	fi
	if command -v dot >/dev/null; then
		ok "dot draws all edges" dot_shows out.dot "$edges"
	else
		skip "dot" "it is not installed"
	fi
	if [ -f $flamegraph ]; then
		ok "flamegraph.pl draws all calls" flamegraph_shows out.folded "$calls"
	else
		skip "flamegraph.pl" "libdevel-nytprof-perl is not installed"
	fi
	ok "recursion is merged" merged "$calls"
	ok "chrome keeps to Perfetto's rules" perfetto_rules out.chrome "$calls"
}

both_clocks()
{
	for clock in none mono; do
		mkdir $clock
		cd $clock || return
		behaviour $clock
		cd ..
	done
	deep
	if command -v callgrind_annotate >/dev/null; then
		callers
	else
		skip "callgrind_annotate: callers" "it is not installed"
	fi
}
for_targets both_clocks
