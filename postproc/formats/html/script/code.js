/* Which code was executed: LITIFUT_MODE=coverage, paths. */
const STATES = ["not known", "no", "yes"];
let costliest = !!C && C.instructions.some(n => n > 0); /* the order of the rows */
const drawCode = () => {
	const rows = C.name.map((_, i) => i).filter(i => !query || C.name[i].toLowerCase().includes(query));
	const need = i => [1, 0, 2][C.state[i]],
		counted = C.times.some(n => n > 0);
	const all = C.instructions.reduce((a, n) => a + n, 0);
	rows.sort(
		(a, b) =>
			(costliest && C.instructions[b] - C.instructions[a]) ||
			need(a) - need(b) ||
			C.branches[b] - C.ways[b] - (C.branches[a] - C.ways[a]) ||
			a - b,
	);
	const sum = (list, value) => list.reduce((a, i) => a + value(i), 0);
	const ran = sum(rows, i => (C.state[i] === 2 ? 1 : 0)),
		ways = sum(rows, i => C.ways[i]),
		branches = sum(rows, i => C.branches[i]);
	$("code").replaceChildren(
		el(
			"div",
			{ class: "bar" },
			el(
				"strong",
				{ id: "code-sum" },
				`${group(ran)} of ${group(rows.length)} functions executed, ${group(ways)} of ${group(branches)} ways of branches taken`,
			),
			el(
				"span",
				{ class: "quiet" },
				`What ${costliest ? "executes" : "misses"} most comes first. A row opens its source.`,
			),
			all
				? el(
						"button",
						{
							id: "code-order",
							onclick: () => {
								costliest = !costliest;
								drawCode();
							},
						},
						costliest ? "Missed first" : "Most instructions first",
					)
				: "",
		),
		el(
			"table",
			{},
			el(
				"thead",
				{},
				el(
					"tr",
					{},
					el("th", { class: "text" }, "Executed"),
					counted ? el("th", {}, "Times") : "",
					all
						? el(
								"th",
								{
									title: "executed in the function itself, those of the tracer not counted",
								},
								"Instructions",
							)
						: "",
					all ? el("th", {}, "Share") : "",
					el("th", {}, "Ways taken"),
					el("th", {}, "Ways"),
					el("th", { class: "text" }, "Function"),
					el("th", { class: "text" }, "Module"),
				),
			),
			el(
				"tbody",
				{},
				...rows.slice(0, shown).map(i =>
					el(
						"tr",
						{
							tabindex: 0,
							onclick: () => showLine(C.file[i], C.line[i]),
							onkeydown: e => {
								if (e.key === "Enter") showLine(C.file[i], C.line[i]);
							},
						},
						el("td", { class: "text" }, STATES[C.state[i]]),
						counted ? el("td", {}, C.times[i] ? group(C.times[i]) : "") : "",
						all ? el("td", {}, C.instructions[i] ? group(C.instructions[i]) : "") : "",
						all
							? el("td", {}, C.instructions[i] ? `${((100 * C.instructions[i]) / all).toFixed(1)} %` : "")
							: "",
						el("td", {}, group(C.ways[i])),
						el("td", {}, group(C.branches[i])),
						el("td", { class: "text", title: C.name[i] }, C.name[i]),
						el("td", { class: "text" }, data.modules[C.module[i]].name),
					),
				),
			),
		),
		rows.length > shown
			? el(
					"button",
					{
						class: "more",
						onclick: () => {
							shown *= 4;
							drawCode();
						},
					},
					`Show ${group(Math.min(shown * 3, rows.length - shown))} more`,
				)
			: "",
	);
};
