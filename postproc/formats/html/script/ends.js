/* The last lines that each thread has executed: LITIFUT_MODE=paths. */
let ended = 0;
const drawEnds = () => {
	const end = C.ends[ended],
		text = el("pre", { class: "source", tabindex: 0 });
	let before = [];
	for (const step of end.steps) {
		const [depth, f, file, line] = step;
		if (
			step.length > 1 &&
			before.length &&
			depth === before[0] &&
			f === before[1] &&
			file === before[2] &&
			line === before[3]
		)
			continue;
		before = step;
		const place =
			step.length === 1
				? "(what comes before is not known)"
				: `${f === NONE ? "?" : C.name[f]}${line ? ` ${data.files[file]}:${line}` : ""}`;
		text.append(
			el(
				"div",
				{
					tabindex: line ? 0 : false,
					onclick: () => showLine(file, line),
					onkeydown: e => {
						if (e.key === "Enter") showLine(file, line);
					},
				},
				"  ".repeat(Math.min(depth, 40)) + place,
			),
		);
	}
	$("ends").replaceChildren(
		el(
			"div",
			{ class: "bar" },
			el(
				"select",
				{
					"aria-label": "Thread",
					onchange: e => {
						ended = +e.target.value;
						drawEnds();
					},
				},
				...C.ends.map((x, i) =>
					el(
						"option",
						{ value: i, selected: i === ended ? "" : false },
						`${x.name} (${group(x.blocks)} blocks)`,
					),
				),
			),
			el(
				"span",
				{ class: "quiet" },
				"The last lines that the thread executed, indented by call. A line opens its source.",
			),
		),
		text,
	);
	text.lastChild?.scrollIntoView({ block: "end" });
};
