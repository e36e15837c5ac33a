#!/bin/sh
# The HTML report of traces that say which code was executed (LITIFUT_MODE=coverage, paths), in
# headless Chromium: its functions and sums are those of -f coverage, lines that were executed, missed
# and how often are those of a program that is known, and the last lines are those before its end.
. "$(dirname "$0")/../lib.sh"

browse()
{
	cat >tries.js <<-'END'
		const found = {}, wait = ms => new Promise(done => setTimeout(done, ms));
		const key = async k => { dispatchEvent(new KeyboardEvent("keydown", { key: k, bubbles: true })); await wait(100); };
		const visible = id => document.getElementById(id) && !document.getElementById(id).hidden;
		found.first = visible("code");
		found.sum = document.getElementById("code-sum").textContent;
		found.functions = [...document.querySelectorAll("#code tbody tr")].map(r => [...r.children].map(c => c.textContent));
		found.tabs = [...document.querySelectorAll("nav button")].filter(b => !b.hidden).map(b => b.dataset.view);
		const row = [...document.querySelectorAll("#code tbody tr")].find(r => r.textContent.includes("missed_one"));
		row.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", bubbles: true }));
		await wait(100);
		found.opened = visible("source") && document.querySelector("#source .chosen").textContent;
		found.source = [...document.querySelectorAll("#source pre > div")].map(r => [r.className, ...[...r.childNodes].map(c => c.textContent.trim())]);
		await key("7");
		found.ends = visible("ends") ? [...document.querySelectorAll("#ends pre div")].map(d => d.textContent) : null;
		await key("6");
		document.getElementById("code-order")?.click();
		await wait(200);
		found.missed = document.querySelector("#code tbody tr").cells[0].textContent;
		const box = document.getElementById("search");
		box.value = "missed";
		box.dispatchEvent(new Event("input"));
		await wait(200);
		found.searched = document.querySelectorAll("#code tbody tr").length;
		return found;
	END
	timeout 300 python3 "$root/tests/browser.py" "$1" tries.js >"$1.out" || return
	head -n 1 "$1.out" >"$1.found"
	sed 1d "$1.out" >"$1.console"
	[ -s "$1.found" ]
}

