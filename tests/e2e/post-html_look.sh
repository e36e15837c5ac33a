#!/bin/sh
# How the HTML report looks where there is little room, much text, or nothing to show (headless Chromium):
# on the screen of a phone nothing but tables and pictures moves sideways, names of 2,000 characters leave
# room for the rest, labels of the time axis differ however near one looks, and empty pages say why.
. "$(dirname "$0")/../lib.sh"

# names of some 2,000 characters
long_names()
{
	cat >long.cc <<-'END'
		#include <cstdio>
		#include <cstdlib>
		template <class A, class B> struct a_pair_with_a_rather_long_name {};
		namespace some_library { struct policy_of_allocation {}; struct policy_for_threads {}; }
		using t0 = a_pair_with_a_rather_long_name<some_library::policy_of_allocation, some_library::policy_for_threads>;
		using t1 = a_pair_with_a_rather_long_name<t0, a_pair_with_a_rather_long_name<t0, int>>;
		using t2 = a_pair_with_a_rather_long_name<t1, a_pair_with_a_rather_long_name<t1, int>>;
		using t3 = a_pair_with_a_rather_long_name<t2, a_pair_with_a_rather_long_name<t2, int>>;
		template <class X> __attribute__((noinline)) int visit(int n) { return printf("%d\n", n); }
		template <class X> __attribute__((noinline)) int walk(int n)
		{
			int sum = 0;
			for (int i = 0; i < n; i++)
				sum += visit<X>(i);
			return sum;
		}
		volatile int sink;
		__attribute__((noinline)) int gone(int n) { if (n) exit(n - 1); return sink = n; }
		int main()
		{
			int sum = 0;
			for (int i = 0; i < 9; i++)
				sum += walk<t3>(i) + walk<int>(i);
			return gone(0) + gone(sum == 0 ? 2 : 1);
		}
	END
	language=g++
	LITIFUT_MODE=spans LITIFUT_CLOCK=mono link program ../long.cc -g -O1 -fno-ipa-icf
	language=gcc
}

# Functions that the scripts below use.
helpers()
{
	cat <<-'END'
		const found = {}, wait = ms => new Promise(done => setTimeout(done, ms)), $ = id => document.getElementById(id);
		const key = async (k, target = document.body) => { target.dispatchEvent(new KeyboardEvent("keydown", { key: k, bubbles: true })); await wait(150); };
		const search = async text => { $("search").value = text; $("search").dispatchEvent(new Event("input")); await wait(250); };
		const room = () => innerWidth - document.documentElement.scrollWidth;
		HTMLElement.prototype.setPointerCapture = () => {};
		const point = async (canvas, type, x, y, id = 1) => {
			const box = canvas.getBoundingClientRect();
			canvas.dispatchEvent(new PointerEvent(type, { clientX: box.left + x, clientY: box.top + y, pointerId: id, buttons: 1, bubbles: true }));
			await wait(60);
		};
	END
}

on_a_phone()
{
	{
		helpers
		cat <<-'END'
			found.width = innerWidth;
			found.first = document.querySelector("#functions th").dataset.column;
			const head = document.querySelector("#functions th").getBoundingClientRect(), next = document.querySelector("#functions th:nth-child(2)").getBoundingClientRect();
			found.level = head.top === next.top;
			found.room = {};
			for (const [k, id] of [["1", "functions"], ["2", "flame"], ["3", "timeline"], ["4", "source"], ["5", "about"]]) {
				await key(k);
				found.room[id] = room();
			}
			await key("1");
			document.querySelector("#functions tbody tr").click();
			await wait(100);
			found.room.function = room();
			/* two fingers that go apart */
			await key("3");
			const canvas = $("timeline-canvas"), draws = () => +canvas.dataset.draws;
			let labels = new Set();
			const write = CanvasRenderingContext2D.prototype.fillText;
			CanvasRenderingContext2D.prototype.fillText = function (text, ...rest) { if (/^[\d.\u202f]+ (ns|µs|ms|s)$/.test(text)) labels.add(text); write.call(this, text, ...rest); };
			$("timeline-reset").click();
			await wait(100);
			found.whole = [...labels];
			labels.clear();
			await point(canvas, "pointerdown", 170, 40, 1);
			await point(canvas, "pointerdown", 190, 40, 2);
			await point(canvas, "pointermove", 330, 40, 2);
			await point(canvas, "pointerup", 170, 40, 1);
			await point(canvas, "pointerup", 330, 40, 2);
			found.pinched = [...labels];
			return found;
		END
	} >phone.js
	timeout 300 python3 "$root/tests/browser.py" report.html phone.js 390x844 >phone && cat phone &&
		python3 - <<-'END'
			import json
			lines = open("phone").read().splitlines()
			assert len(lines) == 1, lines # the console is empty
			found = json.loads(lines[0])
			assert "error" not in found, found
			assert found["width"] == 390, found # else something was wider than the screen
			assert all(room >= 0 for room in found["room"].values()), found
			assert found["first"] == "name" and found["level"], found
			assert found["whole"] and found["pinched"] and found["whole"] != found["pinched"], found
		END
}

