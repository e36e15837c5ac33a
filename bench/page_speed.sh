#!/bin/sh
# How large the page of -f html is, and how fast headless Chromium draws it and answers: of a program that makes
# ten million events in more distinct stacks than a flame graph has nodes for, or of other traces.
#
#   bench/page_speed.sh                        that program on ARM
#   bench/page_speed.sh litifut-data PATH...   the traces and ELF files that are given
root=$(cd "$(dirname "$0")/.." && pwd)
. "$root/tests/lib.sh"

work=$BUILD/bench/page_speed
mkdir -p "$work"

# 8 + 64 + ... + 8^7 calls a round
make_trace()
{
	use_target armhf
	cd "$work" || exit
	cat >main.c <<-'END'
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
			step(7);
			step(7);
			return 0;
		}
	END
	export LITIFUT_MODE=spans LITIFUT_CLOCK=mono
	link program ../main.c -O1 -fno-optimize-sibling-calls >&2
	unset LITIFUT_MODE LITIFUT_CLOCK
	rm -rf data
	guest_environment="LITIFUT_CLOCK=mono LITIFUT_DIR=$(pwd)/data"
	run traced program
	guest_environment=
}

if [ $# = 0 ]; then
	make_trace
	set -- "$work/data" "$work/traced/program"
fi
"$BUILD/bin/litifut-post" -f html -o "$work/report.html" "$@" || exit
cat >"$work/tries.js" <<'END'
const data = JSON.parse(document.getElementById("data").textContent), answers = {};
const painted = () => new Promise(done => requestAnimationFrame(() => setTimeout(done, 0)));
const timed = async (what, action) => {
	const begin = performance.now();
	action();
	await painted();
	answers[what] = performance.now() - begin;
};
const key = k => dispatchEvent(new KeyboardEvent("keydown", { key: k, bubbles: true }));
const wheel = id => document.getElementById(id).dispatchEvent(
	new WheelEvent("wheel", { deltaY: -400, clientX: 200, bubbles: true, cancelable: true }));
await timed("sorting", () => document.querySelector("#functions th[data-column=calls]").click());
await timed("flame graph", () => key("2"));
await timed("its zoom", () => wheel("flame-canvas"));
await timed("bottom-up", () => document.getElementById("flame-inverted").click());
await timed("timeline", () => key("3"));
await timed("its zoom ", () => wheel("timeline-canvas"));
const box = document.getElementById("search");
key("1");
await timed("search", () => { box.value = "f"; box.dispatchEvent(new Event("input")); });
return { answers, paint: performance.getEntriesByName("first-contentful-paint")[0]?.startTime,
	ready: +document.documentElement.dataset.ready, nodes: data.flame.parent.length, left_out: data.flame.left_out,
	calls: data.calls };
END
python3 "$root/tests/browser.py" "$work/report.html" "$work/tries.js" >"$work/found" || exit
python3 - "$work" <<'END'
import json, os, sys
found = json.loads(open(sys.argv[1] + "/found").readline())
slowest = max(found["answers"], key=found["answers"].get)
print("| calls | page, bytes | nodes of the flame graph | left out | first picture, s | all of it, s | slowest answer, s |")
print("|---:|---:|---:|---:|---:|---:|---|")
print("| %d | %d | %d | %d | %.2f | %.2f | %.2f (%s) |" % (
    found["calls"], os.path.getsize(sys.argv[1] + "/report.html"), found["nodes"], found["left_out"],
    (found["paint"] or 0) / 1e3, found["ready"] / 1e3, found["answers"][slowest] / 1e3, slowest.strip()))
END
