#!/bin/sh
# speedscope itself, in headless Chromium, opens what litifut-post writes for it: its table of functions has
# their names and times, in nested and recursive calls, of each thread.
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

behaviour()
{
	cat >main.c <<-'END'
		#include <stdio.h>
		#define KEEP __attribute__((noipa))
		static KEEP int leaf(int n) { return n + 1; }
		static KEEP int middle(int n) { int sum = 0; for (int i = 0; i < n; i++) sum += leaf(i); return sum; }
		static KEEP int recursive(int n) { return n ? recursive(n - 1) + middle(n) : 0; }
		int main(void) { for (int i = 0; i < 20; i++) printf("%d\n", recursive(i)); return 0; }
	END
	LITIFUT_MODE=spans LITIFUT_CLOCK=page link program ../main.c -g -O1 || return
	python3 "$root/tests/oracle/oracle.py" ranges traced/program >through
	qemu_options="-plugin $BUILD/tests/oracle.so,calls=oracle,through=through,returns=1,clock=1"
	guest_environment=LITIFUT_CLOCK=page
	same_run program
	qemu_options='' guest_environment=''
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
}
TARGETS=armhf for_targets behaviour
