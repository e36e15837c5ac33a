#!/bin/sh
# Energy of functions from a trace with spans: a program runs under the page clock, each function draws
# another power, and an analyser with a clock of its own samples it. What energy finds is what the
# functions drew, and what it advises is a configuration that a link takes.
. "$(dirname "$0")/../lib.sh"
few_targets armhf mipsel

found()
{
	python3 - "$1" <<-'END'
		import sys
		truth = {line.split()[0]: float(line.split()[1]) for line in open("truth")}
		lines = [line.rstrip("\n").split("\t") for line in open("energy.tsv")]
		rows = {line[0]: dict(zip(lines[0], line)) for line in lines[1:]}
		wrong = False
		for name, calls in ("leaf", 80), ("work", 40), ("rare", 5):
		    error = float(rows[name]["self_j"]) / truth[name] - 1
		    print(name, rows[name]["calls"], error)
		    assert int(rows[name]["calls"]) == calls, rows[name]
		    wrong |= abs(error) > 0.01
		inside = sum(float(row["self_j"]) for name, row in rows.items() if name not in ("(total)",))
		assert abs(inside / float(rows["(total)"]["self_j"]) - 1) < 1e-6
		# work calls leaf: its own and what 40 of the 80 calls drew
		below = truth["work"] + truth["leaf"] / 2
		assert wrong == (sys.argv[1] == "wrong")
		assert wrong or abs(float(rows["work"]["inclusive_j"]) / below - 1) < 0.01
	END
}

energy()
{
	"$BUILD/bin/litifut-post" energy -q --no-refine --power power.csv "$@" data traced/program
}

measure()
{
	end=$(awk '$1 == "end" { print $2 }' truth)
	energy -f tsv --at 0=0.000250025 --at "$end=$(awk "BEGIN { printf \"%.9f\", ($end + 0.00025) * 1.0001 }")" \
		"$@" >energy.tsv
}

# the same comparison must see a wrong pair of times: 20 us on spans of 28
catches_a_shift()
{
	energy -f tsv --at 0=0.000270025 >energy.tsv && found wrong
}

# smeared right|wrong OPTIONS: the curve behind capacitors of 20 us
smeared()
{
	python3 - <<-'END'
		import math
		lines = open("power.csv").read().splitlines()
		kept, step, tau = math.exp(-100 / 20000), 100, 20000
		level = float(lines[1].split(",")[1])
		with open("smeared.csv", "w") as out:
		    out.write(lines[0] + "\n")
		    for line in lines[1:]:
		        time, power = line.split(",")
		        x = float(power)
		        out.write("%s,%.9f\n" % (time, x + (level - x) * tau / step * (1 - kept)))
		        level = x + (level - x) * kept
	END
	smeared_is=$1
	shift
	cp energy.tsv sharp.tsv
	mv power.csv sharp.csv && mv smeared.csv power.csv
	measure "$@" && found "$smeared_is"
	smeared_status=$?
	mv sharp.csv power.csv
	return $smeared_status
}

# The power that the timeline has while a function is on top is what the function drew.
timeline()
{
	energy -f chrome --at 0=0.000250025 --at "$end=$(awk "BEGIN { printf \"%.9f\", ($end + 0.00025) * 1.0001 }")" >energy.json
	python3 - <<-'END'
		import json
		events = json.load(open("energy.json"))["traceEvents"]
		curve = [(event["ts"], event["args"]["W"]) for event in events if event["ph"] == "C"]
		assert curve == sorted(curve, key=lambda point: point[0]) and len(curve) > 10000
		for name, watts, calls in ("leaf", 0.005, 80), ("rare", 0.050, 5):
		    spans = [(event["ts"], event["ts"] + event["dur"]) for event in events if event["ph"] == "X" and event["name"] == name]
		    assert len(spans) == calls, (name, len(spans))
		    inside = [w for begin, end in spans[:5] for time, w in curve if begin + 1 < time < end - 1]
		    assert inside and abs(sum(inside) / len(inside) / watts - 1) < 0.01, (name, sum(inside) / len(inside))
	END
}