found_all()
{
	python3 - "$1" <<-'END'
		import json, re, sys
		found = json.load(open("report.html.found"))
		mode = sys.argv[1]
		assert "error" not in found, found["error"]
		assert found["first"], found
		assert found["tabs"] == ["source", "code"] + (["ends"] if mode == "paths" else []) + ["about"], found["tabs"]
		# the sums are those of -f coverage
		head = open("coverage.txt").readline()
		a, b, ways, branches = re.match(r"functions (\d+) of (\d+) .* ways of branches (\d+) of (\d+) ", head).groups()
		said = re.sub(r"(?<=\d)\s(?=\d)", "", found["sum"])
		assert said == f"{a} of {b} functions executed, {ways} of {branches} ways of branches taken", (said, head)
		rows = {row[-2]: row for row in found["functions"]}
		assert rows["missed_one"][0] == "no" and rows["step"][0] == "yes" and rows["main"][0] == "yes", rows
		assert int(rows["step"][-4]) == 2 and int(rows["step"][-3]) == 2, rows["step"]
		assert int(rows["mostly"][-4]) == 1 and int(rows["mostly"][-3]) == 2, rows["mostly"]
		assert "if (n)" in found["opened"] or found["opened"].endswith("{"), found["opened"]
		lines = {line[-1]: line for line in found["source"]}
		line = lambda text: next(l for t, l in lines.items() if text in t)
		# coverage does not say it of what lies behind a branch that was not come to
		missed = "sink = n * 3;" if mode == "paths" else "missed_one(argc);"
		assert "missed" in line(missed)[0], line(missed)
		assert "hit" in line("sink = n + 5;")[0], lines
		if mode == "paths": # n is 0 to 9
		    assert rows["step"][1] == "10" and rows["main"][1] == "1" and rows["missed_one"][1] == "", rows
		    # instructions are those of -f callgrind, and can be the order of the rows
		    own, function, calls = {}, None, False
		    for text in open("callgrind.out"):
		        if text.startswith("fn="):
		            function = text.strip()[3:]
		        elif text.startswith("calls="):
		            calls = True
		        elif text.startswith("0x"):
		            own[function] = own.get(function, 0) + (0 if calls else int(text.split()[2]))
		            calls = False
		    number = lambda text: int(re.sub(r"\s", "", text) or 0)
		    shown = [(row[-2], number(row[2])) for row in found["functions"]]
		    assert {name: count for name, count in shown if count} == {name: count for name, count in own.items() if count}, (shown, own)
		    assert found["missed"] == "no", found["missed"]
		    assert own["step"] >= 30 and [count for _, count in shown] == sorted((count for _, count in shown), reverse=True), shown
		    assert line("sink = n + 3;")[1] == "3", line("sink = n + 3;")
		    assert line("other = n + 4;")[1] == "7", line("other = n + 4;")
		    assert line("other = n + 6;")[1] == "no", line("other = n + 6;")
		    ends = found["ends"]
		    last = max(i for i, text in enumerate(ends) if "last_words" in text)
		    assert not any(re.search(r"\bstep\b", text) for text in ends[last:]), ends[last:]
		    assert "main.c:" in ends[last], ends[last]
		    indent = lambda text: len(text) - len(text.lstrip())
		    caller = next(text for text in reversed(ends[:last]) if " main.c" in text or "main " in text)
		    assert indent(ends[last]) == indent(caller) + 2, (caller, ends[last])
		else:
		    assert line("sink = n + 3;")[1] == "yes", lines
		    assert found["ends"] is None
		assert found["searched"] == 1, found["searched"]
	END
}

behaviour()
{
	cat >main.c <<-'END'
		#include <stdio.h>
		volatile int sink, other;
		__attribute__((noipa)) void missed_one(int n)
		{
			if (n)
				sink = n * 3;
			other = n;
		}
		__attribute__((noipa)) void step(int n)
		{
			if (n < 3)
				sink = n + 3;
			else
				other = n + 4;
		}
		__attribute__((noipa)) void mostly(int n)
		{
			if (n < 100)
				sink = n + 5;
			else
				other = n + 6;
		}
		__attribute__((noipa)) void last_words(void)
		{
			puts("done");
		}
		int main(int argc, char **argv)
		{
			(void)argv;
			for (int n = 0; n < 10; n++) {
				step(n);
				mostly(n);
			}
			if (argc > 7)
				missed_one(argc);
			last_words();
			return 0;
		}
	END
	for mode in coverage paths; do
		# paths need a CPU that armel programs do not
		[ "$mode $target" != "paths armel" ] || continue
		mkdir $mode
		cd $mode || return
		export LITIFUT_MODE=$mode
		link program ../../main.c -g -O1 || return
		unset LITIFUT_MODE
		same_run program
		ok "$mode: a report is made, and nothing is said of other formats" sh -c \
			"'$BUILD/bin/litifut-post' -f html -o report.html --source '$(pwd)/..' data traced/program 2>said && ! grep -q 'see -f' said"
		ok "$mode: coverage in text" sh -c "'$BUILD/bin/litifut-post' -q -f coverage data traced/program >coverage.txt"
		[ $mode = coverage ] || "$BUILD/bin/litifut-post" -q -f callgrind -o callgrind.out data traced/program
		if command -v chromedriver >/dev/null; then
			ok "$mode: a browser opens it" browse report.html
			ok "$mode: functions, lines and the end are right" found_all $mode
			ok "$mode: the console stays empty" [ ! -s report.html.console ]
		else
			skip "$mode: the report in a browser" "chromedriver is not installed"
		fi
		cd ..
	done
}
few_targets armhf mipsel
for_targets behaviour
