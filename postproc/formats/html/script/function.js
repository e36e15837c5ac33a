/* One function: its callers, callees and call sites. */
const S = data.sites;
/* Rows of a table, and boxes on each side of the graph. */
const NEIGHBOURS = 400,
	BOXES = 12;
let byCaller = null,
	byCallee = null;
const indexSites = () => {
	if (byCaller) return;
	byCaller = new Map();
	byCallee = new Map();
	for (let i = 0; i < S.caller.length; i++) {
		for (const [map, key] of [
			[byCaller, S.caller[i]],
			[byCallee, S.callee[i]],
		]) {
			const list = map.get(key);
			if (list) list.push(i);
			else map.set(key, [i]);
		}
	}
};
const neighbours = (f, incoming) => {
	indexSites();
	const found = new Map();
	for (const s of (incoming ? byCallee : byCaller).get(f) || []) {
		const other = incoming ? S.caller[s] : S.callee[s];
		const entry = found.get(other) || { f: other, calls: 0, total: 0, sites: [] };
		entry.calls += S.calls[s];
		if (S.total) entry.total += S.total[s];
		entry.sites.push(s);
		found.set(other, entry);
	}
	return [...found.values()].sort((a, b) => b.total - a.total || b.calls - a.calls);
};
const PLT = [
	"",
	" through a PLT entry, where it leads is not known",
	" through a PLT entry",
	" through a PLT entry, guessed where it leads",
];
const place = s =>
	(S.line && S.line[s]
		? `${data.files[S.file[s]]}:${S.line[s]}`
		: `${name(S.caller[s])}+0x${S.offset[s].toString(16)}`) + PLT[S.plt[s]];
const shortPlace = s => (S.line && S.line[s] ? place(s).replace(/^.*\/(?=[^/]*$)/, "") : place(s));
/* Where the calls are made: all places, and no more than one until they are asked for. */
const sitesOf = n => {
	if (n.sites.length === 1) return shortPlace(n.sites[0]);
	const stay = e => e.stopPropagation(); /* the row opens the function */
	return el(
		"details",
		{ onclick: stay, onkeydown: stay },
		el("summary", {}, `${shortPlace(n.sites[0])} and ${group(n.sites.length - 1)} more`),
		...n.sites.slice(1).map(s => el("div", {}, shortPlace(s))),
	);
};
const neighbourTable = (title, list) =>
	el(
		"div",
		{},
		el("h2", {}, `${title} (${group(list.length)})`),
		!list.length
			? el("p", { class: "quiet" }, "None in this trace.")
			: el(
					"table",
					{},
					el(
						"thead",
						{},
						el(
							"tr",
							{},
							el("th", {}, "Calls"),
							S.total ? el("th", {}, "Total") : "",
							el("th", { class: "text name" }, "Function"),
							el("th", { class: "text sites" }, "Call sites"),
						),
					),
					el(
						"tbody",
						{},
						...list.slice(0, NEIGHBOURS).map(n =>
							el(
								"tr",
								{
									tabindex: 0,
									onclick: () => showFunction(n.f),
									onkeydown: e => {
										if (e.key === "Enter") showFunction(n.f);
									},
								},
								el("td", {}, group(n.calls)),
								S.total ? el("td", {}, time(n.total)) : "",
								el(
									"td",
									{
										class: "text name",
										title: name(n.f),
									},
									name(n.f),
								),
								el("td", { class: "text sites quiet" }, sitesOf(n)),
							),
						),
					),
				),
		list.length > NEIGHBOURS
			? el("p", { class: "quiet" }, `${group(list.length - NEIGHBOURS)} more with less are left out.`)
			: "",
	);

/* Callers on the left, callees on the right; the width of a line is its share of the time, or of the calls
 * where there are no times. */
