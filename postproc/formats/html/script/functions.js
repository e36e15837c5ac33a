/* The table of functions. */
const F = data.functions,
	C = data.code;
const partly = i => (measured && F.timed[i] && F.timed[i] < F.calls[i] ? ` (${group(F.timed[i])} timed)` : "");
const columns = [
	[
		"calls",
		"Calls",
		i => F.calls[i],
		(v, i) => group(v) + partly(i),
		measured
			? "how often it was called; (N timed): the times are those of N calls, the others have no return that is known"
			: "how often it was called",
	],
	["made", "Calls made", i => F.made[i], group, "how many calls it made"],
	...(measured
		? [
				["self", "Self", i => F.self[i], (v, i) => (F.self_known[i] ? time(v) : ""), "time in the function itself"],
				[
					"total",
					"Total",
					i => F.total[i],
					(v, i) => (F.at_least[i] ? `> ${time(v)}` : F.timed[i] ? time(v) : ""),
					"time from its calls to their returns; recursion counted once; >: only a part of it is known",
				],
				[
					"average",
					"Average",
					i => F.average[i],
					(v, i) => (F.timed[i] ? time(v) : ""),
					"of the calls whose return is known",
				],
				["min", "Min", i => F.min[i], (v, i) => (F.timed[i] ? time(v) : ""), "shortest call"],
				["max", "Max", i => F.max[i], (v, i) => (F.timed[i] ? time(v) : ""), "longest call"],
			]
		: bounded
			? [
					["least", "At least", i => F.least[i], time, "up to the last call that is known to be inside"],
					["most", "At most", i => F.most[i], time, "up to the next call that shows that it has returned"],
				]
			: []),
	...(F.energy
		? [
				["energy", "Energy", i => F.energy[i], joules, "energy in the function itself"],
				["energy_error", "±", i => F.energy_error[i], joules, "standard error of it"],
				[
					"energy_total",
					"Energy in total",
					i => F.energy_total[i],
					joules,
					"with what it calls; recursion counted once",
				],
				...(F.energy_later.some(v => v)
					? [
							[
								"energy_later",
								"Energy later",
								i => F.energy_later[i],
								joules,
								"that peripherals used later or beside, because it was called",
							],
						]
					: []),
			]
		: []),
	["name", "Function", i => F.name[i], null, ""],
	["module", "Module", i => data.modules[F.module[i]].name, null, ""],
];
/* On a narrow screen the rest of a table is out of sight: the names come first. */
const narrow = matchMedia("(max-width: 700px)");
const ordered = list =>
	narrow.matches ? [...list.filter(c => c[0] === "name"), ...list.filter(c => c[0] !== "name")] : list;
/* Why there is nothing to show. */
const nothing = () =>
	data.processes.some(p => p.events > 0)
		? "No call is left by the filters with which this report was made."
		: "No call was recorded. When the program is run with LITIFUT_VERBOSE=1, it says where it records, or why it does not.";
let sort = F.energy ? "energy" : measured ? "self" : bounded ? "most" : "calls",
	ascending = false,
	shown = 200,
	ofModule = NONE;
/* Which module the functions are to be of. */
const chooseModule = () => {
	const some = [...new Set(F.module)].sort((a, b) => data.modules[a].name.localeCompare(data.modules[b].name));
	if (some.length < 2) return "";
	const option = (value, text) => el("option", { value, selected: value === ofModule ? "" : false }, text);
	return el(
		"select",
		{
			id: "functions-module",
			"aria-label": "Module",
			onchange: e => {
				ofModule = +e.target.value;
				drawFunctions();
			},
		},
		option(NONE, "All modules"),
		...some.map(m => option(m, data.modules[m].name)),
	);
};

const drawFunctions = () => {
	const column = columns.find(c => c[0] === sort);
	const rows = [];
	for (let i = 0; i < F.name.length; i++)
		if ((!matches || matches[i]) && (ofModule === NONE || F.module[i] === ofModule)) rows.push(i);
	const keys = rows.map(column[2]);
	const order = rows
		.map((_, i) => i)
		.sort((a, b) => {
			const x = keys[a],
				y = keys[b];
			const d = typeof x === "string" ? x.localeCompare(y) : y - x;
			return (ascending ? -d : d) || rows[a] - rows[b];
		});
	const cells = ordered(columns);
	const head = el(
		"tr",
		{},
		...cells.map(c =>
			el(
				"th",
				{
					scope: "col",
					class: c[3] ? "" : `text ${c[0]}`,
					title: c[4],
					tabindex: 0,
					"data-column": c[0],
					"aria-sort": c[0] === sort ? (ascending ? "ascending" : "descending") : false,
					onclick: () => {
						ascending = c[0] === sort ? !ascending : false;
						sort = c[0];
						drawFunctions();
					},
					onkeydown: e => {
						if (e.key === "Enter") e.target.click();
					},
				},
				c[1],
			),
		),
	);
	const most = column[3] ? keys.reduce((a, b) => Math.max(a, b), 0) : 0;
	const body = el("tbody");
	for (const o of order.slice(0, shown)) {
		const i = rows[o];
		body.append(
			el(
				"tr",
				{
					tabindex: 0,
					onclick: () => showFunction(i),
					onkeydown: e => {
						if (e.key === "Enter") showFunction(i);
					},
				},
				...cells.map(c => {
					const value = c[2](i);
					const cell = el(
						"td",
						{
							class: c[3] ? (c[0] === sort ? "share" : "") : `text ${c[0]}`,
							title: c[3] ? "" : value,
						},
						c[3] ? c[3](value, i) : value,
					);
					if (c[0] === sort && most) cell.style.setProperty("--part", `${(100 * value) / most}%`);
					return cell;
				}),
			),
		);
	}
	$("functions-bar").replaceChildren(
		chooseModule(),
		el(
			"span",
			{ class: "quiet" },
			!F.name.length
				? ""
				: `${group(rows.length)} of ${group(F.name.length)} functions. A row opens its callers and callees.${
						data.power
							? ` Of ${joules(data.power.total)} in the whole recording, these are not of functions: ${
									["outside", "tracer", "transfer", "unexplained"]
										.filter(p => Math.abs(data.power[p]) > 1e-6 * data.power.total)
										.map(p => `(${p}) ${joules(data.power[p])}`)
										.join(", ") || "none"
								}.`
							: ""
					}`,
		),
	);
	if (!rows.length) {
		$("functions-table").replaceChildren(
			F.name.length
				? el(
						"p",
						{ id: "nothing" },
						`No function ${ofModule === NONE ? "" : `of ${data.modules[ofModule].name} `}has “${query}” in its name. `,
						el(
							"button",
							{
								onclick: () => {
									$("search").value = "";
									setQuery("");
									ofModule = NONE;
									drawFunctions();
								},
							},
							"Show all",
						),
					)
				: el("p", { id: "nothing" }, nothing()),
		);
		return;
	}
	$("functions-table").replaceChildren(
		el("table", {}, el("thead", {}, head), body),
		order.length > shown
			? el(
					"button",
					{
						class: "more",
						onclick: () => {
							shown *= 4;
							drawFunctions();
						},
					},
					`Show ${group(Math.min(shown * 3, order.length - shown))} more`,
				)
			: "",
	);
};