# The report for a browser has the curve on the trace's clock and the energies that tsv and folded have.
page()
{
	set -- --at 0=0.000250025 --at "$end=$(awk "BEGIN { printf \"%.9f\", ($end + 0.00025) * 1.0001 }")"
	energy -f html -o page.html "$@" && energy -f folded "$@" >energy.folded && energy -f tsv "$@" >page.tsv || return
	[ "$(wc -c <page.html)" -lt 5000000 ] || return
	python3 - <<-'END'
		import csv, json, re
		data = json.loads(re.search('id="data">(.*?)</script>', open("page.html").read(), re.S).group(1))
		power, timeline, functions = data["power"], data["timeline"], data["functions"]
		(curve,) = power["curves"]
		step, width = power["step"], power["width"]
		low = [v * step for v in curve["low"]] # none is null: there is no hole
		high = [l + v * step for l, v in zip(low, curve["high"])]
		mean = [l + v * step for l, v in zip(low, curve["mean"])]
		assert 1000 < len(low) == len(high) == len(mean) <= 32768
		assert all(l <= m + step and m <= h + step for l, m, h in zip(low, mean, high))
		assert abs(power["from"] - timeline["start"]) < 2 * width
		assert abs(power["from"] + len(low) * width - timeline["end"]) < 2 * width
		# of the run, by the analyser's clock
		end = float(next(line.split()[1] for line in open("truth") if line.startswith("end ")))
		samples = [(float(row["Time (s)"]) / 1.0001 - 0.00025, float(row["Power (W)"])) for row in csv.DictReader(open("power.csv"))]
		inside = [watts for time, watts in samples if 0 <= time < end]
		print(sum(mean) / len(mean), sum(inside) / len(inside))
		assert abs(sum(mean) / len(mean) / (sum(inside) / len(inside)) - 1) < 0.001
		# what draws most, and least, has the buckets that are highest and lowest
		spans = {}
		for row in timeline["lanes"][0]["rows"]:
		    at = 0
		    for begin, length, function in zip(row["begin"], row["length"], row["function"]):
		        at += begin
		        spans.setdefault(functions["name"][function], []).append((at, at + length))
		def inside_of(name, bucket):
		    begin = power["from"] + bucket * width
		    return any(a < begin + width and begin < b for a, b in spans[name])
		assert inside_of("rare", high.index(max(high))) and inside_of("leaf", low.index(min(low)))
		full = [m for i, m in enumerate(mean) for a, b in spans["rare"] if a + 200 < power["from"] + i * width and power["from"] + (i + 1) * width < b - 200]
		assert len(full) > 100 and all(abs(m / 0.050 - 1) < 0.01 for m in full), len(full)
		# energies are those of tsv and folded
		rows = {row["function"]: row for row in csv.DictReader(open("page.tsv"), delimiter="\t")}
		for column, of in ("energy", "self_j"), ("energy_error", "uncertainty_j"), ("energy_total", "inclusive_j"), ("energy_later", "later_j"):
		    for name, value in zip(functions["name"], functions[column]):
		        assert abs(value - float(rows[name][of])) <= 1e-5 * abs(value), (name, column, value, rows[name])
		assert {"leaf", "work", "rare"} <= set(functions["name"])
		for part in "total", "outside", "tracer", "transfer", "unexplained":
		    assert abs(power[part] - float(rows["(%s)" % part]["self_j"])) <= 1e-9 * power["total"], part
		folded = {}
		for line in open("energy.folded"):
		    path, value = line.rsplit(" ", 1)
		    folded[path] = int(value)
		flame, paths = data["flame"], []
		for parent, function in zip(flame["parent"], flame["function"]):
		    paths.append((paths[parent] + ";" if parent >= 0 else "") + functions["name"][function])
		assert len(paths) == len(folded) and flame["energy_left_out"] == 0, (paths, folded)
		for path, value in zip(paths, flame["energy"]):
		    assert abs(value - folded[path]) <= 1 + 1e-5 * value, (path, value, folded)
	END
}

# What is said on the terminal stands on the page as well, and what is missing has a command that makes it whole.
page_says()
{
	cp traced/program stripped && "$triplet-strip" stripped
	! "$BUILD/bin/litifut-post" energy -q --no-refine --power power.csv -f html -o says.html --at 0=0.000250025 \
		data stripped absent 2>says.words && grep 'absent: No such file' says.words && python3 - <<-'END'
		import json, re
		data = json.loads(re.search('id="data">(.*?)</script>', open("says.html").read(), re.S).group(1))
		assert any("absent" in line for line in data["problems"]), data["problems"]
		cures = [m["cure"] for m in data["missing"] if "PATH/TO/" in m["cure"]]
		assert cures and cures[0].startswith("litifut-post energy -q --no-refine --power power.csv "), data["missing"]
	END
}