const neighbourGraph = (f, callers, callees) => {
	const NS = "http://www.w3.org/2000/svg";
	const svg = (tag, attributes, text) => {
		const e = document.createElementNS(NS, tag);
		for (const [k, v] of Object.entries(attributes)) e.setAttribute(k, v);
		if (text !== undefined) e.textContent = text;
		return e;
	};
	const left = callers.slice(0, BOXES),
		right = callees.slice(0, BOXES);
	const rows = Math.max(left.length, right.length, 1),
		height = rows * 30 + 10,
		width = 960,
		box = 280;
	const root = svg("svg", {
		viewBox: `0 0 ${width} ${height}`,
		width: "100%",
		role: "img",
		"aria-label": "Callers and callees",
	});
	const weight = n => (S.total ? n.total : n.calls);
	const most = Math.max(1, ...left.map(weight), ...right.map(weight));
	const node = (x, y, g, label, centre) => {
		const e = svg("g", { tabindex: 0, transform: `translate(${x} ${y})` });
		e.append(
			svg("rect", {
				class: centre ? "node center" : "node",
				width: box,
				height: 24,
				rx: 4,
			}),
			svg("text", { x: 8, y: 16 }, label.length > 38 ? label.slice(0, 37) + "…" : label),
			svg("title", {}, label),
		);
		if (!centre) {
			e.addEventListener("click", () => showFunction(g));
			e.addEventListener("keydown", k => {
				if (k.key === "Enter") showFunction(g);
			});
		}
		root.append(e);
	};
	const middle = height / 2 - 12;
	const line = (x1, y1, x2, y2, n) =>
		root.append(
			svg("path", {
				d: `M${x1} ${y1} C${(x1 + x2) / 2} ${y1} ${(x1 + x2) / 2} ${y2} ${x2} ${y2}`,
				"stroke-width": 1 + (7 * weight(n)) / most,
			}),
		);
	left.forEach((n, i) => line(box, i * 30 + 17, (width - box) / 2, middle + 12, n));
	right.forEach((n, i) => line((width + box) / 2, middle + 12, width - box, i * 30 + 17, n));
	left.forEach((n, i) => node(0, i * 30 + 5, n.f, name(n.f), false));
	right.forEach((n, i) => node(width - box, i * 30 + 5, n.f, name(n.f), false));
	node((width - box) / 2, middle, f, name(f), true);
	return root;
};
const showFunction = f => {
	if (f === NONE) return;
	const callers = neighbours(f, true),
		callees = neighbours(f, false);
	const times = n => `${group(n)} time${n === 1 ? "" : "s"}`;
	const facts = [
		`called ${times(F.calls[f])}${partly(f)}`,
		`makes ${group(F.made[f])} call${F.made[f] === 1 ? "" : "s"}`,
	];
	const total = measured && `total ${F.at_least[f] ? "at least " : ""}${time(F.total[f])}`;
	if (measured && F.timed[f])
		facts.push(
			...(F.self_known[f] ? [`self ${time(F.self[f])}`] : []),
			total,
			`average ${time(F.average[f])}`,
			`min ${time(F.min[f])}`,
			`max ${time(F.max[f])}`,
		);
	else if (measured && F.at_least[f]) facts.push(total);
	else if (bounded) facts.push(`between ${time(F.least[f])} and ${time(F.most[f])}`);
	if (F.energy)
		facts.push(
			`energy ${joules(F.energy[f])} ± ${joules(F.energy_error[f])}`,
			`in total ${joules(F.energy_total[f])}`,
		);
	const where = F.line && F.line[f] ? `${data.files[F.file[f]]}:${F.line[f]}` : "";
	$("function").replaceChildren(
		el(
			"div",
			{ class: "bar" },
			el("button", { onclick: () => show("functions") }, "← All functions"),
			el("strong", { id: "function-name" }, name(f)),
			el(
				"span",
				{ class: "quiet" },
				`[${moduleOf(f)}] `,
				hasSource(f)
					? el(
							"a",
							{
								href: "#source",
								onclick: e => {
									e.preventDefault();
									showSource(f);
								},
							},
							where,
						)
					: where,
			),
			el("span", {}, facts.join(", ")),
		),
		el("div", { class: "wide" }, neighbourGraph(f, callers, callees)),
		callers.length > BOXES || callees.length > BOXES
			? el(
					"p",
					{ class: "quiet" },
					`The picture has the first ${BOXES} of each side; the tables have the others.`,
				)
			: "",
		el("div", { class: "columns" }, neighbourTable("Callers", callers), neighbourTable("Callees", callees)),
	);
	show("function", f);
};
