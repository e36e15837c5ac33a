#!/bin/sh
# The HTML report in a browser (headless Chromium, no network): it draws, the search finds, a
# row opens the callers and callees, zoom changes the pictures, the source shows its counts, what
# is missing has a cure, and the console stays empty. Times are those of the other formats.
. "$(dirname "$0")/../lib.sh"
few_targets armhf mips

# browse FILE: what a user would find, in FILE.found; console messages in FILE.console
browse()
{
	cat >tries.js <<-'END'
		const found = {}, wait = ms => new Promise(done => setTimeout(done, ms));
		const pixels = canvas => {
			const data = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
			let sum = 0, drawn = 0;
			for (let i = 0; i < data.length; i += 4) {
				if (data[i + 3]) drawn++;
				sum = (sum * 31 + data[i] + 3 * data[i + 1] + 7 * data[i + 2]) % 1000003;
			}
			return [drawn, sum];
		};
		const act = async (canvas, action) => {
			const draws = canvas.dataset.draws || "0";
			action();
			for (let i = 0; i < 100 && (canvas.dataset.draws || "0") === draws; i++) await wait(50);
			return pixels(canvas);
		};
		const key = k => dispatchEvent(new KeyboardEvent("keydown", { key: k, bubbles: true }));
		const search = text => {
			const box = document.getElementById("search");
			box.value = text;
			box.dispatchEvent(new Event("input"));
		};
		found.ready = document.documentElement.dataset.ready !== undefined;
		found.rows = document.querySelectorAll("#functions tbody tr").length;
		search("middle");
		await wait(200);
		found.searched = [...document.querySelectorAll("#functions tbody tr")].map(r => r.textContent).length;
		document.querySelector("#functions tbody tr").click();
		await wait(50);
		found.name = document.getElementById("function-name").textContent;
		found.neighbours = [...document.querySelectorAll("#function tbody tr")].map(r => r.children[r.children.length - 2].textContent);
		found.boxes = document.querySelectorAll("#function svg .node").length;
		found.lines = [...document.querySelectorAll("#function svg path")].map(p => +p.getAttribute("stroke-width"));
		search("twice");
		await wait(200);
		document.querySelector("#functions tbody tr").click();
		await wait(50);
		const places = document.querySelector("#function details");
		places.querySelector("summary").click();
		found.places = [places.open, 1 + places.querySelectorAll("div").length, document.getElementById("function-name").textContent];
		search("");
		await wait(200);
		const module = document.getElementById("functions-module");
		found.modules = [...module.options].map(o => o.textContent);
		module.value = [...module.options].find(o => o.textContent === "program").value;
		module.dispatchEvent(new Event("change"));
		found.of_program = [...document.querySelectorAll("#functions tbody tr")].map(r => r.lastChild.textContent);
		document.getElementById("functions-module").value = "-1";
		document.getElementById("functions-module").dispatchEvent(new Event("change"));
		const graph = document.getElementById("flame-canvas");
		const up = await act(graph, () => key("2"));
		const marked = await act(graph, () => search("leaf"));
		found.share = document.getElementById("flame-found").textContent;
		search("");
		await wait(200);
		const down = await act(graph, () => document.getElementById("flame-inverted").click());
		const again = await act(graph, () => document.getElementById("flame-inverted").click());
		await act(graph, () => document.getElementById("theme").click());
		const colour = getComputedStyle(document.body).backgroundColor;
		await act(graph, () => document.getElementById("theme").click());
		found.flame_ways = [marked[1] !== up[1], down[1] !== up[1], again[1] === up[1], colour !== getComputedStyle(document.body).backgroundColor];
		key("1");
		for (const [k, id] of [["2", "flame"], ["3", "timeline"]]) {
			const canvas = document.getElementById(`${id}-canvas`), before = await act(canvas, () => key(k));
			const zoomed = await act(canvas, () => canvas.dispatchEvent(new WheelEvent("wheel", { deltaY: -400, clientX: 60, bubbles: true, cancelable: true })));
			const reset = await act(canvas, () => document.getElementById(`${id}-reset`).click());
			found[id] = { drawn: before[0] > 500, zoomed: zoomed[1] !== before[1], reset: reset[1] === before[1] };
		}
		key("5");
		await wait(50);
		found.about = document.getElementById("about").textContent.includes("Build-id");
		found.missing = [...document.querySelectorAll("#missing li")].map(l => l.textContent);
		key("1");
		await wait(50);
		found.columns = [...document.querySelectorAll("#functions th")].map(h => h.dataset.column);
		found.sorted = {};
		for (const c of found.columns) {
			const head = document.querySelector(`#functions th[data-column=${c}]`);
			if (!head.hasAttribute("aria-sort")) head.click();
			found.sorted[c] = [...document.querySelectorAll("#functions tbody tr")].slice(0, 3).map(r => r.children[found.columns.indexOf("name")].textContent);
		}
		key("4");
		await wait(50);
		found.source = [...document.querySelectorAll("#source .hit")].map(l => [...l.children].map(c => c.textContent.trim()).concat(l.lastChild.textContent.trim()));
		return found;
	END
	timeout 300 python3 "$root/tests/browser.py" "$1" tries.js >"$1.out" || return
	head -n 1 "$1.out" >"$1.found"
	# reading the pictures back, as this script does, gives a hint
	sed 1d "$1.out" | grep -v 'Multiple readback' >"$1.console"
	[ -s "$1.found" ]
}

