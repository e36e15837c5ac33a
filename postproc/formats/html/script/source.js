/* Source with counts. */
const sources = data.sources;
const hasSource = f => F.line && F.line[f] > 0 && sources.some(x => x.file === F.file[f]);
let wanted = null; /* the line that is to be shown: [index of a source, line] */
const showLine = (file, line) => {
	const i = line > 0 ? sources.findIndex(x => x.file === file) : -1;
	if (i < 0) return;
	wanted = [i, line];
	show("source");
};
const showSource = f => showLine(F.file[f], F.line[f]);
const drawSource = () => {
	if (!sources.length) {
		$("source").replaceChildren(
			el(
				"p",
				{ class: "quiet" },
				data.files.length
					? `The functions come from ${group(data.files.length)} source files, none of which lies in a folder that was given with --source DIR.`
					: "No source is in this report. Make it with --source DIR, from programs that were compiled with -g.",
			),
		);
		return;
	}
	const code = sources.map(x => x.lines.filter(l => l.length > 4)),
		ran = code.map(lines => lines.filter(l => l[4]).length);
	const order = sources.map((_, i) => i).sort((a, b) => sources[b].calls - sources[a].calls || ran[b] - ran[a]);
	const most = i => sources[i].lines.reduce((a, b) => (b[2] + (b[7] || 0) > a[2] + (a[7] || 0) ? b : a))[0];
	const columns = [
		...(data.calls
			? [
					["called", l => (l[1] ? group(l[1]) : "")],
					["calls made", l => (l[2] ? group(l[2]) : "")],
				]
			: []),
		...(measured ? [["that took", l => (l[3] ? time(l[3]) : "")]] : []),
		...(C
			? [
					["executed", l => (l.length > 4 ? (l[7] ? group(l[7]) : l[4] ? "yes" : "no") : "")],
					["ways taken", l => (l[5] ? `${l[6]} of ${l[5]}` : "")],
				]
			: []),
	];
	const choose = el(
		"select",
		{
			id: "source-file",
			"aria-label": "Source file",
			onchange: e => {
				wanted = [+e.target.value, 0];
				file();
			},
		},
		...order.map(i =>
			el(
				"option",
				{ value: i },
				`${data.files[sources[i].file]} (${C ? `${group(ran[i])} of ${group(code[i].length)} lines` : `${group(sources[i].calls)} calls`})`,
			),
		),
	);
	const text = el("pre", { class: "source" });
	const file = () => {
		const [i, line] = wanted;
		choose.value = i;
		const counts = new Map(sources[i].lines.map(l => [l[0], l]));
		const lines = sources[i].text.split("\n").map((content, n) => {
			const l = counts.get(n + 1) || [0, 0, 0, 0];
			return el(
				"div",
				{
					class: `${l[1] || l[2] || l[4] ? "hit" : l.length > 4 ? "missed" : ""}${n + 1 === line ? " hit chosen" : ""}`,
				},
				...columns.map(c => el("span", { class: "count" }, c[1](l))),
				el("span", { class: "quiet" }, `${String(n + 1).padStart(5)}  `),
				content,
			);
		});
		text.replaceChildren(
			el("div", { class: "quiet" }, ...columns.map(c => el("span", { class: "count" }, c[0]))),
			...lines,
		);
		lines[(line || most(i)) - 1]?.scrollIntoView({ block: "center" });
	};
	$("source").replaceChildren(
		el(
			"div",
			{ class: "bar" },
			choose,
			el(
				"span",
				{ class: "quiet" },
				sentences(
					data.calls && "Functions and the calls that each line makes.",
					C && "Lines with code, and which of them were executed.",
					data.sources_missing === 1 && "One source file is not in the folders that were given.",
					data.sources_missing > 1 &&
						`${group(data.sources_missing)} source files are not in the folders that were given.`,
				),
			),
		),
		text,
	);
	wanted ||= [order[0], 0];
	file();
};
