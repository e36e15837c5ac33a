/* What all views share: numbers and names as text, the search, and the tooltip. Everything is drawn from
 * the object in the element "data", whose members docs/output-formats.md describes. Functions are
 * referred to by their number. The parts of the script are put one behind the other by assets.c. */
const data = JSON.parse(document.getElementById("data").textContent);
const $ = id => document.getElementById(id);
const NONE = -1;
const timed = data.unit === "ns";

/* ---- numbers and names ---- */
const group = n => Math.round(n).toLocaleString("en-US").replace(/,/g, "\u202f");
/* Those of the parts that are there, as one text. */
const sentences = (...parts) => parts.filter(part => part).join(" ");
const duration = ns => {
	const a = Math.abs(ns);
	if (a < 1e3) return `${Math.round(ns)} ns`;
	if (a < 1e6) return `${(ns / 1e3).toPrecision(3)} µs`;
	if (a < 1e9) return `${(ns / 1e6).toPrecision(3)} ms`;
	return `${(ns / 1e9).toPrecision(4)} s`;
};
/* Times of functions: measured from recorded returns or a table, or only bounds of them. */
const measured = data.times === "measured",
	bounded = data.times === "bounds";
const time = v => (data.ticks ? `${group(v)} ticks` : duration(v));
/* A quantity with the prefix of its unit that fits. */
const quantity = (v, unit) => {
	const a = Math.abs(v),
		i = a >= 1 || !a ? 0 : Math.min(4, Math.ceil(-Math.log10(a) / 3 - 1e-9));
	return `${a ? +(v * 1000 ** i).toPrecision(4) : 0} ${["", "m", "µ", "n", "p"][i]}${unit}`;
};
const joules = v => quantity(v, "J");
const position = v =>
	timed
		? v >= 1e6
			? `${(v / 1e6).toFixed(3).replace(/\B(?=(\d{3})+\.)/g, "\u202f")} ms`
			: duration(v)
		: `event ${group(v)}`;
const percent = part =>
	part >= 0.0995
		? `${(100 * part).toFixed(0)} %`
		: part >= 0.00095
			? `${(100 * part).toFixed(1)} %`
			: part > 0
				? "< 0.1 %"
				: "";
const name = f => (f === NONE ? "(not traced)" : data.functions.name[f]);
const moduleOf = f => (f === NONE ? "" : data.modules[data.functions.module[f]].name);
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
	for (let i = 0; i < text.length; i++) h = (h * 31 + text.charCodeAt(i)) | 0;
	h = Math.imul(h ^ (h >>> 15), 0x9e3779b1); /* names that differ in a letter differ in colour */
	return `hsl(${20 + (Math.abs(h) % 40)} ${55 + (Math.abs(h >> 8) % 30)}% ${58 + (Math.abs(h >> 16) % 14)}%)`;
};
const colours = new Map();
const colourOf = f => {
	let c = colours.get(f);
	if (!c) colours.set(f, (c = colour(f)));
	return c;
};

/* ---- search: the same text filters the table and marks frames ---- */
let query = "",
	matches = null;
const setQuery = text => {
	query = text.trim().toLowerCase();
	matches = null;
	if (query) {
		matches = new Uint8Array(data.functions.name.length);
		const lower = (data.functions.lower ||= data.functions.name.map(n => n.toLowerCase()));
		for (let i = 0; i < lower.length; i++) matches[i] = lower[i].includes(query) ? 1 : 0;
	}
};
const isMatch = f => matches !== null && f !== NONE && matches[f] === 1;

/* ---- tooltip ---- */
const tip = $("tip");
const showTip = (event, text) => {
	if (!text) {
		tip.hidden = true;
		return;
	}
	tip.textContent = text;
	tip.hidden = false;
	const box = tip.getBoundingClientRect();
	tip.style.left = `${Math.max(0, Math.min(event.clientX + 12, innerWidth - box.width - 8))}px`;
	tip.style.top = `${event.clientY + 16 + box.height > innerHeight ? Math.max(0, event.clientY - box.height - 8) : event.clientY + 16}px`;
};
