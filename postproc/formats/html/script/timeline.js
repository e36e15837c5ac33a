/* Timeline: the longest spans of each lane, and how busy it was in between. */
const timeline = (() => {
	const T = data.timeline,
		P = data.power;
	const all = T.end - T.start || 1;
	/* Above the lanes, and not scrolled with them. Each level of a curve has half the buckets of
	   the one before: their least and most power, so that a peak of one sample is seen. */
	const CURVE = 90,
		curves = P ? P.curves : [],
		head = 22 + curves.length * CURVE;
	for (const curve of curves) {
		const low = Float64Array.from(curve.low, v => (v === null ? NaN : v * P.step));
		const high = Float64Array.from(curve.high, (v, i) => low[i] + v * P.step);
		curve.mean = Float64Array.from(curve.mean, (v, i) => low[i] + v * P.step);
		curve.levels = [{ low, high }];
		curve.most = high.reduce((a, b) => (b > a ? b : a), 0) || 1;
		curve.least = low.reduce((a, b) => (b < a ? b : a), 0);
		for (let l = curve.levels[0]; l.low.length > 512; curve.levels.push(l)) {
			const halves = (from, better) =>
				Float64Array.from({ length: Math.ceil(from.length / 2) }, (_, i) => {
					const a = from[2 * i],
						b = from[2 * i + 1];
					return b !== undefined && (isNaN(a) || better(b, a)) ? b : a;
				});
			l = { low: halves(l.low, (b, a) => b < a), high: halves(l.high, (b, a) => b > a) };
		}
	}
	const drawCurves = (context, from, to, width) => {
		const scale = width / (to - from);
		curves.forEach((curve, k) => {
			const top = 22 + k * CURVE + 16,
				deep = CURVE - 24,
				y = v => top + deep * (1 - (v - curve.least) / (curve.most - curve.least));
			let w = P.width,
				level = 0;
			while (level + 1 < curve.levels.length && w * scale < 0.5) {
				level++;
				w *= 2;
			}
			const { low, high } = curve.levels[level];
			const a = Math.max(0, Math.floor((from - P.from) / w)),
				b = Math.min(low.length - 1, Math.ceil((to - P.from) / w));
			context.strokeStyle = palette.line;
			context.beginPath();
			context.moveTo(0, y(0) + 0.5);
			context.lineTo(width, y(0) + 0.5);
			context.stroke();
			context.fillStyle = palette.accent;
			for (let i = a; i <= b; i++) {
				if (isNaN(low[i])) continue;
				/* down or up to where the bucket before ends, as one line */
				const bottom = i > a && high[i - 1] < low[i] ? high[i - 1] : low[i],
					upper = i > a && low[i - 1] > high[i] ? low[i - 1] : high[i];
				const x = (P.from + i * w - from) * scale;
				context.fillRect(x, y(high[i]), Math.max(1, w * scale), Math.max(1.5, y(low[i]) - y(high[i])));
				context.fillRect(x, y(upper), 1, Math.max(1.5, y(bottom) - y(upper)));
			}
			context.fillStyle = palette.ink;
			context.fillText(
				`${curve.name ? `Power, ${curve.name}` : "Power"}: at most ${quantity(curve.most, "W")}`,
				4,
				top - 7,
			);
		});
	};
	const pickCurve = (at, y) => {
		const curve = curves[Math.floor((y - 22) / CURVE)],
			i = Math.floor((at - P.from) / P.width);
		if (!curve || !(curve.levels[0].low[i] <= curve.levels[0].high[i])) return null;
		const [low, high] = [curve.levels[0].low[i], curve.levels[0].high[i]];
		return {
			text:
				`${quantity(curve.mean[i], "W")}, from ${quantity(low, "W")} to ${quantity(high, "W")}\n` +
				`in the ${duration(P.width)} at ${position(P.from + i * P.width - T.start)}`,
		};
	};
	/* Spans are given lane by lane and depth by depth, sorted by their start, each start as the
	   distance from the one before. */
	let top = head + 4;
	for (const lane of T.lanes) {
		lane.most = Math.max(1, ...lane.density);
		for (const row of lane.rows) {
			let at = 0;
			row.begin = row.begin.map(step => (at += step));
		}
		lane.y = top;
		top += 22 + (lane.rows.length + 1) * 16 + 8;
	}
	const search = (begin, at) => {
		let lo = 0,
			hi = begin.length;
		while (lo < hi) {
			const m = (lo + hi) >> 1;
			if (begin[m] < at) lo = m + 1;
			else hi = m;
		}
		return lo;
	};
	const draw = (context, view, width, height) => {
		const from = T.start + view.from * all,
			to = T.start + view.to * all,
			scale = width / (to - from);
		const raw = (to - from) / Math.max(2, width / 120),
			step = Math.max(1, [1, 2, 5, 10].map(m => m * 10 ** Math.floor(Math.log10(raw))).find(s => s >= raw) || 1);
		/* a unit for all labels, and as many digits as tell them apart */
		const last = to - T.start,
			[size, unit] = [
				[1e9, "s"],
				[1e6, "ms"],
				[1e3, "µs"],
				[1, "ns"],
			].find(([s]) => last >= s) || [1, "ns"];
		const digits = Math.max(0, Math.ceil(-Math.log10(step / size) - 1e-9));
		const label = t =>
			timed
				? `${(t / size).toLocaleString("en-US", { minimumFractionDigits: digits, maximumFractionDigits: digits }).replace(/,/g, "\u202f")} ${unit}`
				: group(t);
		const lines = [];
		for (let t = Math.ceil((from - T.start) / step) * step; t <= to - T.start; t += step)
			lines.push([t, (T.start + t - from) * scale]);
		context.strokeStyle = palette.line;
		context.beginPath();
		for (const [, x] of lines) {
			context.moveTo(x + 0.5, head);
			context.lineTo(x + 0.5, height);
		}
		context.stroke();
		for (const lane of T.lanes) {
			let y = lane.y - view.scroll;
			if (y > height || y + 30 + (lane.rows.length + 1) * 16 < head) continue;
			context.fillStyle = palette.ink;
			context.fillText(lane.name, 4, y + 9);
			y += 20;
			/* how many calls began in each bucket */
			const D = lane.density,
				w = lane.width,
				most = lane.most;
			const a = Math.max(0, Math.floor((from - lane.from) / w)),
				b = Math.min(D.length - 1, Math.ceil((to - lane.from) / w));
			context.fillStyle = palette.accent;
			const perPixel = Math.max(1, Math.floor((b - a + 1) / width));
			for (let i = a; i <= b; i += perPixel) {
				let high = 0;
				for (let k = i; k < i + perPixel && k <= b; k++) if (D[k] > high) high = D[k];
				if (high) {
					const h = Math.max(1, (14 * high) / most);
					context.fillRect(
						(lane.from + i * w - from) * scale,
						y + 14 - h,
						Math.max(1, w * perPixel * scale),
						h,
					);
				}
			}
			y += 16;
			for (const row of lane.rows) {
				if (y > -16 && y < height) {
					let i = Math.max(0, search(row.begin, from) - 1),
						drawn = -1;
					for (; i < row.begin.length && row.begin[i] < to; i++) {
						const x = Math.max(0, (row.begin[i] - from) * scale),
							end = Math.min(width, (row.begin[i] + row.length[i] - from) * scale);
						if (end < 0 || end - drawn < 0.5) continue;
						frame(context, x, y, end - x, 16, row.function[i], name(row.function[i]));
						drawn = end;
					}
				}
				y += 16;
			}
		}
		context.fillStyle = palette.paper;
		context.fillRect(0, 0, width, head);
		drawCurves(context, from, to, width);
		context.fillStyle = palette.quiet;
		context.strokeStyle = palette.line;
		context.beginPath();
		for (const [t, x] of lines) {
			if (x + 3 + context.measureText(label(t)).width <= width) context.fillText(label(t), x + 3, 10);
			context.moveTo(x + 0.5, 0);
			context.lineTo(x + 0.5, head);
		}
		context.stroke();
	};
	const pick = (view, x, y, width) => {
		const at = T.start + (view.from + ((view.to - view.from) * x) / width) * all,
			py = y + view.scroll;
		if (y < head) return y < 22 ? null : pickCurve(at, y);
		for (const lane of T.lanes) {
			const r = Math.floor((py - lane.y - 36) / 16);
			if (py < lane.y || r >= lane.rows.length) continue;
			if (r < 0) return null;
			const row = lane.rows[r],
				i = search(row.begin, at + 1e-9) - 1;
			if (i < 0 || row.begin[i] + row.length[i] < at) return null;
			return {
				f: row.function[i] === NONE ? undefined : row.function[i],
				text:
					`${name(row.function[i])} [${moduleOf(row.function[i])}]\n` +
					`${timed ? "at" : "from"} ${position(row.begin[i] - T.start)}, ` +
					(timed ? duration(row.length[i]) : `events inside: ${group(row.length[i])}`) +
					(T.guessed ? "\nits end is derived from the calls that follow" : ""),
				click: () => {
					const pad = row.length[i] * 0.05 + 1;
					view.from = Math.max(0, (row.begin[i] - pad - T.start) / all);
					view.to = Math.min(1, (row.begin[i] + row.length[i] + pad - T.start) / all);
					view.redraw();
				},
			};
		}
		return null;
	};
	const view = canvasView($("timeline-canvas"), draw, pick);
	view.height = top;
	view.least = 4 / all;
	const some = curves.length || (data.calls && T.lanes.some(lane => lane.rows.length || lane.calls));
	return {
		show: () => {
			$("timeline-canvas").hidden = !some;
			$("timeline-bar").replaceChildren(
				...(!some
					? [
							el(
								"p",
								{},
								data.calls
									? "The order of calls was not recorded, so there is no timeline."
									: nothing(),
							),
						]
					: [
							el("button", { onclick: view.reset, id: "timeline-reset" }, "Whole run"),
							el("button", { onclick: () => view.zoom(0.5, 0.5) }, "+"),
							el("button", { onclick: () => view.zoom(2, 0.5) }, "−"),
							el(
								"span",
								{ class: "quiet" },
								sentences(
									(T.lanes.length === 1 ? "1 lane" : `${T.lanes.length} lanes`) +
										(T.lanes_left_out ? `, ${group(T.lanes_left_out)} more are left out.` : "."),
									T.shortest > 0 &&
										`Spans shorter than ${timed ? duration(T.shortest) : `${group(T.shortest)} events`} appear in the bars only.`,
									T.guessed &&
										"Returns were not recorded: each span ends where a later call shows that it must have ended, " +
											"so it is at least as long as the call.",
									!timed && "Numbers at the top count events.",
									matchMedia("(pointer: coarse)").matches
										? "Two fingers: zoom. One finger: move. Tap: one span."
										: "Wheel: zoom. Drag: move. Click: one span.",
								),
							),
						]),
			);
			view.redraw();
		},
		view,
	};
})();
