/* Which view is shown, and the keys. It is the last part, as it starts the page. */
const views = {
	functions: drawFunctions,
	function: () => {},
	flame: () => flame.show(),
	timeline: () => timeline.show(),
	source: drawSource,
	about: drawAbout,
	...(C ? { code: drawCode } : {}),
	...(C && C.ends.length ? { ends: drawEnds } : {}),
};
const tabs = ["functions", "flame", "timeline", "source", "about", "code", "ends"];
let current = "";
const show = (view, f) => {
	current = view;
	for (const id of Object.keys(views)) $(id).hidden = id !== view;
	for (const b of document.querySelectorAll("nav button[data-view]"))
		b.setAttribute("aria-selected", b.dataset.view === (view === "function" ? "functions" : view));
	showTip({ clientX: 0, clientY: 0 }, "");
	views[view]();
	/* so that the keys for zoom are for the picture */
	if (document.documentElement.dataset.ready && (view === "flame" || view === "timeline"))
		$(`${view}-canvas`).focus({ preventScroll: true });
	const hash = f === undefined ? `#view=${view}` : `#function=${f}`;
	if (location.hash !== hash) history.pushState(null, "", hash);
};
const route = () => {
	const hash = location.hash.slice(1),
		f = /^function=(\d+)$/.exec(hash);
	if (f && +f[1] < F.name.length) showFunction(+f[1]);
	else {
		const view = hash.replace(/^view=/, "");
		show(Object.hasOwn(views, view) && view !== "function" ? view : C && !data.calls ? "code" : "functions");
	}
};
for (const b of document.querySelectorAll("nav button[data-view]")) {
	b.addEventListener("click", () => show(b.dataset.view));
	b.hidden =
		!Object.hasOwn(views, b.dataset.view) ||
		(C && !data.calls && ["functions", "flame", "timeline"].includes(b.dataset.view));
}
let typing = 0;
$("search").addEventListener("input", e => {
	clearTimeout(typing);
	typing = setTimeout(() => {
		setQuery(e.target.value);
		if (current === "flame") {
			flame.view.redraw();
			flame.found();
		} else if (current === "timeline") timeline.view.redraw();
		else show(current === "code" ? "code" : "functions");
	}, 60);
});
$("theme").addEventListener("click", () => {
	const dark = matchMedia("(prefers-color-scheme: dark)").matches,
		theme = document.documentElement.dataset.theme || (dark ? "dark" : "light");
	document.documentElement.dataset.theme = theme === "dark" ? "light" : "dark";
	if (current) views[current]();
});
addEventListener("keydown", e => {
	if (e.ctrlKey || e.altKey || e.metaKey) return;
	if (e.target instanceof HTMLInputElement || e.target instanceof HTMLSelectElement) {
		if (e.key === "Escape") {
			e.target.value = "";
			e.target.dispatchEvent(new Event("input"));
			e.target.blur();
		}
		return;
	}
	if (e.key === "/") {
		$("search").focus();
		e.preventDefault();
		return;
	}
	const view = tabs[+e.key - 1];
	if (Object.hasOwn(views, view)) {
		show(view);
		e.preventDefault();
	}
});
addEventListener("popstate", route);

const programs = [...new Set(data.processes.map(p => p.program))];
const lost = data.processes.reduce((a, p) => a + p.lost, 0);
document.title = `${programs.slice(0, 3).join(", ")}: LITIFUT report`;
$("title").textContent =
	programs.slice(0, 3).join(", ") + (programs.length > 3 ? ` and ${programs.length - 3} more` : "");
$("facts").replaceChildren(
	data.calls || !C
		? `${group(data.calls)} calls, ${group(F.name.length)} functions`
		: `${group(C.name.length)} functions`,
	data.processes.length === 1 ? ", 1 process" : `, ${data.processes.length} processes`,
	...data.modules
		.filter(m => m.traced && m.build_id)
		.slice(0, 1)
		.map(m =>
			el(
				"span",
				{ id: "build", title: `build-id ${m.build_id} of ${m.name}` },
				`, build ${m.build_id.slice(0, 8)}${m.engine ? `, engine ${m.engine}` : ""}`,
			),
		),
	lost ? el("span", { class: "warn" }, `, ${group(lost)} calls were lost`) : "",
	data.unresolved ? el("span", { class: "warn" }, `, ${group(data.unresolved)} calls without a name`) : "",
	data.problems.length
		? el("span", { class: "warn" }, `, ${data.problems.length} problem${data.problems.length === 1 ? "" : "s"}`)
		: "",
	...(data.missing.length
		? [
				", ",
				el(
					"a",
					{ href: "#view=about" },
					data.missing.some(m => m.cure) ? "what is missing and what to do" : "what is missing",
				),
			]
		: []),
);
route();
document.documentElement.dataset.ready = performance.now().toFixed(0);
