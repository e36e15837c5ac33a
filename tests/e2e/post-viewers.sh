#!/bin/sh
# Formats for the viewers of others: what uftrace, babeltrace2, gprof and Graphviz read out of them is
# what the other formats say; a trace for Perfetto is read by its rules (tests/perfetto.py).
. "$(dirname "$0")/../lib.sh"
few_targets armhf mips

# The slices of the timeline as the format chrome has them.
perfetto_equals_chrome()
{
	python3 "$root/tests/perfetto.py" out.perfetto >slices 2>mean && python3 - <<-'END'
		import json
		chrome, perfetto, mean = {}, {}, float(open("mean").read())
		names = {}
		for event in json.load(open("out.chrome"))["traceEvents"]:
		    key = event["pid"], event["tid"]
		    if event["ph"] == "M":
		        continue
		    stack = names.setdefault(key, [])
		    if event["ph"] == "B":
		        stack.append((event["cat"], event["name"]))
		    about = stack[-1] if event["ph"] == "B" else stack.pop()
		    chrome.setdefault(key, []).append((event["ph"], round(event["ts"] * 1000), about))
		for line in open("slices"):
		    pid, tid, kind, time, category, name = line.rstrip("\n").split("\t")
		    perfetto.setdefault((int(pid), int(tid)), []).append((kind, int(time), (category, name)))
		first = min(min(time for _, time, _ in events) for events in perfetto.values())
		if min(min(time for _, time, _ in events) for events in chrome.values()):
		    first = 0 # without a clock both begin with the first number
		else:
		    perfetto = {key: [(k, t - first, a) for k, t, a in events] for key, events in perfetto.items()}
		assert chrome.keys() == perfetto.keys()
		for key in chrome:
		    assert len(chrome[key]) == len(perfetto[key])
		    for a, b in zip(chrome[key], perfetto[key]):
		        assert a[0] == b[0] and a[2] == b[2] and abs(a[1] - b[1]) <= 2, (key, a, b)
		assert sum(map(len, chrome.values())) > 600
		assert mean <= 20, mean # bytes an event
	END
}

# Calls and times of each function, as uftrace adds them up, are those of csv.
uftrace_equals_csv()
{
	uftrace report -d out.uftrace --no-pager -f total,self,call 2>uftrace.err >uftrace.report || return
	[ ! -s uftrace.err ] && python3 - "$1" <<-'END'
		import csv, re, sys
		sums = {}
		for row in csv.DictReader(open("out.csv")):
		    sum = sums.setdefault(row["callee"], [0, 0, 0])
		    sum[0] += int(row["calls"])
		    sum[1] += int(row["timed_calls"] or 0)
		    sum[2] += int(row["self_ns"] or 0)
		units, found = {"us": 1e3, "ms": 1e6, "s": 1e9, "m": 60e9}, {}
		for line in open("uftrace.report"):
		    part = re.match(r" *(?:([0-9.]+) (us|ms|s|m))? *(?:([0-9.]+) (us|ms|s|m))? +([0-9]+) +(\S.*)", line)
		    if part:
		        found[part[6].strip()] = int(part[5]), float(part[3] or 0) * units[part[4] or "s"]
		assert found["fib(int)"][0] >= 300 and "shape::scale(int)" in found, found
		compared = 0
		for name, (calls, timed, self) in sums.items():
		    assert found[name][0] >= calls, (name, found[name], calls) # and those from outside
		    if sys.argv[1] == "spans" and timed and timed == calls == found[name][0]:
		        assert abs(found[name][1] - self) <= 0.001 * self + calls + 1000, (name, found[name], self)
		        compared += 1
		assert compared >= 2 or sys.argv[1] != "spans"
	END
}

uftrace_shows()
{
	uftrace graph -d out.uftrace --no-pager >uftrace.graph 2>&1 &&
		grep 'FUNCTION CALL GRAPH' uftrace.graph && grep 'shape::scale(int)' uftrace.graph &&
		uftrace replay -d out.uftrace --no-pager >uftrace.replay 2>&1 &&
		[ "$(grep '| .*shape::scale(int)' uftrace.replay | grep -vc '} /\*')" = \
			"$(grep -c 'shape::scale(int)' out.calls)" ]
}

babeltrace_reads()
{
	babeltrace2 out.ctf >ctf.text 2>ctf.err && [ ! -s ctf.err ] && python3 - <<-'END'
		import re
		calls, stacks, sites = 0, {}, 0
		for line in open("ctf.text"):
		    part = re.search(r'(enter|leave|mark): \{ pid = (\d+), tid = (\d+) \}, \{ function = \( "(.*)" : container = \d+ \)(?:, site = 0x([0-9A-F]+))?', line)
		    assert part, line
		    stack = stacks.setdefault(part[3], [])
		    if part[1] == "enter":
		        stack.append(part[4])
		        sites += part[5] != "0"
		    else:
		        assert stack.pop() == part[4], line
		assert not any(stacks.values())
		calls = len(open("out.tsv").readlines()) - 1
		assert sites == calls, (sites, calls)
	END
}