# The same page in a browser: the curve lies above the lanes, is zoomed with them, and says its power.
browse()
{
	cat >tries.js <<-'END'
		const found = {}, wait = ms => new Promise(done => setTimeout(done, ms));
		const data = JSON.parse(document.getElementById("data").textContent), T = data.timeline;
		const key = k => dispatchEvent(new KeyboardEvent("keydown", { key: k, bubbles: true }));
		const drawn = async (canvas, action) => {
			const draws = canvas.dataset.draws || "0";
			action();
			for (let i = 0; i < 100 && (canvas.dataset.draws || "0") === draws; i++) await wait(50);
		};
		const middle = name => {
			for (const row of T.lanes[0].rows) {
				let at = 0;
				for (let i = 0; i < row.begin.length; i++) {
					at += row.begin[i];
					if (data.functions.name[row.function[i]] === name) return at + row.length[i] / 2;
				}
			}
		};
		found.columns = [...document.querySelectorAll("#functions th")].map(h => h.dataset.column);
		found.first = document.querySelector("#functions tbody tr").textContent;
		const canvas = document.getElementById("timeline-canvas");
		await drawn(canvas, () => key("3"));
		const box = canvas.getBoundingClientRect(), x = name => (middle(name) - T.start) / (T.end - T.start) * canvas.clientWidth;
		const tip = (name, y) => {
			canvas.dispatchEvent(new PointerEvent("pointermove", { clientX: box.left + x(name), clientY: box.top + y, bubbles: true }));
			return document.getElementById("tip").textContent;
		};
		/* how far down the curve begins in a column: below its name, above the lanes */
		const column = at => {
			const pixels = canvas.getContext("2d").getImageData(Math.round(at * devicePixelRatio), 0, 1, 112 * devicePixelRatio).data;
			const rgb = getComputedStyle(document.documentElement).getPropertyValue("--accent").trim();
			const accent = [1, 3, 5].map(i => parseInt(rgb.slice(i, i + 2), 16));
			for (let i = 0; i < pixels.length; i += 4) if ([0, 1, 2].every(k => Math.abs(pixels[i + k] - accent[k]) < 40)) return i / 4 / devicePixelRatio;
			return -1;
		};
		const upper = at => Math.max(column(at), column(at + 4)); /* one of them may be a line of the grid */
		const row = T.lanes[0].rows.findIndex(r => r.function.some(f => data.functions.name[f] === "rare"));
		found.tips = [tip("rare", 60), tip("rare", 112 + 4 + 36 + row * 16 + 5)];
		found.upper = [upper(x("rare")), upper(x("leaf"))];
		const wheel = name => canvas.dispatchEvent(new WheelEvent("wheel", { deltaY: -3000, clientX: box.left + x(name), bubbles: true, cancelable: true }));
		await drawn(canvas, () => wheel("leaf"));
		found.zoomed = [0.1, 0.3, 0.5, 0.7, 0.9].map(part => upper(part * canvas.clientWidth)); /* all of it in one call */
		await drawn(canvas, () => document.getElementById("timeline-reset").click());
		await drawn(document.getElementById("flame-canvas"), () => key("2"));
		const select = document.querySelector("#flame-bar select");
		found.weights = [...select.options].map(o => o.value);
		select.value = "energy";
		await drawn(document.getElementById("flame-canvas"), () => select.dispatchEvent(new Event("change")));
		const flame = document.getElementById("flame-canvas"), at = flame.getBoundingClientRect();
		flame.dispatchEvent(new PointerEvent("pointermove", { clientX: at.left + 5, clientY: at.top + 5, bubbles: true }));
		found.all = document.getElementById("tip").textContent;
		return found;
	END
	timeout 300 python3 "$root/tests/browser.py" page.html tries.js >page.out || return
	sed 1d page.out | grep -v 'Multiple readback' >page.console
	cat page.out
	[ ! -s page.console ] && python3 - <<-'END'
		import json
		found = json.loads(open("page.out").readline())
		assert "error" not in found, found["error"]
		columns = found["columns"]
		assert columns.index("energy") < columns.index("energy_error") < columns.index("energy_total") < columns.index("name")
		assert "energy_later" not in columns # nothing is known of peripherals
		assert found["first"].endswith("rareprogram"), found["first"] # sorted by energy
		assert found["tips"][0].startswith("50 mW, from 50 mW to 50 mW"), found["tips"]
		assert found["tips"][1].startswith("rare "), found["tips"]
		rare, leaf = found["upper"]
		assert 30 < rare < 50 < leaf < 112, found # 50 mW is the top, 5 mW hardly above 0
		assert all(abs(y - leaf) < 3 for y in found["zoomed"]), found
		assert found["weights"] == ["time", "energy", "calls"], found
		joules = sum(int(line.rsplit(" ", 1)[1]) for line in open("energy.folded")) * 1e-9
		value, unit = found["all"].split("\n")[1].split(",")[0].split(" ")
		assert abs(float(value) * {"mJ": 1e-3, "\u00b5J": 1e-6}[unit] / joules - 1) < 0.001, found["all"]
	END
}

