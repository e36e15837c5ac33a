/* The pages of the HTML report. Everything is drawn from the object in the element "data", whose
 * members docs/output-formats.md describes. Functions are referred to by their number. */
"use strict";
(() => {
const data = JSON.parse(document.getElementById("data").textContent);
const $ = id => document.getElementById(id);
const NONE = -1;
const timed = data.unit === "ns";

/* ---- numbers and names ---- */
const group = n => Math.round(n).toLocaleString("en-US").replace(/,/g, "\u202f");
const duration = ns => {
	const a = Math.abs(ns);
	if (a < 1e3) return `${Math.round(ns)} ns`;
	if (a < 1e6) return `${(ns / 1e3).toPrecision(3)} µs`;
	if (a < 1e9) return `${(ns / 1e6).toPrecision(3)} ms`;
	return `${(ns / 1e9).toPrecision(4)} s`;
};
/* Times of functions: measured from recorded returns or a table, or only bounds of them. */
const measured = data.times === "measured", bounded = data.times === "bounds";
const time = v => data.ticks ? `${group(v)} ticks` : duration(v);
/* A quantity with the prefix of its unit that fits. */
const quantity = (v, unit) => {
	const a = Math.abs(v), i = a >= 1 || !a ? 0 : Math.min(4, Math.ceil(-Math.log10(a) / 3 - 1e-9));
	return `${a ? +(v * 1000 ** i).toPrecision(4) : 0} ${["", "m", "µ", "n", "p"][i]}${unit}`;
};
const joules = v => quantity(v, "J");
const position = v => timed ? v >= 1e6 ? `${(v / 1e6).toFixed(3).replace(/\B(?=(\d{3})+\.)/g, "\u202f")} ms` : duration(v) : `event ${group(v)}`;
const percent = part => part >= 0.0995 ? `${(100 * part).toFixed(0)} %` : part >= 0.00095 ? `${(100 * part).toFixed(1)} %` : part > 0 ? "< 0.1 %" : "";
const name = f => f === NONE ? "(not traced)" : data.functions.name[f];
const moduleOf = f => f === NONE ? "" : data.modules[data.functions.module[f]].name;
const el = (tag, attributes = {}, ...children) => {
	const e = document.createElement(tag);
	for (const [key, value] of Object.entries(attributes)) {
		if (key.startsWith("on")) e.addEventListener(key.slice(2), value);
		else if (value !== false && value !== undefined && value !== null) e.setAttribute(key, value);
	}
	e.append(...children.filter(c => c !== null && c !== undefined));
	return e;
};
const colour = f => {
	let h = 0;
	const text = f === NONE ? "" : moduleOf(f) + name(f).slice(0, 12);
	for (let i = 0; i < text.length; i++) h = h * 31 + text.charCodeAt(i) | 0;
	h = Math.imul(h ^ h >>> 15, 0x9e3779b1); /* names that differ in a letter differ in colour */
	return `hsl(${20 + Math.abs(h) % 40} ${55 + Math.abs(h >> 8) % 30}% ${58 + Math.abs(h >> 16) % 14}%)`;
};
const colours = new Map();
const colourOf = f => { let c = colours.get(f); if (!c) colours.set(f, c = colour(f)); return c; };

/* ---- search: the same text filters the table and marks frames ---- */
let query = "", matches = null;
const setQuery = text => {
	query = text.trim().toLowerCase();
	matches = null;
	if (query) {
		matches = new Uint8Array(data.functions.name.length);
		const lower = data.functions.lower ||= data.functions.name.map(n => n.toLowerCase());
		for (let i = 0; i < lower.length; i++) matches[i] = lower[i].includes(query) ? 1 : 0;
	}
};
const isMatch = f => matches !== null && f !== NONE && matches[f] === 1;

/* ---- tooltip ---- */
const tip = $("tip");
const showTip = (event, text) => {
	if (!text) { tip.hidden = true; return; }
	tip.textContent = text;
	tip.hidden = false;
	const box = tip.getBoundingClientRect();
	tip.style.left = `${Math.max(0, Math.min(event.clientX + 12, innerWidth - box.width - 8))}px`;
	tip.style.top = `${event.clientY + 16 + box.height > innerHeight ? Math.max(0, event.clientY - box.height - 8) : event.clientY + 16}px`;
};

/* ---- the function table ---- */
const F = data.functions, C = data.code;
const partly = i => measured && F.timed[i] && F.timed[i] < F.calls[i] ? ` (${group(F.timed[i])} timed)` : "";
const columns = [
	["calls", "Calls", i => F.calls[i], (v, i) => group(v) + partly(i), measured ? "how often it was called; (N timed): the times are those of N calls, the others have no return that is known" : "how often it was called"],
	["made", "Calls made", i => F.made[i], group, "how many calls it made"],
	...(measured ? [
		["self", "Self", i => F.self[i], (v, i) => F.timed[i] ? time(v) : "", "time in the function itself"],
		["total", "Total", i => F.total[i], (v, i) => F.at_least[i] ? `> ${time(v)}` : F.timed[i] ? time(v) : "", "time from its calls to their returns; recursion counted once; >: only a part of it is known"],
		["average", "Average", i => F.average[i], (v, i) => F.timed[i] ? time(v) : "", "of the calls whose return is known"],
		["min", "Min", i => F.min[i], (v, i) => F.timed[i] ? time(v) : "", "shortest call"],
		["max", "Max", i => F.max[i], (v, i) => F.timed[i] ? time(v) : "", "longest call"],
	] : bounded ? [
		["least", "At least", i => F.least[i], time, "up to the last call that is known to be inside"],
		["most", "At most", i => F.most[i], time, "up to the next call that shows that it has returned"],
	] : []),
	...(F.energy ? [
		["energy", "Energy", i => F.energy[i], joules, "energy in the function itself"],
		["energy_error", "±", i => F.energy_error[i], joules, "standard error of it"],
		["energy_total", "Energy in total", i => F.energy_total[i], joules, "with what it calls; recursion counted once"],
		...(F.energy_later.some(v => v) ? [["energy_later", "Energy later", i => F.energy_later[i], joules, "that peripherals used later or beside, because it was called"]] : []),
	] : []),
	["name", "Function", i => F.name[i], null, ""],
	["module", "Module", i => data.modules[F.module[i]].name, null, ""],
];
/* On a narrow screen the rest of a table is out of sight: the names come first. */
const narrow = matchMedia("(max-width: 700px)");
const ordered = list => narrow.matches ? [...list.filter(c => c[0] === "name"), ...list.filter(c => c[0] !== "name")] : list;
/* Why there is nothing to show. */
const nothing = () => data.processes.some(p => p.events > 0) ? "No call is left by the filters with which this report was made."
	: "No call was recorded. When the program is run with LITIFUT_VERBOSE=1, it says where it records, or why it does not.";
let sort = F.energy ? "energy" : measured ? "self" : bounded ? "most" : "calls", ascending = false, shown = 200;

const drawFunctions = () => {
	const column = columns.find(c => c[0] === sort);
	const rows = [];
	for (let i = 0; i < F.name.length; i++) if (!matches || matches[i]) rows.push(i);
	const keys = rows.map(column[2]);
	const order = rows.map((_, i) => i).sort((a, b) => {
		const x = keys[a], y = keys[b];
		const d = typeof x === "string" ? x.localeCompare(y) : y - x;
		return (ascending ? -d : d) || rows[a] - rows[b];
	});
	const cells = ordered(columns);
	const head = el("tr", {}, ...cells.map(c => el("th", {
		scope: "col", class: c[3] ? "" : `text ${c[0]}`, title: c[4], tabindex: 0, "data-column": c[0],
		"aria-sort": c[0] === sort ? (ascending ? "ascending" : "descending") : false,
		onclick: () => { ascending = c[0] === sort ? !ascending : false; sort = c[0]; drawFunctions(); },
		onkeydown: e => { if (e.key === "Enter") e.target.click(); },
	}, c[1])));
	const most = column[3] ? keys.reduce((a, b) => Math.max(a, b), 0) : 0;
	const body = el("tbody");
	for (const o of order.slice(0, shown)) {
		const i = rows[o];
		body.append(el("tr", { tabindex: 0, onclick: () => showFunction(i), onkeydown: e => { if (e.key === "Enter") showFunction(i); } },
			...cells.map(c => {
				const value = c[2](i);
				const cell = el("td", { class: c[3] ? (c[0] === sort ? "share" : "") : `text ${c[0]}`, title: c[3] ? "" : value }, c[3] ? c[3](value, i) : value);
				if (c[0] === sort && most) cell.style.setProperty("--part", `${100 * value / most}%`);
				return cell;
			})));
	}
	$("functions-bar").replaceChildren(el("span", { class: "quiet" },
		!F.name.length ? "" : `${group(rows.length)} of ${group(F.name.length)} functions. A row opens its callers and callees.${data.power ? ` Of ${joules(data.power.total)} in the whole recording, these are not of functions: ${["outside", "tracer", "transfer", "unexplained"].filter(p => Math.abs(data.power[p]) > 1e-6 * data.power.total).map(p => `(${p}) ${joules(data.power[p])}`).join(", ") || "none"}.` : ""}`));
	if (!rows.length) {
		$("functions-table").replaceChildren(F.name.length
			? el("p", { id: "nothing" }, `No function has “${query}” in its name. `, el("button", { onclick: () => { $("search").value = ""; setQuery(""); drawFunctions(); } }, "Show all"))
			: el("p", { id: "nothing" }, nothing()));
		return;
	}
	$("functions-table").replaceChildren(el("table", {}, el("thead", {}, head), body),
		order.length > shown ? el("button", { class: "more", onclick: () => { shown *= 4; drawFunctions(); } },
			`Show ${group(Math.min(shown * 3, order.length - shown))} more`) : "");
};

/* ---- one function ---- */
const S = data.sites;
let byCaller = null, byCallee = null;
const indexSites = () => {
	if (byCaller) return;
	byCaller = new Map(); byCallee = new Map();
	for (let i = 0; i < S.caller.length; i++) {
		for (const [map, key] of [[byCaller, S.caller[i]], [byCallee, S.callee[i]]]) {
			const list = map.get(key);
			if (list) list.push(i); else map.set(key, [i]);
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
	return [...found.values()].sort((a, b) => (b.total - a.total) || b.calls - a.calls);
};
const PLT = ["", " through a PLT entry, where it leads is not known", " through a PLT entry", " through a PLT entry, guessed where it leads"];
const place = s => (S.line && S.line[s] ? `${data.files[S.file[s]]}:${S.line[s]}` : `${name(S.caller[s])}+0x${S.offset[s].toString(16)}`) + PLT[S.plt[s]];
const shortPlace = s => S.line && S.line[s] ? place(s).replace(/^.*\/(?=[^/]*$)/, "") : place(s);
const neighbourTable = (title, list) => el("div", {}, el("h2", {}, `${title} (${group(list.length)})`),
	!list.length ? el("p", { class: "quiet" }, "None in this trace.") : el("table", {}, el("thead", {}, el("tr", {}, el("th", {}, "Calls"), S.total ? el("th", {}, "Total") : "", el("th", { class: "text name" }, "Function"), el("th", { class: "text sites" }, "Call sites"))),
		el("tbody", {}, ...list.slice(0, 400).map(n => el("tr", { tabindex: 0, onclick: () => showFunction(n.f), onkeydown: e => { if (e.key === "Enter") showFunction(n.f); } },
			el("td", {}, group(n.calls)), S.total ? el("td", {}, time(n.total)) : "",
			el("td", { class: "text name", title: name(n.f) }, name(n.f)),
			el("td", { class: "text sites quiet", title: n.sites.slice(0, 40).map(place).join("\n") }, shortPlace(n.sites[0]) + (n.sites.length > 1 ? ` and ${n.sites.length - 1} more` : "")))))));

/* Callers on the left, callees on the right; the width of a line is its share of the calls. */
const neighbourGraph = (f, callers, callees) => {
	const NS = "http://www.w3.org/2000/svg";
	const svg = (tag, attributes, text) => {
		const e = document.createElementNS(NS, tag);
		for (const [k, v] of Object.entries(attributes)) e.setAttribute(k, v);
		if (text !== undefined) e.textContent = text;
		return e;
	};
	const left = callers.slice(0, 12), right = callees.slice(0, 12);
	const rows = Math.max(left.length, right.length, 1), height = rows * 30 + 10, width = 960, box = 280;
	const root = svg("svg", { viewBox: `0 0 ${width} ${height}`, width: "100%", role: "img", "aria-label": "Callers and callees" });
	const most = Math.max(1, ...left.map(n => n.calls), ...right.map(n => n.calls));
	const node = (x, y, g, label, centre) => {
		const e = svg("g", { tabindex: 0, transform: `translate(${x} ${y})` });
		e.append(svg("rect", { class: centre ? "node center" : "node", width: box, height: 24, rx: 4 }),
			svg("text", { x: 8, y: 16 }, label.length > 38 ? label.slice(0, 37) + "…" : label), svg("title", {}, label));
		if (!centre) { e.addEventListener("click", () => showFunction(g)); e.addEventListener("keydown", k => { if (k.key === "Enter") showFunction(g); }); }
		root.append(e);
	};
	const middle = height / 2 - 12;
	const line = (x1, y1, x2, y2, calls) => root.append(svg("path", { d: `M${x1} ${y1} C${(x1 + x2) / 2} ${y1} ${(x1 + x2) / 2} ${y2} ${x2} ${y2}`, "stroke-width": 1 + 7 * calls / most }));
	left.forEach((n, i) => line(box, i * 30 + 17, (width - box) / 2, middle + 12, n.calls));
	right.forEach((n, i) => line((width + box) / 2, middle + 12, width - box, i * 30 + 17, n.calls));
	left.forEach((n, i) => node(0, i * 30 + 5, n.f, name(n.f), false));
	right.forEach((n, i) => node(width - box, i * 30 + 5, n.f, name(n.f), false));
	node((width - box) / 2, middle, f, name(f), true);
	return root;
};
const showFunction = f => {
	if (f === NONE) return;
	const callers = neighbours(f, true), callees = neighbours(f, false);
	const times = n => `${group(n)} time${n === 1 ? "" : "s"}`;
	const facts = [`called ${times(F.calls[f])}${partly(f)}`, `makes ${group(F.made[f])} call${F.made[f] === 1 ? "" : "s"}`];
	const total = measured && `total ${F.at_least[f] ? "at least " : ""}${time(F.total[f])}`;
	if (measured && F.timed[f]) facts.push(`self ${time(F.self[f])}`, total, `average ${time(F.average[f])}`, `min ${time(F.min[f])}`, `max ${time(F.max[f])}`);
	else if (measured && F.at_least[f]) facts.push(total);
	else if (bounded) facts.push(`between ${time(F.least[f])} and ${time(F.most[f])}`);
	if (F.energy) facts.push(`energy ${joules(F.energy[f])} ± ${joules(F.energy_error[f])}`, `in total ${joules(F.energy_total[f])}`);
	const where = F.line && F.line[f] ? `${data.files[F.file[f]]}:${F.line[f]}` : "";
	$("function").replaceChildren(
		el("div", { class: "bar" }, el("button", { onclick: () => show("functions") }, "← All functions"),
			el("strong", { id: "function-name" }, name(f)), el("span", { class: "quiet" }, `[${moduleOf(f)}] `, hasSource(f) ? el("a", { href: "#source", onclick: e => { e.preventDefault(); showSource(f); } }, where) : where),
			el("span", {}, facts.join(", "))),
		el("div", { class: "wide" }, neighbourGraph(f, callers, callees)),
		el("div", { class: "columns" }, neighbourTable("Callers", callers), neighbourTable("Callees", callees)));
	show("function", f);
};

/* ---- canvas views: what flame graph and timeline share ---- */
const readPalette = () => {
	const style = getComputedStyle(document.documentElement);
	return Object.fromEntries(["paper", "ink", "quiet", "line", "raised", "accent"].map(key => [key, style.getPropertyValue(`--${key}`)]));
};
let palette = null;
const canvasView = (canvas, draw, pick) => {
	const view = { from: 0, to: 1, scroll: 0, height: 0 };
	const context = canvas.getContext("2d");
	let pending = false;
	view.redraw = () => {
		if (pending) return;
		pending = true;
		requestAnimationFrame(() => {
			pending = false;
			if (view.prepare) view.prepare();
			palette = readPalette();
			const width = canvas.clientWidth, height = Math.max(240, Math.min(view.height || 400, innerHeight - canvas.getBoundingClientRect().top - scrollY - 24));
			const scale = devicePixelRatio || 1;
			if (canvas.width !== Math.round(width * scale) || canvas.height !== Math.round(height * scale)) {
				canvas.width = Math.round(width * scale); canvas.height = Math.round(height * scale);
				canvas.style.height = `${height}px`;
			}
			context.setTransform(scale, 0, 0, scale, 0, 0);
			context.clearRect(0, 0, width, height);
			context.font = "12px system-ui, sans-serif";
			context.textBaseline = "middle";
			const started = performance.now();
			draw(context, view, width, height);
			canvas.dataset.draws = +(canvas.dataset.draws || 0) + 1;
			canvas.dataset.drawMs = (performance.now() - started).toFixed(1);
		});
	};
	const zoom = (factor, at) => {
		const span = view.to - view.from, next = Math.max(view.least || 1e-12, Math.min(1, span * factor));
		const centre = view.from + span * at;
		view.from = Math.max(0, Math.min(1 - next, centre - next * at));
		view.to = view.from + next;
		view.redraw();
	};
	const pan = part => {
		const span = view.to - view.from;
		view.from = Math.max(0, Math.min(1 - span, view.from + span * part));
		view.to = view.from + span;
		view.redraw();
	};
	view.reset = () => { view.from = 0; view.to = 1; view.scroll = 0; view.redraw(); };
	view.zoom = zoom;
	const clampScroll = () => { view.scroll = Math.max(0, Math.min(view.scroll, (view.height || 0) - canvas.clientHeight)); };
	canvas.addEventListener("wheel", e => {
		e.preventDefault();
		if (e.shiftKey) { view.scroll += e.deltaY; clampScroll(); view.redraw(); }
		else if (Math.abs(e.deltaX) > Math.abs(e.deltaY)) pan(e.deltaX / canvas.clientWidth);
		else zoom(Math.exp(e.deltaY / 300), e.offsetX / canvas.clientWidth);
	}, { passive: false });
	let drag = null;
	/* Two fingers zoom: what lies between them stays between them. */
	const fingers = new Map();
	const pinch = e => {
		const other = [...fingers.values()].find(f => f.id !== e.pointerId), self = fingers.get(e.pointerId);
		const before = Math.abs(self.x - other.x), after = Math.abs(e.offsetX - other.x);
		fingers.set(e.pointerId, { id: e.pointerId, x: e.offsetX });
		if (before > 10 && after > 10) zoom(before / after, (e.offsetX + other.x) / 2 / canvas.clientWidth);
	};
	canvas.addEventListener("pointercancel", e => { fingers.delete(e.pointerId); drag = null; });
	canvas.addEventListener("pointerdown", e => { fingers.set(e.pointerId, { id: e.pointerId, x: e.offsetX }); drag = { x: e.clientX, y: e.clientY, from: view.from, scroll: view.scroll, moved: false }; canvas.setPointerCapture(e.pointerId); });
	canvas.addEventListener("pointermove", e => {
		if (fingers.size === 2 && fingers.has(e.pointerId)) { if (drag) drag.moved = true; pinch(e); return; }
		if (drag && e.buttons) {
			const dx = e.clientX - drag.x, dy = e.clientY - drag.y;
			if (Math.abs(dx) + Math.abs(dy) > 4) drag.moved = true;
			if (drag.moved) {
				const span = view.to - view.from;
				view.from = Math.max(0, Math.min(1 - span, drag.from - dx / canvas.clientWidth * span));
				view.to = view.from + span;
				view.scroll = drag.scroll - dy; clampScroll();
				view.redraw();
			}
			showTip(e, "");
			return;
		}
		const hit = pick(view, e.offsetX, e.offsetY, canvas.clientWidth);
		canvas.style.cursor = hit ? "pointer" : "default";
		showTip(e, hit ? hit.text : "");
	});
	canvas.addEventListener("pointerleave", e => showTip(e, ""));
	canvas.addEventListener("pointerup", e => {
		const moved = drag && drag.moved;
		fingers.delete(e.pointerId);
		/* the finger that stays goes on from where it is */
		drag = fingers.size ? { x: [...fingers.values()][0].x + canvas.getBoundingClientRect().left, y: e.clientY, from: view.from, scroll: view.scroll, moved: true } : null;
		if (moved || drag) return;
		const hit = pick(view, e.offsetX, e.offsetY, canvas.clientWidth);
		if (hit && hit.click) hit.click(e);
	});
	canvas.addEventListener("dblclick", e => {
		const hit = pick(view, e.offsetX, e.offsetY, canvas.clientWidth);
		if (hit && hit.f !== undefined) showFunction(hit.f);
	});
	canvas.addEventListener("keydown", e => {
		const act = { "+": () => zoom(0.5, 0.5), "=": () => zoom(0.5, 0.5), "-": () => zoom(2, 0.5), ArrowLeft: () => pan(-0.2), ArrowRight: () => pan(0.2),
			ArrowUp: () => { view.scroll -= 60; clampScroll(); view.redraw(); }, ArrowDown: () => { view.scroll += 60; clampScroll(); view.redraw(); }, "0": view.reset, Escape: view.reset }[e.key];
		if (act) { act(); e.preventDefault(); e.stopPropagation(); }
	});
	addEventListener("resize", () => { if (!canvas.closest("section").hidden) view.redraw(); });
	return view;
};
const frame = (context, x, y, w, h, f, label) => {
	context.fillStyle = matches && !isMatch(f) ? palette.raised : isMatch(f) ? "#c03bd1" : colourOf(f);
	context.fillRect(x, y, Math.max(w - (w > 3 ? 1 : 0), 0.6), h - 1);
	if (w > 28) {
		const room = Math.floor((w - 6) / 6.4);
		context.fillStyle = matches && !isMatch(f) ? palette.quiet : isMatch(f) ? "#fff" : "#1b1206";
		context.fillText(label.length > room ? label.slice(0, Math.max(room - 1, 1)) + "…" : label, x + 4, y + h / 2, w - 6);
	}
};

/* ---- flame graph: data.flame has the nodes of the call tree, each after its parent ---- */
const ROW = 19;
const flame = (() => {
	const N = data.flame;
	let metric = N.time ? "time" : "calls", inverted = false, tree = null;
	const build = () => {
		const own = N[metric];
		/* Node 0 is the whole; the others follow in the order of the data. */
		const count = N.parent.length;
		let parent, fn, value;
		if (!inverted) {
			parent = new Int32Array(count + 1); fn = new Int32Array(count + 1); value = new Float64Array(count + 1);
			parent[0] = NONE; fn[0] = NONE;
			for (let i = 0; i < count; i++) { parent[i + 1] = N.parent[i] + 1; fn[i + 1] = N.function[i]; value[i + 1] = own[i]; }
		} else {
			/* Bottom-up: the path from each node towards the root becomes a path from the root. */
			const p = [NONE], f = [NONE], v = [0], index = new Map();
			for (let i = 0; i < count; i++) {
				if (!own[i]) continue;
				let at = 0, depth = 0;
				for (let n = i; n !== NONE && depth < 40; n = N.parent[n], depth++) {
					const key = at * 4194304 + N.function[n];
					let next = index.get(key);
					if (next === undefined) {
						if (p.length > 250000) break;
						index.set(key, next = p.length); p.push(at); f.push(N.function[n]); v.push(0);
					}
					at = next;
				}
				v[at] += own[i];
			}
			parent = Int32Array.from(p); fn = Int32Array.from(f); value = Float64Array.from(v);
		}
		for (let i = value.length - 1; i > 0; i--) value[parent[i]] += value[i];
		const depth = new Uint16Array(value.length), left = new Float64Array(value.length);
		const children = new Map();
		for (let i = 1; i < value.length; i++) { const c = children.get(parent[i]); if (c) c.push(i); else children.set(parent[i], [i]); }
		let deepest = 0;
		const lay = [0];
		while (lay.length) {
			const n = lay.pop();
			let at = left[n];
			for (const c of (children.get(n) || []).sort((a, b) => value[b] - value[a])) {
				left[c] = at; at += value[c]; depth[c] = depth[n] + 1;
				if (depth[c] > deepest) deepest = depth[c];
				lay.push(c);
			}
		}
		const rows = Array.from({ length: deepest + 1 }, () => []);
		for (let i = 0; i < value.length; i++) if (value[i] > 0) rows[depth[i]].push(i);
		for (const r of rows) r.sort((a, b) => left[a] - left[b]);
		tree = { fn, value, left, rows, all: value[0] || 1 };
	};
	const unit = v => metric === "time" ? time(v) : metric === "energy" ? joules(v * 1e-9) : `${group(v)} calls`;
	const label = n => n === 0 ? "all" : name(tree.fn[n]);
	const first = (row, at) => { let lo = 0, hi = row.length; while (lo < hi) { const m = lo + hi >> 1; if (tree.left[row[m]] + tree.value[row[m]] <= at) lo = m + 1; else hi = m; } return lo; };
	const draw = (context, view, width, height) => {
		const from = view.from * tree.all, to = view.to * tree.all, scale = width / (to - from);
		for (let d = 0; d < tree.rows.length; d++) {
			const y = d * ROW - view.scroll;
			if (y < -ROW || y > height) continue;
			const row = tree.rows[d];
			let drawn = -1;
			for (let i = first(row, from); i < row.length; i++) {
				const n = row[i];
				if (tree.left[n] >= to) break;
				const x = Math.max(0, (tree.left[n] - from) * scale), end = Math.min(width, (tree.left[n] + tree.value[n] - from) * scale);
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
		const at = (view.from + (view.to - view.from) * x / width) * tree.all;
		const n = row[first(row, at)];
		if (n === undefined || tree.left[n] > at) return null;
		return { f: tree.fn[n] === NONE ? undefined : tree.fn[n],
			text: `${label(n)}${n ? ` [${moduleOf(tree.fn[n])}]` : ""}\n${unit(tree.value[n])}, ${percent(tree.value[n] / tree.all) || "0 %"}`,
			click: () => { view.from = tree.left[n] / tree.all; view.to = (tree.left[n] + tree.value[n]) / tree.all; view.redraw(); } };
	};
	const view = canvasView($("flame-canvas"), draw, pick);
	view.prepare = () => {
		if (!tree) build();
		view.height = tree.rows.length * ROW + 4;
		view.least = 1 / tree.all;
	};
	const touch = matchMedia("(pointer: coarse)").matches;
	const bar = () => $("flame-bar").replaceChildren(...(!N.parent.length ? [el("p", {}, data.calls ? "The order of calls was not recorded, so there is no flame graph." : nothing())] : [
		N.time || N.energy ? el("select", { "aria-label": "Width of a frame", onchange: e => { metric = e.target.value; tree = null; view.reset(); } },
			...["time", "energy", "calls"].filter(m => N[m]).map(m => el("option", { value: m, selected: metric === m ? "" : false }, `by ${m}`))) : el("span", { class: "quiet" }, "Width: number of calls"),
		el("button", { "aria-pressed": inverted, id: "flame-inverted", onclick: () => { inverted = !inverted; tree = null; bar(); view.reset(); } }, "Bottom-up"),
		el("button", { id: "flame-reset", onclick: view.reset }, "Whole run"),
		el("span", { class: "quiet" }, `${touch ? "Tap: zoom. Two taps: the function." : "Click: zoom. Double click: the function."} ${N.left_out ? `${group(N.left_out)} of the smallest stacks are left out. ` : ""}${N.energy_left_out > 0 ? `${joules(N.energy_left_out * 1e-9)} are left out.` : ""}`)]));
	return { show: () => { bar(); $("flame-canvas").hidden = !N.parent.length; view.redraw(); }, view };
})();

/* ---- timeline: the longest spans of each lane, and how busy it was in between ---- */
const timeline = (() => {
	const T = data.timeline, P = data.power;
	const all = T.end - T.start || 1;
	/* Above the lanes, and not scrolled with them. Each level of a curve has half the buckets of
	   the one before: their least and most power, so that a peak of one sample is seen. */
	const CURVE = 90, curves = P ? P.curves : [], head = 22 + curves.length * CURVE;
	for (const curve of curves) {
		const low = Float64Array.from(curve.low, v => v === null ? NaN : v * P.step);
		const high = Float64Array.from(curve.high, (v, i) => low[i] + v * P.step);
		curve.mean = Float64Array.from(curve.mean, (v, i) => low[i] + v * P.step);
		curve.levels = [{ low, high }];
		curve.most = high.reduce((a, b) => b > a ? b : a, 0) || 1;
		curve.least = low.reduce((a, b) => b < a ? b : a, 0);
		for (let l = curve.levels[0]; l.low.length > 512; curve.levels.push(l)) {
			const halves = (from, better) => Float64Array.from({ length: Math.ceil(from.length / 2) }, (_, i) => {
				const a = from[2 * i], b = from[2 * i + 1];
				return b !== undefined && (isNaN(a) || better(b, a)) ? b : a;
			});
			l = { low: halves(l.low, (b, a) => b < a), high: halves(l.high, (b, a) => b > a) };
		}
	}
	const drawCurves = (context, from, to, width) => {
		const scale = width / (to - from);
		curves.forEach((curve, k) => {
			const top = 22 + k * CURVE + 16, deep = CURVE - 24, y = v => top + deep * (1 - (v - curve.least) / (curve.most - curve.least));
			let w = P.width, level = 0;
			while (level + 1 < curve.levels.length && w * scale < 0.5) { level++; w *= 2; }
			const { low, high } = curve.levels[level];
			const a = Math.max(0, Math.floor((from - P.from) / w)), b = Math.min(low.length - 1, Math.ceil((to - P.from) / w));
			context.strokeStyle = palette.line;
			context.beginPath(); context.moveTo(0, y(0) + 0.5); context.lineTo(width, y(0) + 0.5); context.stroke();
			context.fillStyle = palette.accent;
			for (let i = a; i <= b; i++) {
				if (isNaN(low[i])) continue;
				/* down or up to where the bucket before ends, as one line */
				const bottom = i > a && high[i - 1] < low[i] ? high[i - 1] : low[i], upper = i > a && low[i - 1] > high[i] ? low[i - 1] : high[i];
				const x = (P.from + i * w - from) * scale;
				context.fillRect(x, y(high[i]), Math.max(1, w * scale), Math.max(1.5, y(low[i]) - y(high[i])));
				context.fillRect(x, y(upper), 1, Math.max(1.5, y(bottom) - y(upper)));
			}
			context.fillStyle = palette.ink;
			context.fillText(`${curve.name ? `Power, ${curve.name}` : "Power"}: at most ${quantity(curve.most, "W")}`, 4, top - 7);
		});
	};
	const pickCurve = (at, y) => {
		const curve = curves[Math.floor((y - 22) / CURVE)], i = Math.floor((at - P.from) / P.width);
		if (!curve || !(curve.levels[0].low[i] <= curve.levels[0].high[i])) return null;
		return { text: `${quantity(curve.mean[i], "W")}, from ${quantity(curve.levels[0].low[i], "W")} to ${quantity(curve.levels[0].high[i], "W")}\nin the ${duration(P.width)} at ${position(P.from + i * P.width - T.start)}` };
	};
	/* Spans are given lane by lane and depth by depth, sorted by their start, each start as the
	   distance from the one before. */
	let top = head + 4;
	for (const lane of T.lanes) {
		lane.most = Math.max(1, ...lane.density);
		for (const row of lane.rows) {
			let at = 0;
			row.begin = row.begin.map(step => at += step);
		}
		lane.y = top;
		top += 22 + (lane.rows.length + 1) * 16 + 8;
	}
	const search = (begin, at) => { let lo = 0, hi = begin.length; while (lo < hi) { const m = lo + hi >> 1; if (begin[m] < at) lo = m + 1; else hi = m; } return lo; };
	const draw = (context, view, width, height) => {
		const from = T.start + view.from * all, to = T.start + view.to * all, scale = width / (to - from);
		const raw = (to - from) / Math.max(2, width / 120), step = Math.max(1, [1, 2, 5, 10].map(m => m * 10 ** Math.floor(Math.log10(raw))).find(s => s >= raw) || 1);
		/* a unit for all labels, and as many digits as tell them apart */
		const last = to - T.start, [size, unit] = [[1e9, "s"], [1e6, "ms"], [1e3, "µs"], [1, "ns"]].find(([s]) => last >= s) || [1, "ns"];
		const digits = Math.max(0, Math.ceil(-Math.log10(step / size) - 1e-9));
		const label = t => timed ? `${(t / size).toLocaleString("en-US", { minimumFractionDigits: digits, maximumFractionDigits: digits }).replace(/,/g, "\u202f")} ${unit}` : group(t);
		const lines = [];
		for (let t = Math.ceil((from - T.start) / step) * step; t <= to - T.start; t += step) lines.push([t, (T.start + t - from) * scale]);
		context.strokeStyle = palette.line;
		context.beginPath();
		for (const [, x] of lines) { context.moveTo(x + 0.5, head); context.lineTo(x + 0.5, height); }
		context.stroke();
		for (const lane of T.lanes) {
			let y = lane.y - view.scroll;
			if (y > height || y + 30 + (lane.rows.length + 1) * 16 < head) continue;
			context.fillStyle = palette.ink;
			context.fillText(lane.name, 4, y + 9);
			y += 20;
			/* how many calls began in each bucket */
			const D = lane.density, w = lane.width, most = lane.most;
			const a = Math.max(0, Math.floor((from - lane.from) / w)), b = Math.min(D.length - 1, Math.ceil((to - lane.from) / w));
			context.fillStyle = palette.accent;
			const perPixel = Math.max(1, Math.floor((b - a + 1) / width));
			for (let i = a; i <= b; i += perPixel) {
				let high = 0;
				for (let k = i; k < i + perPixel && k <= b; k++) if (D[k] > high) high = D[k];
				if (high) { const h = Math.max(1, 14 * high / most); context.fillRect((lane.from + i * w - from) * scale, y + 14 - h, Math.max(1, w * perPixel * scale), h); }
			}
			y += 16;
			for (const row of lane.rows) {
				if (y > -16 && y < height) {
					let i = Math.max(0, search(row.begin, from) - 1), drawn = -1;
					for (; i < row.begin.length && row.begin[i] < to; i++) {
						const x = Math.max(0, (row.begin[i] - from) * scale), end = Math.min(width, (row.begin[i] + row.length[i] - from) * scale);
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
			context.moveTo(x + 0.5, 0); context.lineTo(x + 0.5, head);
		}
		context.stroke();
	};
	const pick = (view, x, y, width) => {
		const at = T.start + (view.from + (view.to - view.from) * x / width) * all, py = y + view.scroll;
		if (y < head) return y < 22 ? null : pickCurve(at, y);
		for (const lane of T.lanes) {
			const r = Math.floor((py - lane.y - 36) / 16);
			if (py < lane.y || r >= lane.rows.length) continue;
			if (r < 0) return null;
			const row = lane.rows[r], i = search(row.begin, at + 1e-9) - 1;
			if (i < 0 || row.begin[i] + row.length[i] < at) return null;
			return { f: row.function[i] === NONE ? undefined : row.function[i],
				text: `${name(row.function[i])} [${moduleOf(row.function[i])}]\n${timed ? "at" : "from"} ${position(row.begin[i] - T.start)}, ${timed ? "" : "events inside: "}${timed ? duration(row.length[i]) : group(row.length[i])}${T.guessed ? "\nits end is derived from the calls that follow" : ""}`,
				click: () => { const pad = row.length[i] * 0.05 + 1; view.from = Math.max(0, (row.begin[i] - pad - T.start) / all); view.to = Math.min(1, (row.begin[i] + row.length[i] + pad - T.start) / all); view.redraw(); } };
		}
		return null;
	};
	const view = canvasView($("timeline-canvas"), draw, pick);
	view.height = top;
	view.least = 4 / all;
	const some = curves.length || (data.calls && T.lanes.some(lane => lane.rows.length || lane.calls));
	return { show: () => {
		$("timeline-canvas").hidden = !some;
		$("timeline-bar").replaceChildren(...(!some ? [el("p", {}, data.calls ? "The order of calls was not recorded, so there is no timeline." : nothing())] : [el("button", { onclick: view.reset, id: "timeline-reset" }, "Whole run"),
			el("button", { onclick: () => view.zoom(0.5, 0.5) }, "+"), el("button", { onclick: () => view.zoom(2, 0.5) }, "−"),
			el("span", { class: "quiet" }, `${T.lanes.length === 1 ? "1 lane" : `${T.lanes.length} lanes`}${T.lanes_left_out ? `, ${group(T.lanes_left_out)} more are left out` : ""}. ${T.shortest > 0 ? `Spans shorter than ${timed ? duration(T.shortest) : group(T.shortest) + " events"} appear in the bars only. ` : ""}${T.guessed ? "Returns were not recorded: each span ends where a later call shows that it must have ended, so it is at least as long as the call. " : ""}${timed ? "" : "Numbers at the top count events. "}${matchMedia("(pointer: coarse)").matches ? "Two fingers: zoom. One finger: move. Tap: one span." : "Wheel: zoom. Drag: move. Click: one span."}`)]));
		view.redraw();
	}, view };
})();

/* ---- source with counts ---- */
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
		$("source").replaceChildren(el("p", { class: "quiet" }, data.files.length
			? `The functions come from ${group(data.files.length)} source files, none of which lies in a folder that was given with --source DIR.`
			: "No source is in this report. Make it with --source DIR, from programs that were compiled with -g."));
		return;
	}
	const code = sources.map(x => x.lines.filter(l => l.length > 4)), ran = code.map(lines => lines.filter(l => l[4]).length);
	const order = sources.map((_, i) => i).sort((a, b) => sources[b].calls - sources[a].calls || ran[b] - ran[a]);
	const most = i => sources[i].lines.reduce((a, b) => b[2] + (b[7] || 0) > a[2] + (a[7] || 0) ? b : a)[0];
	const columns = [
		...(data.calls ? [["called", l => l[1] ? group(l[1]) : ""], ["calls made", l => l[2] ? group(l[2]) : ""]] : []),
		...(measured ? [["that took", l => l[3] ? time(l[3]) : ""]] : []),
		...(C ? [["executed", l => l.length > 4 ? l[7] ? group(l[7]) : l[4] ? "yes" : "no" : ""], ["ways taken", l => l[5] ? `${l[6]} of ${l[5]}` : ""]] : []),
	];
	const choose = el("select", { id: "source-file", "aria-label": "Source file", onchange: e => { wanted = [+e.target.value, 0]; file(); } },
		...order.map(i => el("option", { value: i }, `${data.files[sources[i].file]} (${C ? `${group(ran[i])} of ${group(code[i].length)} lines` : `${group(sources[i].calls)} calls`})`)));
	const text = el("pre", { class: "source" });
	const file = () => {
		const [i, line] = wanted;
		choose.value = i;
		const counts = new Map(sources[i].lines.map(l => [l[0], l]));
		const lines = sources[i].text.split("\n").map((content, n) => {
			const l = counts.get(n + 1) || [0, 0, 0, 0];
			return el("div", { class: `${l[1] || l[2] || l[4] ? "hit" : l.length > 4 ? "missed" : ""}${n + 1 === line ? " hit chosen" : ""}` },
				...columns.map(c => el("span", { class: "count" }, c[1](l))),
				el("span", { class: "quiet" }, `${String(n + 1).padStart(5)}  `), content);
		});
		text.replaceChildren(el("div", { class: "quiet" }, ...columns.map(c => el("span", { class: "count" }, c[0]))), ...lines);
		lines[(line || most(i)) - 1]?.scrollIntoView({ block: "center" });
	};
	$("source").replaceChildren(el("div", { class: "bar" }, choose, el("span", { class: "quiet" },
		`${data.calls ? "Functions and the calls that each line makes." : ""}${C ? " Lines with code, and which of them were executed." : ""}${data.sources_missing ? ` ${data.sources_missing === 1 ? "One source file is" : `${group(data.sources_missing)} source files are`} not in the folders that were given.` : ""}`)), text);
	wanted ||= [order[0], 0];
	file();
};

/* ---- which code was executed: LITIFUT_MODE=coverage, paths ---- */
const STATES = ["not known", "no", "yes"];
let costliest = !!C && C.instructions.some(n => n > 0); /* the order of the rows */
const drawCode = () => {
	const rows = C.name.map((_, i) => i).filter(i => !query || C.name[i].toLowerCase().includes(query));
	const need = i => [1, 0, 2][C.state[i]], counted = C.times.some(n => n > 0);
	const all = C.instructions.reduce((a, n) => a + n, 0);
	rows.sort((a, b) => costliest && C.instructions[b] - C.instructions[a] || need(a) - need(b) || (C.branches[b] - C.ways[b]) - (C.branches[a] - C.ways[a]) || a - b);
	const sum = (list, value) => list.reduce((a, i) => a + value(i), 0);
	const ran = sum(rows, i => C.state[i] === 2 ? 1 : 0), ways = sum(rows, i => C.ways[i]), branches = sum(rows, i => C.branches[i]);
	$("code").replaceChildren(
		el("div", { class: "bar" }, el("strong", { id: "code-sum" }, `${group(ran)} of ${group(rows.length)} functions executed, ${group(ways)} of ${group(branches)} ways of branches taken`),
			el("span", { class: "quiet" }, `What ${costliest ? "executes" : "misses"} most comes first. A row opens its source.`),
			all ? el("button", { id: "code-order", onclick: () => { costliest = !costliest; drawCode(); } }, costliest ? "Missed first" : "Most instructions first") : ""),
		el("table", {}, el("thead", {}, el("tr", {}, el("th", { class: "text" }, "Executed"), counted ? el("th", {}, "Times") : "", all ? el("th", { title: "executed in the function itself, those of the tracer not counted" }, "Instructions") : "", all ? el("th", {}, "Share") : "", el("th", {}, "Ways taken"), el("th", {}, "Ways"), el("th", { class: "text" }, "Function"), el("th", { class: "text" }, "Module"))),
			el("tbody", {}, ...rows.slice(0, shown).map(i => el("tr", { tabindex: 0, onclick: () => showLine(C.file[i], C.line[i]), onkeydown: e => { if (e.key === "Enter") showLine(C.file[i], C.line[i]); } },
				el("td", { class: "text" }, STATES[C.state[i]]), counted ? el("td", {}, C.times[i] ? group(C.times[i]) : "") : "", all ? el("td", {}, C.instructions[i] ? group(C.instructions[i]) : "") : "", all ? el("td", {}, C.instructions[i] ? `${(100 * C.instructions[i] / all).toFixed(1)} %` : "") : "", el("td", {}, group(C.ways[i])), el("td", {}, group(C.branches[i])),
				el("td", { class: "text", title: C.name[i] }, C.name[i]), el("td", { class: "text" }, data.modules[C.module[i]].name))))),
		rows.length > shown ? el("button", { class: "more", onclick: () => { shown *= 4; drawCode(); } }, `Show ${group(Math.min(shown * 3, rows.length - shown))} more`) : "");
};

/* ---- the last lines that each thread has executed: LITIFUT_MODE=paths ---- */
let ended = 0;
const drawEnds = () => {
	const end = C.ends[ended], text = el("pre", { class: "source", tabindex: 0 });
	let before = [];
	for (const step of end.steps) {
		const [depth, f, file, line] = step;
		if (step.length > 1 && before.length && depth === before[0] && f === before[1] && file === before[2] && line === before[3]) continue;
		before = step;
		const place = step.length === 1 ? "(what comes before is not known)" : `${f === NONE ? "?" : C.name[f]}${line ? ` ${data.files[file]}:${line}` : ""}`;
		text.append(el("div", { tabindex: line ? 0 : false, onclick: () => showLine(file, line), onkeydown: e => { if (e.key === "Enter") showLine(file, line); } },
			"  ".repeat(Math.min(depth, 40)) + place));
	}
	$("ends").replaceChildren(el("div", { class: "bar" }, el("select", { "aria-label": "Thread", onchange: e => { ended = +e.target.value; drawEnds(); } },
		...C.ends.map((x, i) => el("option", { value: i, selected: i === ended ? "" : false }, `${x.name} (${group(x.blocks)} blocks)`))),
		el("span", { class: "quiet" }, "The last lines that the thread executed, indented by call. A line opens its source.")), text);
	text.lastChild?.scrollIntoView({ block: "end" });
};

/* ---- what is in the trace, and what is missing ---- */
const clocks = { none: "none: the order of calls is known, their time is not", monotonic: "nanoseconds of the kernel's monotonic clock", cycle: "a counter of the CPU", page: "executed instructions" };
const modes = { calls: "calls, in order", spans: "calls and returns with their time, in order", table: "count and times of each call site", counts: "how often each call site was executed",
	stream: "calls, in order", paths: "every branch, in order", coverage: "which branches were taken", units: "tasks and events", balllarus: "path numbers" };
const drawAbout = () => {
	const list = pairs => el("dl", {}, ...pairs.flatMap(([k, v]) => [el("dt", {}, k), el("dd", {}, v)]));
	$("about").replaceChildren(
		el("h2", {}, "What is missing"), data.missing.length ? el("ul", { id: "missing" }, ...data.missing.map(m => el("li", {}, m.what, m.cure ? el("pre", {}, m.cure) : ""))) : el("p", { class: "quiet" }, "Nothing."),
		el("h2", {}, "Problems"), data.problems.length ? el("ul", { id: "problems" }, ...data.problems.map(p => el("li", { class: "warn" }, p))) : el("p", { class: "quiet" }, "None."),
		el("h2", {}, "Processes"), ...data.processes.map(p => list([["program", p.program], ["process", `${p.pid}, parent ${p.parent_pid}`], ["events", group(p.events)],
			["lost", group(p.lost)], ["threads", group(p.threads.length)], ["recorded", modes[p.mode] || p.mode], ["clock", clocks[p.clock]], ["end", p.stopped ? "it ended, or recording was stopped" : "it was killed, or still runs"]])),
		el("h2", {}, "Modules"), el("table", {}, el("thead", {}, el("tr", {}, ...["Module", "Build-id", "Traced", "Engine", "File"].map(t => el("th", { class: "text" }, t)))),
			el("tbody", {}, ...data.modules.filter(m => m.name !== "?").map(m => el("tr", {}, el("td", { class: "text" }, m.name), el("td", { class: "text" }, m.build_id || "none"), el("td", { class: "text" }, m.traced ? "yes" : "no: only calls to it"), el("td", { class: "text" }, m.engine || ""), el("td", { class: "text" }, m.file || "not found"))))),
		el("h2", {}, "Keys"), el("p", {}, ...["functions", "flame graph", "timeline", "source", "this page", "executed code", "last lines"].flatMap((what, i) => Object.hasOwn(views, tabs[i]) ? [el("kbd", {}, i + 1), ` ${what} `] : []), el("kbd", {}, "/"), " search ", el("kbd", {}, "+"), " ", el("kbd", {}, "−"), " ", el("kbd", {}, "←"), " ", el("kbd", {}, "→"), " ", el("kbd", {}, "0"), " zoom, move and reset in the pictures"),
		el("p", { class: "quiet" }, `Made by litifut-post ${data.version}.`));
};

/* ---- views ---- */
const views = { functions: drawFunctions, function: () => {}, flame: () => flame.show(), timeline: () => timeline.show(), source: drawSource, about: drawAbout,
	...(C ? { code: drawCode } : {}), ...(C && C.ends.length ? { ends: drawEnds } : {}) };
const tabs = ["functions", "flame", "timeline", "source", "about", "code", "ends"];
let current = "";
const show = (view, f) => {
	current = view;
	for (const id of Object.keys(views)) $(id).hidden = id !== view;
	for (const b of document.querySelectorAll("nav button[data-view]")) b.setAttribute("aria-selected", b.dataset.view === (view === "function" ? "functions" : view));
	showTip({ clientX: 0, clientY: 0 }, "");
	views[view]();
	/* so that the keys for zoom are for the picture */
	if (document.documentElement.dataset.ready && (view === "flame" || view === "timeline")) $(`${view}-canvas`).focus({ preventScroll: true });
	const hash = f === undefined ? `#view=${view}` : `#function=${f}`;
	if (location.hash !== hash) history.pushState(null, "", hash);
};
const route = () => {
	const hash = location.hash.slice(1), f = /^function=(\d+)$/.exec(hash);
	if (f && +f[1] < F.name.length) showFunction(+f[1]);
	else {
		const view = hash.replace(/^view=/, "");
		show(Object.hasOwn(views, view) && view !== "function" ? view : C && !data.calls ? "code" : "functions");
	}
};
for (const b of document.querySelectorAll("nav button[data-view]")) {
	b.addEventListener("click", () => show(b.dataset.view));
	b.hidden = !Object.hasOwn(views, b.dataset.view) || (C && !data.calls && ["functions", "flame", "timeline"].includes(b.dataset.view));
}
let typing = 0;
$("search").addEventListener("input", e => {
	clearTimeout(typing);
	typing = setTimeout(() => {
		setQuery(e.target.value);
		if (current === "flame") flame.view.redraw();
		else if (current === "timeline") timeline.view.redraw();
		else show(current === "code" ? "code" : "functions");
	}, 60);
});
$("theme").addEventListener("click", () => {
	const dark = matchMedia("(prefers-color-scheme: dark)").matches, theme = document.documentElement.dataset.theme || (dark ? "dark" : "light");
	document.documentElement.dataset.theme = theme === "dark" ? "light" : "dark";
	if (current) views[current]();
});
addEventListener("keydown", e => {
	if (e.ctrlKey || e.altKey || e.metaKey) return;
	if (e.target instanceof HTMLInputElement || e.target instanceof HTMLSelectElement) {
		if (e.key === "Escape") { e.target.value = ""; e.target.dispatchEvent(new Event("input")); e.target.blur(); }
		return;
	}
	if (e.key === "/") { $("search").focus(); e.preventDefault(); return; }
	const view = tabs[+e.key - 1];
	if (Object.hasOwn(views, view)) { show(view); e.preventDefault(); }
});
addEventListener("popstate", route);

const programs = [...new Set(data.processes.map(p => p.program))];
const lost = data.processes.reduce((a, p) => a + p.lost, 0);
document.title = `${programs.slice(0, 3).join(", ")}: LITIFUT report`;
$("title").textContent = programs.slice(0, 3).join(", ") + (programs.length > 3 ? ` and ${programs.length - 3} more` : "");
$("facts").replaceChildren(`${data.calls || !C ? `${group(data.calls)} calls, ${group(F.name.length)} functions` : `${group(C.name.length)} functions`}, ${data.processes.length} process${data.processes.length === 1 ? "" : "es"}`,
	lost ? el("span", { class: "warn" }, `, ${group(lost)} calls were lost`) : "",
	data.unresolved ? el("span", { class: "warn" }, `, ${group(data.unresolved)} calls without a name`) : "",
	data.problems.length ? el("span", { class: "warn" }, `, ${data.problems.length} problem${data.problems.length === 1 ? "" : "s"}`) : "",
	...(data.missing.length ? [", ", el("a", { href: "#view=about" }, data.missing.some(m => m.cure) ? "what is missing and what to do" : "what is missing")] : []));
route();
document.documentElement.dataset.ready = performance.now().toFixed(0);
})();