found_all()
{
	python3 - "$@" <<-'END'
		import json, re, sys
		found = json.load(open(sys.argv[1]))
		mode = sys.argv[2]
		assert "error" not in found, found["error"]
		assert found["ready"] and found["about"], found
		assert found["rows"] >= 4, found
		assert found["searched"] == 1 and found["name"] == "int middle<int>(int)", found
		assert sorted(found["neighbours"]) == ["leaf(int)", "main"], found
		assert found["boxes"] == 3 and len(found["lines"]) == 2, found # main, the function, leaf()
		# by time the line to main is the widest, by calls (5 and 10) that to leaf()
		assert max(found["lines"]) == 8 and found["lines"][0 if mode == "spans" else 1] == 8, found
		assert found["places"] == [True, 2, "twice(int)"], found
		assert found["modules"][0] == "All modules" and "program" in found["modules"], found
		assert set(found["of_program"]) == {"program"} and len(found["of_program"]) < found["rows"], found
		assert re.fullmatch(r"Found: .+, [0-9.]+ %\.", found["share"]), found
		assert found["flame_ways"] == [True] * 4, found
		for view in "flame", "timeline":
		    assert found[view] == {"drawn": True, "zoomed": True, "reset": True}, found
		times = {"spans": ["self", "total", "average", "min", "max"], "mono": ["least", "most"], "none": []}[mode]
		assert found["columns"] == ["calls", "made", *times, "name", "module"], found
		assert found["sorted"]["calls"][0] in ("leaf(int)", "printf", "other(int)"), found
		if mode == "spans":
		    page = re.search('id="data">(.*?)</script>', open("report.html").read(), re.S).group(1)
		    functions = json.loads(page)["functions"]
		    totals = dict(zip(functions["name"], functions["total"]))
		    assert found["sorted"]["total"] == sorted(totals, key=totals.get, reverse=True)[:3], (found, totals)
		    assert totals["main"] >= totals["int middle<int>(int)"] + totals["other(int)"], totals # what it called
		    assert not any("There are no times" in m or "bounds" in m for m in found["missing"]), found
		else:
		    assert any("LITIFUT_MODE=spans" in m for m in found["missing"]), found
		lines = {line[-1]: line for line in found["source"]}
		leaf = next(text for text in lines if "int leaf(int n)" in text)
		assert lines[leaf][:2] == ["25", "25"], lines # 10 of middle(), 15 of other()
		assert next(text for text in lines if "sum += leaf(i);" in text), lines
		assert lines["sum += leaf(i);"][1] == "10", lines
	END
}

# The figures of the page are those of the table that csv writes.
same_times()
{
	"$BUILD/bin/litifut-post" -q -f csv -o report.csv data traced/program && python3 - <<-'END'
		import csv, json, re
		page = open("report.html").read()
		data = json.loads(re.search('id="data">(.*?)</script>', page, re.S).group(1))
		functions = data["functions"]
		sums = {}
		for row in csv.DictReader(open("report.csv")):
		    sum = sums.setdefault(row["callee"], [0, 0, 0, 0])
		    sum[0] += int(row["calls"])
		    if int(row["timed_calls"] or 0):
		        sum[1] += int(row["timed_calls"])
		        sum[2] += int(row["self_ns"])
		        sum[3] = max(sum[3], int(row["max_ns"]))
		compared = 0
		for i, name in enumerate(functions["name"]):
		    calls, timed, self, most = sums.get(name, [0, 0, 0, 0])
		    assert functions["calls"][i] == calls, name
		    assert functions["timed"][i] == timed, name
		    assert functions["max"][i] == most, (name, functions["max"][i], most)
		    assert abs(functions["self"][i] - self) <= calls, (name, functions["self"][i], self)
		    compared += timed > 0
		assert compared >= 3
		flame = data["flame"]
		assert abs(__builtins__.sum(flame["time"]) - __builtins__.sum(s for _, _, s, _ in sums.values())) < 200
	END
}