advice_links()
{
	end=$(awk '$1 == "end" { print $2 }' truth)
	energy -f include --hook 4,4 --at 0=0.000250025 >fragment || return
	cat fragment
	grep '^exclude_callees = ' fragment || return
	LITIFUT_CONFIG=$(pwd)/fragment LITIFUT_MODE=spans "$BUILD/bin/litifut" build -q "$triplet-gcc" -O1 main.c \
		-o next >next.log 2>&1 && ! grep 'unknown key' next.log
	"$BUILD/bin/litifut" info --json next | grep -o '"excluded": [0-9]*' >excluded
	"$BUILD/bin/litifut" info --json traced/program | grep -o '"excluded": [0-9]*' >excluded.before
	! cmp -s excluded excluded.before
}

no_overlap()
{
	! energy --at 0=100 >none.report 2>none.words && [ ! -s none.report ] &&
		grep 'do not overlap: .* trace lies from 100 s to 100\.' none.words
}

# Returns are there, and the time is not: that is what has to be mended.
names_the_clock()
{
	guest_environment="LITIFUT_CLOCK=none LITIFUT_DIR=$(pwd)/clockless"
	run traced program
	guest_environment=''
	! "$BUILD/bin/litifut-post" energy -q --power power.csv --at 0=0 clockless traced/program \
		>clockless.words 2>&1 && cat clockless.words &&
		grep 'has returns, but no times: .*LITIFUT_CLOCK=mono' clockless.words
}

behaviour()
{
	if [ "$target" = armel ]; then
		skip "energy" "the thunks of spans need a CPU that armel programs do not"
		return
	fi
	cat >main.c <<-'END'
		#include <stdio.h>
		#define KEEP __attribute__((noipa))
		static volatile unsigned sink;
		KEEP unsigned leaf(unsigned n) { unsigned i = 0; while (i < n) sink += i++; return i; }
		KEEP unsigned work(unsigned n) { unsigned i = 0; while (i < n) sink += 3 * i++; i += leaf(4000) * 3; return i; }
		KEEP unsigned rare(unsigned n) { unsigned i = 0; while (i < n) sink ^= i++; return i; }
		int main(void)
		{
			for (unsigned i = 0; i < 40; i++) {
				sink += work(8000) * 3;
				sink += leaf(4000) * 5;
				if (i % 8 == 0)
					sink += rare(80000) * 7;
			}
			printf("%u\n", sink != 0);
			return 0;
		}
	END
	export LITIFUT_MODE=spans LITIFUT_CLOCK=page
	link program ../main.c -O1 || return
	unset LITIFUT_MODE LITIFUT_CLOCK
	qemu_options="-plugin $BUILD/tests/oracle.so,calls=oracle,clock=1"
	# the curve is made of the events, with the tracer in them
	guest_environment="LITIFUT_CLOCK=page LITIFUT_RAW=1 LITIFUT_DIR=$(pwd)/data"
	run traced program
	qemu_options='' guest_environment=''
	"$BUILD/bin/litifut-post" -q -f perfetto -o spans.perfetto data traced/program
	python3 "$root/tests/perfetto.py" spans.perfetto >slices 2>mean
	ok "the curve of an analyser" "$root/tests/energy/curve.py" slices
	ok "energy reads the trace" measure
	ok "what each function drew is found" found right
	ok "a wrong pair of times is seen" catches_a_shift
	ok "a timeline has the calls and the power" timeline
	ok "the page has the curve and the energies" page
	ok "the page says what was wrong, and what is missing" page_says
	if command -v chromedriver >/dev/null; then
		ok "a browser draws the curve above the lanes" browse
	else
		skip "the page in a browser" "chromedriver is not installed"
	fi
	ok "behind capacitors of 20 us: wrong" smeared wrong
	ok "and right again with --tau" smeared right --tau 20e-6
	ok "but not with another one" smeared wrong --tau 60e-6
	ok "a curve of another time is refused" no_overlap
	ok "a trace without times is refused with what to do" names_the_clock
	ok "the advice is a configuration that a link takes" advice_links
}
for_targets behaviour
