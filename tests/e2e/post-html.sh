#!/bin/sh
# The HTML report in a browser (headless Chromium, no network): it draws, the search finds, a
# row opens the callers and callees, zoom changes the pictures, and the console stays empty.
. "$(dirname "$0")/../lib.sh"

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
		search("");
		await wait(200);
		for (const [k, id] of [["2", "flame"], ["3", "timeline"]]) {
			const canvas = document.getElementById(`${id}-canvas`), before = await act(canvas, () => key(k));
			const zoomed = await act(canvas, () => canvas.dispatchEvent(new WheelEvent("wheel", { deltaY: -400, clientX: 60, bubbles: true, cancelable: true })));
			const reset = await act(canvas, () => document.getElementById(`${id}-reset`).click());
			found[id] = { drawn: before[0] > 500, zoomed: zoomed[1] !== before[1], reset: reset[1] === before[1] };
		}
		key("5");
		await wait(50);
		found.about = document.getElementById("about").textContent.includes("Build-id");
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
	python3 - "$1" <<-'END'
		import json, sys
		found = json.load(open(sys.argv[1]))
		assert "error" not in found, found["error"]
		assert found["ready"] and found["about"], found
		assert found["rows"] >= 4, found
		assert found["searched"] == 1 and found["name"] == "int middle<int>(int)", found
		assert sorted(found["neighbours"]) == ["leaf(int)", "main"], found
		for view in "flame", "timeline":
		    assert found[view] == {"drawn": True, "zoomed": True, "reset": True}, found
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
		int main()
		{
			int sum = 0;
			for (int i = 0; i < 5; i++)
				sum += middle<int>(i) + other(3);
			return sum == 0;
		}
	END
	language=g++
	link program ../main.cc -O1 -fno-ipa-icf || return
	language=gcc
	guest_environment="LITIFUT_CLOCK=$1"
	same_run program
	guest_environment=
	ok "a report is made" "$BUILD/bin/litifut-post" -q -f html -o report.html data traced/program
	ok "it holds nothing that needs a network" sh -c '! grep -nE "(src|href)=|https?://" report.html | grep -v w3.org/2000/svg'
	if ! command -v chromedriver >/dev/null; then
		skip "the report in a browser" "chromedriver is not installed"
		return
	fi
	ok "a browser opens it" browse report.html
	ok "it draws, finds and zooms" found_all report.html.found
	ok "the console stays empty" [ ! -s report.html.console ]
}

both_clocks()
{
	for clock in none mono; do
		mkdir $clock
		cd $clock || return
		behaviour $clock
		cd ..
	done
}
for_targets both_clocks
