"use strict";
/*
 * The strip of time above all: samples by object, bytes allocated, and pauses of collections. Dragging, or
 * the arrow keys with Shift, choose a stretch of it.
 */
page.add((shared) => {
	const { el, svg, id, number, bytes, duration, data, chosen, overTime, samplesOverTime, lens, strings } = shared;
	const W = 1000, H = 40, OBJECTS = 5;
	const begin = data.epochs.begin.length ? Math.min(...data.epochs.begin) : 0, end = Math.max(...data.epochs.end, begin + 1);
	const x = (ns) => W * Math.max(0, ns - begin) / (end - begin);

	/* Epochs of several processes may overlap: the strip shows their sum. */
	function stacked() {
		const top = lens().groups["class"].rows.filter((r) => r.samples).slice(0, OBJECTS);
		const all = samplesOverTime(), series = top.map((r) => ({ name: r, values: overTime(r, "samples") }));
		const most = Math.max(...all.map((n, i) => n / width(i)), 1e-9), parts = [];
		all.forEach((n, i) => {
			const x0 = x(data.epochs.begin[i]), w = Math.max(0.8, x(data.epochs.end[i]) - x0 - 0.4), scale = H / most / width(i);
			let y = H;
			const put = (value, color, what) => {
				const h = value * scale;
				if (h <= 0)
					return;
				y -= h;
				parts.push(svg("rect", { x: x0, y, width: w, height: h, style: "fill:" + color }, svg("title", { text:
					duration(data.epochs.begin[i]) + " to " + duration(data.epochs.end[i]) + ": " + number(Math.round(value)) + " samples, " + what })));
			};
			let rest = n;
			series.forEach((s, k) => {
				put(s.values[i], "var(--s" + k + ")", strings[s.name.class]);
				rest -= s.values[i];
			});
			put(Math.max(0, rest), "var(--rest)", "the rest");
		});
		return parts;
	}

	const width = (i) => Math.max(1, data.epochs.end[i] - data.epochs.begin[i]);

	/* Bytes a second, as a line. */
	function allocated() {
		const values = overTime(null, "bytes").map((n, i) => n / width(i) * 1e9), most = Math.max(...values, 1e-9);
		const points = Array.from(values, (v, i) => [(x(data.epochs.begin[i]) + x(data.epochs.end[i])) / 2, H - (H - 3) * v / most])
			.sort((a, b) => a[0] - b[0]).map((p) => p.map((n) => n.toFixed(1)).join(",")).join(" ");
		return [svg("polyline", { class: "rate", points }, svg("title", { text: "allocated, at most " + bytes(Math.round(most)) + " a second" }))];
	}

	const pauses = () => data.pauses.map(([, at, length]) => svg("rect", { class: "pause", x: x(at), y: 0,
		width: Math.max(1, x(at + length) - x(at)), height: 7 }, svg("title", { text: "pause at " + duration(at) + ", " + duration(length) })));

	function draw(changed) {
		const host = id("strip");
		host.hidden = !shared.hasTime;
		if (host.hidden)
			return;
		const [from, to] = chosen.time || [0, 0];
		const picture = svg("svg", { viewBox: "0 0 " + W + " " + H, preserveAspectRatio: "none", role: "img", "aria-label":
			"Samples by object, bytes allocated and pauses over " + duration(end) }, ...stacked(), ...allocated(), ...pauses(),
			...(chosen.time ? [svg("rect", { class: "shade", x: 0, y: 0, width: x(from), height: H }),
				svg("rect", { class: "shade", x: x(to), y: 0, width: Math.max(0, W - x(to)), height: H })] : []));
		const mark = svg("rect", { class: "drag", y: 0, height: H, width: 0 });
		picture.append(mark);
		const at = (event) => {
			const box = picture.getBoundingClientRect();
			return begin + (end - begin) * Math.min(1, Math.max(0, (event.clientX - box.left) / box.width));
		};
		let start = null;
		picture.addEventListener("pointerdown", (event) => {
			start = at(event);
			picture.setPointerCapture(event.pointerId);
		});
		picture.addEventListener("pointermove", (event) => {
			if (start === null)
				return;
			const now = at(event);
			mark.setAttribute("x", x(Math.min(start, now)));
			mark.setAttribute("width", x(Math.abs(now - start)));
		});
		picture.addEventListener("pointerup", (event) => {
			const now = at(event), range = [Math.min(start, now), Math.max(start, now)];
			start = null;
			changed(x(range[1]) - x(range[0]) < 4 ? null : range);
		});
		host.replaceChildren(picture, el("p", { class: "where" }, chosen.time ? duration(from) + " to " + duration(to) + " " : duration(begin) + " to " + duration(end) + " ",
			chosen.time ? el("button", { type: "button", class: "small", text: "all of the time", title: "0", onclick: () => changed(null) }) :
				el("span", { text: "drag to choose a stretch; line: bytes allocated; red: pauses" })));
	}

	/* A step of the keyboard: the whole, then an epoch, which moves. */
	function step(forward, longer) {
		const order = Array.from(data.epochs.end.keys()).sort((a, b) => data.epochs.begin[a] - data.epochs.begin[b]);
		if (!order.length)
			return null;
		const inside = order.filter((i) => chosen.time && (data.epochs.begin[i] + data.epochs.end[i]) / 2 >= chosen.time[0] &&
			(data.epochs.begin[i] + data.epochs.end[i]) / 2 <= chosen.time[1]).map((i) => order.indexOf(i));
		let first = inside.length ? Math.min(...inside) : -1, last = inside.length ? Math.max(...inside) : -1;
		if (first < 0)
			first = last = forward ? 0 : order.length - 1;
		else if (longer)
			last = Math.min(order.length - 1, last + 1);
		else
			first = last = Math.min(order.length - 1, Math.max(0, (forward ? last : first) + (forward ? 1 : -1)));
		return [data.epochs.begin[order[first]], data.epochs.end[order[last]]];
	}

	Object.assign(shared, { drawStrip: draw, stripStep: step });
});