on_a_desk()
{
	{
		helpers
		cat <<-'END'
			found.room = {};
			found.room.functions = room();
			found.longest = Math.max(...[...document.querySelectorAll("#functions td.name")].map(c => c.textContent.length));
			found.partly = [...document.querySelectorAll("#functions tbody tr")].map(r => r.textContent).filter(t => t.includes("gone(int)"));
			await search("walk<a_pair");
			document.querySelector("#functions tbody tr").click();
			await wait(100);
			found.room.function = room();
			found.head = $("function-name").getBoundingClientRect().height;
			await search("");
			await key("2");
			/* which of the two functions is wider, and with it where they stand, depends on the run */
			const long = () => !$("tip").hidden && $("tip").textContent.startsWith("int walk<a_pair"), width = $("flame-canvas").clientWidth;
			for (let y = 10; y < 200 && !long(); y += 19)
				for (let x = 40; x < width && !long(); x += width / 8)
					await point($("flame-canvas"), "pointermove", x, y);
			const tip = $("tip").getBoundingClientRect();
			found.tip = [$("tip").textContent.slice(0, 15), tip.top >= 0 && tip.left >= 0 && tip.bottom <= innerHeight && tip.right <= innerWidth];
			/* labels of the axis, from the whole run down to some nanoseconds */
			await key("3");
			const write = CanvasRenderingContext2D.prototype.fillText;
			let labels = [];
			CanvasRenderingContext2D.prototype.fillText = function (text, ...rest) { if (/^[\d.\u202f]+ (ns|µs|ms|s)$/.test(text)) labels.push(text); write.call(this, text, ...rest); };
			found.focused = document.activeElement.id;
			found.twice = [];
			for (let i = 0; i < 40; i++) {
				labels = [];
				await key("+", document.activeElement);
				/* on a busy machine a frame takes longer than the wait behind a key */
				for (let more = 0; more < 40 && !labels.length; more++) await wait(50);
				if (new Set(labels).size !== labels.length) found.twice.push(labels);
				found.last = labels;
			}
			await key("1");
			await search("no such function");
			found.unfound = $("nothing").textContent;
			$("nothing").querySelector("button").click();
			await wait(100);
			found.again = document.querySelectorAll("#functions tbody tr").length;
			return found;
		END
	} >desk.js
	timeout 300 python3 "$root/tests/browser.py" report.html desk.js >desk && cat desk &&
		python3 - <<-'END'
			import json
			lines = open("desk").read().splitlines()
			assert len(lines) == 1, lines
			found = json.loads(lines[0])
			assert "error" not in found, found
			assert found["longest"] > 1000, found # else the test tests nothing
			assert all(room >= 0 for room in found["room"].values()), found
			assert found["head"] < 250, found
			assert len(found["partly"]) == 1 and "2 (1 timed)" in found["partly"][0], found["partly"]
			assert found["tip"] == ["int walk<a_pair", True], found
			assert found["focused"] == "timeline-canvas", found
			assert not found["twice"] and found["last"] and found["last"][-1].endswith(("ns", "ms", "µs")), found
			assert "no such function" in found["unfound"] and found["again"] >= 5, found
		END
}

# says FILE WORDS: each of its views says why it is empty
says()
{
	{
		helpers
		cat <<-'END'
			found.said = {};
			for (const [k, id] of [["1", "functions"], ["2", "flame"], ["3", "timeline"]]) {
				await key(k);
				found.said[id] = $(id).innerText;
			}
			await key("5");
			found.missing = $("missing") ? $("missing").innerText : "";
			return found;
		END
	} >empty.js
	timeout 300 python3 "$root/tests/browser.py" "$1" empty.js >empty && cat empty &&
		python3 - "$2" <<-'END'
			import json, sys
			lines = open("empty").read().splitlines()
			assert len(lines) == 1, lines
			found = json.loads(lines[0])
			assert all(sys.argv[1] in said for said in found["said"].values()), found
			assert "time" not in found["missing"], found # of what?
		END
}

behaviour()
{
	long_names || return
	guest_environment="LITIFUT_CLOCK=mono"
	same_run program
	guest_environment=
	ok "a report is made" "$BUILD/bin/litifut-post" -q -f html -o report.html --source "$(pwd)" data traced/program
	ok "it says how and what was recorded" python3 -c '
import json, re
data = json.loads(re.search("id=\"data\">(.*?)</script>", open("report.html").read(), re.S).group(1))
assert data["processes"][0]["mode"] == "spans", data["processes"]
assert [m["engine"] for m in data["modules"] if m["name"] == "program"] == ["thunk"], data["modules"]
assert all(m["engine"] is None for m in data["modules"] if not m["traced"])'
	"qemu-$cpu" -L "$sysroot" -E LITIFUT_DIR=off -E LITIFUT_START=off traced/program >/dev/null
	ok "one of a run that was not recorded" "$BUILD/bin/litifut-post" -q -f html -o off.html off traced/program
	ok "one without a call that the filters leave" sh -c "! '$BUILD/bin/litifut-post' -q -f html -o filtered.html \
		--include 'no such function' data traced/program"
	if ! command -v chromedriver >/dev/null; then
		skip "the report in a browser" "chromedriver is not installed"
		return
	fi
	ok "on a phone" on_a_phone
	ok "long names, and the axis of time" on_a_desk
	ok "nothing was recorded, and it says so" says off.html "No call was recorded."
	ok "nothing is left, and it says so" says filtered.html "No call is left by the filters"
}
TARGETS=armhf for_targets behaviour