cured()
{
	cp traced/program stripped && "$triplet-strip" stripped &&
		"$BUILD/bin/litifut-post" -q --no-maps-paths -f html -o missing.html data stripped 2>/dev/null
	python3 - <<-'END'
		import json, re
		data = json.loads(re.search('id="data">(.*?)</script>', open("missing.html").read(), re.S).group(1))
		assert data["unresolved"] > 0
		found = [m for m in data["missing"] if "PATH/TO/program" in m["cure"]]
		assert found and "stripped" in found[0]["what"], data["missing"]
		assert found[0]["cure"].startswith("litifut-post -q --no-maps-paths -f html -o missing.html data stripped "), found
		assert any("symbol table" in p for p in data["problems"]), data["problems"]
	END
}

behaviour()
{
	cat >main.cc <<-'END'
		#include <cstdio>
		__attribute__((noinline)) int leaf(int n) { return printf("</script>%d\n", n); }
		template <class T> __attribute__((noinline)) T middle(T n)
		{
			T sum = 0;
			for (T i = 0; i < n; i++)
				sum += leaf(i);
			return sum + 1;
		}
		__attribute__((noinline)) int other(int n) { return n ? other(n - 1) + leaf(n) : 0; }
		__attribute__((noinline)) int twice(int n) { return n / 3; }
		int main()
		{
			int sum = twice(7) - twice(8);
			for (int i = 0; i < 5; i++)
				sum += middle<int>(i) + other(3);
			return sum == 0;
		}
	END
	language=g++
	case $1 in
	spans) export LITIFUT_MODE=spans LITIFUT_CLOCK=mono clock=mono ;;
	*) clock=$1 ;;
	esac
	link program ../main.cc -g -O1 -fno-ipa-icf || return
	unset LITIFUT_MODE LITIFUT_CLOCK
	language=gcc
	guest_environment="LITIFUT_CLOCK=$clock"
	same_run program
	guest_environment=
	ok "a report is made" "$BUILD/bin/litifut-post" -q -f html -o report.html --source "$(pwd)" \
		data traced/program
	[ "$1" != spans ] || ok "its times are those of csv" same_times
	ok "what is missing comes with its cure" cured
	ok "it holds nothing that needs a network" sh -c '! grep -nE "(src|href)=|https?://" report.html | grep -v w3.org/2000/svg'
	if ! command -v chromedriver >/dev/null; then
		skip "the report in a browser" "chromedriver is not installed"
		return
	fi
	ok "a browser opens it" browse report.html
	ok "it draws, finds, zooms and sorts" found_all report.html.found "$1"
	ok "the console stays empty" [ ! -s report.html.console ]
}

# More distinct stacks than the flame graph has nodes for: the page stays small, and says what it leaves out.
many_stacks()
{
	cat >many.c <<-'END'
		#define KEEP __attribute__((noipa))
		static void step(int left);
		#define FUNCTION(n) KEEP void f##n(int left) { step(left); }
		FUNCTION(0) FUNCTION(1) FUNCTION(2) FUNCTION(3) FUNCTION(4) FUNCTION(5) FUNCTION(6) FUNCTION(7)
		static inline __attribute__((always_inline)) void step(int left)
		{
			if (!left)
				return;
			f0(left - 1); f1(left - 1); f2(left - 1); f3(left - 1);
			f4(left - 1); f5(left - 1); f6(left - 1); f7(left - 1);
		}
		int main(void)
		{
			step(6);
			return 0;
		}
	END
	link many ../many.c -O1 -fno-optimize-sibling-calls || return
	guest_environment="LITIFUT_DIR=$(pwd)/data"
	run traced many
	guest_environment=
	ok "of too many stacks the largest are shown" largest_are_shown
}

largest_are_shown()
{
	"$BUILD/bin/litifut-post" -q -f html -o many.html data traced/many && python3 - <<-'END'
		import json, re
		page = open("many.html").read()
		assert len(page) < 5000000, len(page)
		data = json.loads(re.search('id="data">(.*?)</script>', page, re.S).group(1))
		flame = data["flame"]
		# the least nodes are alike, so all of them go together
		assert 8 ** 5 < len(flame["parent"]) <= 200000, len(flame["parent"])
		assert len(flame["parent"]) + flame["left_out"] >= sum(8 ** n for n in range(1, 7)), flame["left_out"]
	END
}

all_kinds()
{
	if [ "$target" = armhf ]; then
		mkdir many
		cd many || return
		many_stacks
		cd ..
	fi
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