gprof_reads()
{
	"$triplet-gprof" -b traced/program out.gmon >gprof.text 2>gprof.err && python3 - "$1" <<-'END'
		import csv, re, sys
		calls = {}
		self = {}
		for row in csv.DictReader(open("out.csv")):
		    if row["callee_module"] == "program":
		        calls[row["callee"]] = calls.get(row["callee"], 0) + int(row["calls"])
		        self[row["callee"]] = self.get(row["callee"], 0) + int(row["self_ns"] or 0)
		text = open("gprof.text").read()
		part = re.search(r"^\[\d+\].* (\d+)\+(\d+) +fib\(int\) \[", text, re.M)
		assert part and int(part[1]) + int(part[2]) == calls["fib(int)"], part
		if sys.argv[1] == "spans":
		    flat = re.search(r"^ *([0-9.]+) +[0-9.]+ +[0-9.]+ .* fib\(int\)$", text, re.M)
		    share = 100 * self["fib(int)"] / sum(self.values())
		    assert abs(float(flat[1]) - share) < 0.1, (flat[0], share)
	END
}

mermaid_is_whole()
{
	python3 - "$1" <<-'END'
		import re, sys
		lines = open("out.mermaid").read().split("\n")
		assert lines[0] == "flowchart TD" and lines[-1] == ""
		nodes, edges, styles = set(), 0, 0
		for line in lines[1:-1]:
		    node = re.fullmatch(r'    (f\d+)\["[^"\[\]]*"\]', line)
		    edge = re.fullmatch(r'    (f\d+) -->\|"[^"|]*"\| (f\d+)', line)
		    style = re.fullmatch(r"    linkStyle (\d+) stroke-width:[0-9.]+px", line)
		    assert node or edge or style or line.startswith("    %% "), line
		    if node:
		        nodes.add(node[1])
		    elif edge:
		        assert {edge[1], edge[2]} <= nodes
		        edges += 1
		    elif style:
		        assert int(style[1]) == styles
		        styles += 1
		assert edges == styles == int(sys.argv[1]), (edges, sys.argv)
	END
}

folder_stays()
{
	! "$BUILD/bin/litifut-post" -q -f uftrace -o out.uftrace data 2>stays.err &&
		grep 'out.uftrace: File exists' stays.err && [ -f out.uftrace/info ] &&
		! "$BUILD/bin/litifut-post" -q -f ctf data 2>stays.err && grep -e '-o FOLDER' stays.err &&
		[ "$(find . -maxdepth 1 -name 'out.uftrace.*' | wc -l)" = 0 ]
}

# with PROGRAM DESCRIPTION COMMAND...: if the program is there
with()
{
	with_program=$1
	shift
	if command -v "$with_program" >/dev/null; then
		ok "$@"
	else
		skip "$1" "$with_program is not installed"
	fi
}

behaviour()
{
	fibonacci_program
	language=g++
	clock=$1
	if [ "$1" = spans ]; then
		clock=mono
		export LITIFUT_MODE=spans LITIFUT_CLOCK=mono
	fi
	link program ../main.cc -O1 -pthread || return
	unset LITIFUT_MODE LITIFUT_CLOCK
	language=gcc
	guest_environment="LITIFUT_CLOCK=$clock"
	same_run program
	guest_environment=
	for format in perfetto chrome uftrace ctf csv tsv calls gmon mermaid; do
		"$BUILD/bin/litifut-post" -q -f $format --min 0 -o "out.$format" data traced/program 2>post.err ||
			ok "$format" false
	done
	edges=$("$BUILD/bin/litifut-post" -q -f edges data traced/program | wc -l)
	ok "perfetto shows what chrome does, in 20 bytes an event" perfetto_equals_chrome
	with uftrace "uftrace report adds up what csv does" uftrace_equals_csv "$1"
	with uftrace "uftrace graph and replay show it" uftrace_shows
	with babeltrace2 "babeltrace2 reads every enter and leave" babeltrace_reads
	with "$triplet-gprof" "gprof reads counts and times" gprof_reads "$1"
	ok "mermaid has all edges" mermaid_is_whole "$edges"
	with dot "dot makes a PDF" sh -c '"$0" -q -f dot --pdf -o out.pdf data traced/program &&
		[ "$(head -c 5 out.pdf)" = %PDF- ] && tail -c 8 out.pdf | grep EOF' "$BUILD/bin/litifut-post"
	ok "a folder that is there stays as it is" folder_stays
}

all_kinds()
{
	for kind in none mono spans; do
		# the thunks of spans need a CPU that armel programs do not
		[ "$kind $target" != "spans armel" ] || continue
		mkdir $kind
		cd $kind || return
		behaviour $kind
		cd ..
	done
}
for_targets all_kinds
