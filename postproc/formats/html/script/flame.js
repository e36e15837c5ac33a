/* Flame graph: data.flame has the nodes of the call tree, each after its parent. */
const ROW = 19;
const flame = (() => {
	const N = data.flame;
	let metric = N.time ? "time" : "calls",
		inverted = false,
		tree = null;
	const build = () => {
		const own = N[metric];
		/* Node 0 is the whole; the others follow in the order of the data. */
		const count = N.parent.length;
		let parent, fn, value;
		if (!inverted) {
			parent = new Int32Array(count + 1);
			fn = new Int32Array(count + 1);
			value = new Float64Array(count + 1);
			parent[0] = NONE;
			fn[0] = NONE;
			for (let i = 0; i < count; i++) {
				parent[i + 1] = N.parent[i] + 1;
				fn[i + 1] = N.function[i];
				value[i + 1] = own[i];
			}
		} else {
			/* Bottom-up: the path from each node towards the root becomes a path from the root. */
			const p = [NONE],
				f = [NONE],
				v = [0],
				index = new Map();
			for (let i = 0; i < count; i++) {
				if (!own[i]) continue;
				let at = 0,
					depth = 0;
				for (let n = i; n !== NONE && depth < 40; n = N.parent[n], depth++) {
					const key = at * 4194304 + N.function[n];
					let next = index.get(key);
					if (next === undefined) {
						if (p.length > 250000) break;
						index.set(key, (next = p.length));
						p.push(at);
						f.push(N.function[n]);
						v.push(0);
					}
					at = next;
				}
				v[at] += own[i];
			}
			parent = Int32Array.from(p);
			fn = Int32Array.from(f);
			value = Float64Array.from(v);
		}
		for (let i = value.length - 1; i > 0; i--) value[parent[i]] += value[i];
		const depth = new Uint16Array(value.length),
			left = new Float64Array(value.length);
		const children = new Map();
		for (let i = 1; i < value.length; i++) {
			const c = children.get(parent[i]);
			if (c) c.push(i);
			else children.set(parent[i], [i]);
		}
		let deepest = 0;
		const lay = [0];
		while (lay.length) {
			const n = lay.pop();
			let at = left[n];
			for (const c of (children.get(n) || []).sort((a, b) => value[b] - value[a])) {
				left[c] = at;
				at += value[c];
				depth[c] = depth[n] + 1;
				if (depth[c] > deepest) deepest = depth[c];
				lay.push(c);
			}
		}
		const rows = Array.from({ length: deepest + 1 }, () => []);
		for (let i = 0; i < value.length; i++) if (value[i] > 0) rows[depth[i]].push(i);
		for (const r of rows) r.sort((a, b) => left[a] - left[b]);
		tree = { parent, fn, value, left, rows, all: value[0] || 1 };
	};
	const unit = v => (metric === "time" ? time(v) : metric === "energy" ? joules(v * 1e-9) : `${group(v)} calls`);
	/* How much of the whole is in functions that the search has found: each frame once, whatever is below it. */
	const found = () => {
		if (!matches || !tree) return "";
		const inside = new Uint8Array(tree.value.length);
		let sum = 0;
		/* a parent comes before its children */
		for (let n = 1; n < inside.length; n++) {
			if (inside[tree.parent[n]]) inside[n] = 1;
			else if (isMatch(tree.fn[n])) {
				inside[n] = 1;
				sum += tree.value[n];
			}
		}
		return `Found: ${unit(sum)}, ${percent(sum / tree.all) || "0 %"}.`;
	};
	const label = n => (n === 0 ? "all" : name(tree.fn[n]));
	const first = (row, at) => {
		let lo = 0,
			hi = row.length;
		while (lo < hi) {
			const m = (lo + hi) >> 1;
			if (tree.left[row[m]] + tree.value[row[m]] <= at) lo = m + 1;
			else hi = m;
		}
		return lo;
	};
	const draw = (context, view, width, height) => {
		const from = view.from * tree.all,
			to = view.to * tree.all,
			scale = width / (to - from);
		for (let d = 0; d < tree.rows.length; d++) {
			const y = d * ROW - view.scroll;
			if (y < -ROW || y > height) continue;
			const row = tree.rows[d];
			let drawn = -1;
			for (let i = first(row, from); i < row.length; i++) {
				const n = row[i];
				if (tree.left[n] >= to) break;
				const x = Math.max(0, (tree.left[n] - from) * scale),
					end = Math.min(width, (tree.left[n] + tree.value[n] - from) * scale);
				if (end - drawn < 0.5) continue;
				frame(context, x, y, end - x, ROW, tree.fn[n], label(n));
				drawn = end;
			}
		}
	};
	const pick = (view, x, y, width) => {
		if (!tree) return null;
		const row = tree.rows[Math.floor((y + view.scroll) / ROW)];
		if (!row) return null;
		const at = (view.from + ((view.to - view.from) * x) / width) * tree.all;
		const n = row[first(row, at)];
		if (n === undefined || tree.left[n] > at) return null;
		return {
			f: tree.fn[n] === NONE ? undefined : tree.fn[n],
			text: `${label(n)}${n ? ` [${moduleOf(tree.fn[n])}]` : ""}\n${unit(tree.value[n])}, ${percent(tree.value[n] / tree.all) || "0 %"}`,
			click: () => {
				view.from = tree.left[n] / tree.all;
				view.to = (tree.left[n] + tree.value[n]) / tree.all;
				view.redraw();
			},
		};
	};
	const view = canvasView($("flame-canvas"), draw, pick);
	view.prepare = () => {
		if (!tree) {
			build();
			$("flame-found")?.replaceChildren(found());
		}
		view.height = tree.rows.length * ROW + 4;
		view.least = 1 / tree.all;
	};
	const touch = matchMedia("(pointer: coarse)").matches;
	const bar = () =>
		$("flame-bar").replaceChildren(
			...(!N.parent.length
				? [
						el(
							"p",
							{},
							data.calls ? "The order of calls was not recorded, so there is no flame graph." : nothing(),
						),
					]
				: [
						N.time || N.energy
							? el(
									"select",
									{
										"aria-label": "Width of a frame",
										onchange: e => {
											metric = e.target.value;
											tree = null;
											view.reset();
										},
									},
									...["time", "energy", "calls"]
										.filter(m => N[m])
										.map(m =>
											el(
												"option",
												{
													value: m,
													selected: metric === m ? "" : false,
												},
												`by ${m}`,
											),
										),
								)
							: el("span", { class: "quiet" }, "Width: number of calls"),
						el(
							"button",
							{
								"aria-pressed": inverted,
								id: "flame-inverted",
								onclick: () => {
									inverted = !inverted;
									tree = null;
									bar();
									view.reset();
								},
							},
							"Bottom-up",
						),
						el("button", { id: "flame-reset", onclick: view.reset }, "Whole run"),
						el("strong", { id: "flame-found" }, found()),
						el(
							"span",
							{ class: "quiet" },
							sentences(
								touch
									? "Tap: zoom. Two taps: the function."
									: "Click: zoom. Double click: the function.",
								N.left_out && `${group(N.left_out)} of the smallest stacks are left out.`,
								N.energy_left_out > 0 && `${joules(N.energy_left_out * 1e-9)} are left out.`,
							),
						),
					]),
		);
	return {
		show: () => {
			view.prepare();
			bar();
			$("flame-canvas").hidden = !N.parent.length;
			view.redraw();
		},
		view,
		found: () => $("flame-found")?.replaceChildren(found()),
	};
})();
