/* Canvas views: what flame graph and timeline share. */
const readPalette = () => {
	const style = getComputedStyle(document.documentElement);
	return Object.fromEntries(
		["paper", "ink", "quiet", "line", "raised", "accent"].map(key => [key, style.getPropertyValue(`--${key}`)]),
	);
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
			const width = canvas.clientWidth,
				height = Math.max(
					240,
					Math.min(view.height || 400, innerHeight - canvas.getBoundingClientRect().top - scrollY - 24),
				);
			const scale = devicePixelRatio || 1;
			if (canvas.width !== Math.round(width * scale) || canvas.height !== Math.round(height * scale)) {
				canvas.width = Math.round(width * scale);
				canvas.height = Math.round(height * scale);
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
		const span = view.to - view.from,
			next = Math.max(view.least || 1e-12, Math.min(1, span * factor));
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
	view.reset = () => {
		view.from = 0;
		view.to = 1;
		view.scroll = 0;
		view.redraw();
	};
	view.zoom = zoom;
	const clampScroll = () => {
		view.scroll = Math.max(0, Math.min(view.scroll, (view.height || 0) - canvas.clientHeight));
	};
	canvas.addEventListener(
		"wheel",
		e => {
			e.preventDefault();
			if (e.shiftKey) {
				view.scroll += e.deltaY;
				clampScroll();
				view.redraw();
			} else if (Math.abs(e.deltaX) > Math.abs(e.deltaY)) pan(e.deltaX / canvas.clientWidth);
			else zoom(Math.exp(e.deltaY / 300), e.offsetX / canvas.clientWidth);
		},
		{ passive: false },
	);
	let drag = null;
	/* Two fingers zoom: what lies between them stays between them. */
	const fingers = new Map();
	const pinch = e => {
		const other = [...fingers.values()].find(f => f.id !== e.pointerId),
			self = fingers.get(e.pointerId);
		const before = Math.abs(self.x - other.x),
			after = Math.abs(e.offsetX - other.x);
		fingers.set(e.pointerId, { id: e.pointerId, x: e.offsetX });
		if (before > 10 && after > 10) zoom(before / after, (e.offsetX + other.x) / 2 / canvas.clientWidth);
	};
	canvas.addEventListener("pointercancel", e => {
		fingers.delete(e.pointerId);
		drag = null;
	});
	canvas.addEventListener("pointerdown", e => {
		fingers.set(e.pointerId, { id: e.pointerId, x: e.offsetX });
		drag = { x: e.clientX, y: e.clientY, from: view.from, scroll: view.scroll, moved: false };
		canvas.setPointerCapture(e.pointerId);
	});
	canvas.addEventListener("pointermove", e => {
		if (fingers.size === 2 && fingers.has(e.pointerId)) {
			if (drag) drag.moved = true;
			pinch(e);
			return;
		}
		if (drag && e.buttons) {
			const dx = e.clientX - drag.x,
				dy = e.clientY - drag.y;
			if (Math.abs(dx) + Math.abs(dy) > 4) drag.moved = true;
			if (drag.moved) {
				const span = view.to - view.from;
				view.from = Math.max(0, Math.min(1 - span, drag.from - (dx / canvas.clientWidth) * span));
				view.to = view.from + span;
				view.scroll = drag.scroll - dy;
				clampScroll();
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
		drag = fingers.size
			? {
					x: [...fingers.values()][0].x + canvas.getBoundingClientRect().left,
					y: e.clientY,
					from: view.from,
					scroll: view.scroll,
					moved: true,
				}
			: null;
		if (moved || drag) return;
		const hit = pick(view, e.offsetX, e.offsetY, canvas.clientWidth);
		if (hit && hit.click) hit.click(e);
	});
	canvas.addEventListener("dblclick", e => {
		const hit = pick(view, e.offsetX, e.offsetY, canvas.clientWidth);
		if (hit && hit.f !== undefined) showFunction(hit.f);
	});
	canvas.addEventListener("keydown", e => {
		const act = {
			"+": () => zoom(0.5, 0.5),
			"=": () => zoom(0.5, 0.5),
			"-": () => zoom(2, 0.5),
			ArrowLeft: () => pan(-0.2),
			ArrowRight: () => pan(0.2),
			ArrowUp: () => {
				view.scroll -= 60;
				clampScroll();
				view.redraw();
			},
			ArrowDown: () => {
				view.scroll += 60;
				clampScroll();
				view.redraw();
			},
			0: view.reset,
			Escape: view.reset,
		}[e.key];
		if (act) {
			act();
			e.preventDefault();
			e.stopPropagation();
		}
	});
	addEventListener("resize", () => {
		if (!canvas.closest("section").hidden) view.redraw();
	});
	return view;
};
const frame = (context, x, y, w, h, f, label) => {
	context.fillStyle = matches && !isMatch(f) ? palette.raised : isMatch(f) ? "#c03bd1" : colourOf(f);
	context.fillRect(x, y, Math.max(w - (w > 3 ? 1 : 0), 0.6), h - 1);
	if (w > 28) {
		const room = Math.floor((w - 6) / 6.4);
		context.fillStyle = matches && !isMatch(f) ? palette.quiet : isMatch(f) ? "#fff" : "#1b1206";
		context.fillText(
			label.length > room ? label.slice(0, Math.max(room - 1, 1)) + "…" : label,
			x + 4,
			y + h / 2,
			w - 6,
		);
	}
};
