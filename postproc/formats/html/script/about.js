/* What is in the trace, and what is missing. */
const clocks = {
	none: "none: the order of calls is known, their time is not",
	monotonic: "nanoseconds of the kernel's monotonic clock",
	cycle: "a counter of the CPU",
	page: "executed instructions",
};
const modes = {
	calls: "calls, in order",
	spans: "calls and returns with their time, in order",
	table: "count and times of each call site",
	counts: "how often each call site was executed",
	stream: "calls, in order",
	paths: "every branch, in order",
	coverage: "which branches were taken",
	units: "tasks and events",
	balllarus: "path numbers",
};
const drawAbout = () => {
	const list = pairs => el("dl", {}, ...pairs.flatMap(([k, v]) => [el("dt", {}, k), el("dd", {}, v)]));
	$("about").replaceChildren(
		el("h2", {}, "What is missing"),
		data.missing.length
			? el(
					"ul",
					{ id: "missing" },
					...data.missing.map(m => el("li", {}, m.what, m.cure ? el("pre", {}, m.cure) : "")),
				)
			: el("p", { class: "quiet" }, "Nothing."),
		el("h2", {}, "Problems"),
		data.problems.length
			? el("ul", { id: "problems" }, ...data.problems.map(p => el("li", { class: "warn" }, p)))
			: el("p", { class: "quiet" }, "None."),
		el("h2", {}, "Processes"),
		...data.processes.map(p =>
			list([
				["program", p.program],
				["process", `${p.pid}, parent ${p.parent_pid}`],
				["events", group(p.events)],
				["lost", group(p.lost)],
				["threads", group(p.threads.length)],
				["recorded", modes[p.mode] || p.mode],
				["clock", clocks[p.clock]],
				["end", p.stopped ? "it ended, or recording was stopped" : "it was killed, or still runs"],
			]),
		),
		el("h2", {}, "Modules"),
		el(
			"table",
			{},
			el(
				"thead",
				{},
				el(
					"tr",
					{},
					...["Module", "Build-id", "Traced", "Engine", "File"].map(t => el("th", { class: "text" }, t)),
				),
			),
			el(
				"tbody",
				{},
				...data.modules
					.filter(m => m.name !== "?")
					.map(m =>
						el(
							"tr",
							{},
							el("td", { class: "text" }, m.name),
							el("td", { class: "text" }, m.build_id || "none"),
							el("td", { class: "text" }, m.traced ? "yes" : "no: only calls to it"),
							el("td", { class: "text" }, m.engine || ""),
							el("td", { class: "text" }, m.file || "not found"),
						),
					),
			),
		),
		el("h2", {}, "Keys"),
		el(
			"p",
			{},
			...["functions", "flame graph", "timeline", "source", "this page", "executed code", "last lines"].flatMap(
				(what, i) => (Object.hasOwn(views, tabs[i]) ? [el("kbd", {}, i + 1), ` ${what} `] : []),
			),
			el("kbd", {}, "/"),
			" search ",
			el("kbd", {}, "+"),
			" ",
			el("kbd", {}, "−"),
			" ",
			el("kbd", {}, "←"),
			" ",
			el("kbd", {}, "→"),
			" ",
			el("kbd", {}, "0"),
			" zoom, move and reset in the pictures",
		),
		el("p", { class: "quiet" }, `Made by litifut-post ${data.version}.`),
	);
};
