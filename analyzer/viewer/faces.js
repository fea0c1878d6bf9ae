"use strict";
/*
 * The faces of a row: details of the chosen object. Each face is a function that fills an element.
 */
page.add((shared) => {
	const { el, svg, number, percent, bytes, duration, data, strings, methodOf, lineOf, frameOf, frameText, methodName, rangeOf, sourceText,
		place, chosen, lens, metrics, sums, partName, accessesOf, allocationsOf, overTime, placesOf, drawFlame } = shared;

	const section = (title, ...children) => el("section", null, el("h3", { text: title }), ...children);
	const plain = (heads, rows) => el("table", { class: "plain" },
		el("thead", null, el("tr", null, ...heads.map((t, i) => el("th", { scope: "col", class: i ? "number" : null, text: t })))),
		el("tbody", null, ...rows.map(([name, ...cells]) => el("tr", null, el("th", { scope: "row", text: name }),
			...cells.map((c) => el("td", { class: "number", text: c }))))));

	/* ---- touched by ---- */

	function touchedBy(host, row, view) {
		const metric = shared.allocates() ? "samples" : chosen.metric;
		const total = metric === chosen.metric ? sums().total : sums().samples;
		view.flame = drawFlame(host, {
			paths: accessesOf(row), total, label: "Call paths that touch the objects", search: view.words,
			unit: (n) => number(Math.round(n * 10) / 10) + " " + metrics[metric].unit,
			hint: "top: the line that touches the object; below: who called it; click: zoom",
			empty: "No sample fell into these objects" + (shared.everything() ? "." : " in what is chosen."),
			rootFirst: view.rootFirst, onturn: (first) => {
				view.rootFirst = first;
			} });
	}

	/* ---- allocated by ---- */

	function allocatedBy(host, row, view) {
		const metric = chosen.metric === "allocations" ? "allocations" : "bytes";
		const paths = allocationsOf(row, metric);
		const estimate = row.objects || row.spread ? "~" : "";
		view.flame = drawFlame(host, {
			paths, total: paths.reduce((sum, [, n]) => sum + n, 0), label: "Call paths that allocate the objects", search: view.words,
			unit: (n) => estimate + (metric === "bytes" ? bytes(Math.round(n)) : number(Math.round(n)) + " objects"),
			hint: "top: the line that allocates; width: " + (metric === "bytes" ? "bytes" : "objects"),
			empty: "No allocation of these objects was recorded" + (shared.everything() ? "." : " in what is chosen."),
			rootFirst: view.rootFirst, onturn: (first) => {
				view.rootFirst = first;
			} });
		const path = row.path || (paths.length ? paths.sort((a, b) => b[1] - a[1])[0][0] : 0);
		if (path)
			host.append(shared.pathSection(path, "Allocated at" + (paths.length > 1 ? " (the busiest of " + number(paths.length) + " paths)" : ""), "alloc"));
	}

	/* ---- layout ---- */

	/*
	 * Fields of a row's objects: name, first, last, samples, loads, stores. If the row is an
	 * estimate, they are its whole class's.
	 */
	function fieldsOf(row) {
		const out = new Map();
		for (const [at] of placesOf(row))
			for (const f of lens().places[at].fields || []) {
				const key = f.slice(0, 3).join();
				const sum = out.get(key) || [f[0], f[1], f[2], 0, 0, 0];
				for (let i = 3; i < 6; i++)
					sum[i] += f[i];
				out.set(key, sum);
			}
		return [...out.values()].sort((a, b) => b[3] - a[3]);
	}

	const touchText = (loads, stores) => (loads ? (stores ? "loads and stores" : "loads") : stores ? "stores" : "");

	function fieldTable(fields) {
		const whole = fields.reduce((sum, f) => sum + f[3], 0);
		return plain(["Part", "Samples", "Share", "Loads", "Stores"], fields.slice(0, 64).map((f) =>
			[partName(...f), number(f[3]), percent(f[3] / whole), number(f[4]), number(f[5])]));
	}

	const heat = (part) => "--heat:" + Math.round(8 + 72 * Math.sqrt(part)) + "%";

	/* An array as one strip of 64 cells: samples of a range of elements are spread over its cells. */
	function strip(fields) {
		const elements = fields.filter((f) => !strings[f[0]]);
		const last = Math.max(...elements.map((f) => f[2])) + 1, cells = new Array(64).fill(0);
		for (const f of elements) {
			const from = 64 * f[1] / last, to = 64 * (f[2] + 1) / last;
			for (let c = Math.floor(from); c < Math.min(64, Math.ceil(to)); c++)
				cells[c] += f[3] * (Math.min(to, c + 1) - Math.max(from, c)) / (to - from);
		}
		const most = Math.max(...cells, 1e-9);
		const range = (c) => Math.floor(last * c / 64) + " to " + Math.max(Math.floor(last * c / 64), Math.ceil(last * (c + 1) / 64) - 1);
		return section("Elements 0 to " + number(last - 1),
			el("div", { class: "cells", role: "img", "aria-label": "Samples by element" }, ...cells.map((n, c) =>
				el("i", { style: n ? heat(n / most) : null, class: n ? "hit" : null,
					title: "elements " + range(c) + ": about " + number(Math.round(n)) + " samples" }))),
			el("p", { class: "where", text: "Each cell is a 64th of the longest array seen; the profile has elements as ranges of a 16th." }));
	}

	/* Fields drawn to scale, eight bytes to a cell line, if the profile has their offsets. */
	function drawn(row, fields) {
		const layout = data.layouts.find((l) => l.class === row.class);
		if (!layout)
			return [];
		const of = new Map(fields.map((f) => [strings[f[0]], f]));
		const most = Math.max(...fields.map((f) => f[3]), 1);
		const size = Math.max(...layout.fields.map((f) => f[1] + f[2]), layout.bytes || 0);
		return [section("The object's " + (layout.bytes ? number(size) + " bytes" : "fields") + ", to scale",
			el("div", { class: "object", style: "height:" + Math.ceil(size / 8) * 22 + "px" }, ...layout.fields.flatMap(([name, offset, width]) => {
				const f = of.get(strings[name]);
				const text = strings[name] + (f ? ": " + number(f[3]) + " samples, " + touchText(f[4], f[5]) : ": no sample");
				const out = [];
				for (let at = offset; at < offset + width; at = Math.floor(at / 8 + 1) * 8) {
					const end = Math.min(offset + width, Math.floor(at / 8 + 1) * 8);
					out.push(el("i", { class: f ? "hit" : null, title: text + " (bytes " + offset + " to " + (offset + width - 1) + ")",
						style: "left:" + 12.5 * (at % 8) + "%;top:" + 22 * Math.floor(at / 8) + "px;width:" + 12.5 * (end - at) + "%;" + (f ? heat(f[3] / most) : ""),
						text: at === offset ? strings[name] : "" }));
				}
				return out;
			})), el("p", { class: "where", text: "A line is eight bytes; darker: more samples. A cache line is eight of these lines." }))];
	}

	/* Cache lines that threads share falsely: their bytes by thread. */
	function falselyShared(row) {
		const mine = new Set(placesOf(row).map(([at]) => lens().places[at].site));
		for (let i = 1; i < row.parts.length; i += 3)
			mine.add(row.parts[i]);
		return data.false_sharing.filter((f) => f.sides.some((s) => mine.has(s.site) ||
			(s.class === row.class && s.allocation_path === row.path))).map((f) => shared.sharedLine(f));
	}

	function layout(host, row) {
		const fields = fieldsOf(row);
		if (!fields.length) {
			host.append(el("p", { class: "empty", text: "The fields or elements of these samples are unknown." }));
			return;
		}
		if (row.touched)
			host.append(el("p", { text: "Touched: " + row.touched + "." }));
		if (fields.some((f) => !strings[f[0]]))
			host.append(strip(fields));
		host.append(...drawn(row, fields), ...falselyShared(row), section("Parts", fieldTable(fields)));
		for (const [at] of placesOf(row))
			if (lens().places[at].metric) {
				host.append(section("Measured", el("p", { text: shared.metricText(lens().places[at].metric) })));
				break;
			}
	}

	/* ---- source ---- */

	/* Methods that touch the row's objects, with samples by line. */
	function touching(row) {
		const methods = new Map();
		for (const [path, value] of accessesOf(row)) {
			if (path <= 0)
				continue;
			const method = methodOf(frameOf(path)), line = lineOf(frameOf(path));
			if (!methods.has(method))
				methods.set(method, { method, value: 0, lines: new Map() });
			methods.get(method).value += value;
			methods.get(method).lines.set(line, (methods.get(method).lines.get(line) || 0) + value);
		}
		return [...methods.values()].sort((a, b) => b.value - a.value);
	}

	function sourceRows({ method, lines }, most) {
		const ranges = new Set();
		for (const line of lines.keys()) {
			const range = rangeOf(method, line);
			if (range)
				ranges.add(range);
		}
		if (!ranges.size)
			return [...lines].sort((a, b) => b[1] - a[1]).map(([line, n]) =>
				el("span", { class: "hit", style: heat(n / most), text: percent(n / sums().total).padStart(6) + "  " + place(method, line) }));
		return [...ranges].sort((a, b) => a.first - b.first).flatMap((range) => {
			const hits = [...lines.keys()].filter((l) => l >= range.first && l < range.first + range.lines.length);
			const from = Math.max(range.first, Math.min(...hits) - 4), to = Math.min(range.first + range.lines.length - 1, Math.max(...hits) + 4);
			const out = [];
			for (let at = from; at <= to; at++) {
				const n = lines.get(at) || 0;
				out.push(el("span", { class: n ? "hit" : null, style: n ? heat(n / most) : null,
					text: (n ? percent(n / sums().total) : "").padStart(6) + String(at).padStart(6) + "  " + sourceText(range.lines[at - range.first]) }));
			}
			return out;
		});
	}

	function source(host, row) {
		const methods = touching(row);
		const most = Math.max(...methods.flatMap((m) => [...m.lines.values()]), 1e-9);
		if (!data.sources.length)
			host.append(el("p", { class: "where", text: "The text of the lines is shown if the report is made with --source-path: " +
				"directories, jars of sources, the JDK's src.zip." }));
		for (const m of methods.slice(0, 12))
			host.append(section(methodName(m.method) + "  " + percent(m.value / sums().total), el("div", { class: "source heat" }, ...sourceRows(m, most))));
		if (row.path) {
			const own = shared.sourceOf(frameOf(row.path));
			host.append(section("Allocated at " + frameText(frameOf(row.path)), ...(own ? [own] : [])));
		}
		if (!methods.length)
			host.append(el("p", { class: "empty", text: "No sample fell into these objects." }));
	}

	/* ---- life ---- */

	/* Bars over time; an epoch is as wide as it was long. */
	function bars(values, unit, label) {
		const W = 640, H = 90, end = Math.max(...data.epochs.end, 1), most = Math.max(...values, 1e-9);
		const x = (ns) => W * ns / end;
		return svg("svg", { viewBox: "0 0 " + W + " " + (H + 18), role: "img", "aria-label": label, class: "bars" },
			...Array.from(values, (v, i) => svg("rect", { class: "bar", x: x(data.epochs.begin[i]), y: H - H * v / most,
				width: Math.max(1, x(data.epochs.end[i]) - x(data.epochs.begin[i]) - 1), height: H * v / most },
				svg("title", { text: duration(data.epochs.begin[i]) + " to " + duration(data.epochs.end[i]) + ": " + unit(v) }))),
			svg("line", { class: "axis", x1: 0, x2: W, y1: H, y2: H }),
			svg("text", { x: 0, y: H + 14, class: "dim", text: "0" }),
			svg("text", { x: W, y: H + 14, class: "dim", "text-anchor": "end", text: duration(end) }));
	}

	/* Arrays that Locus has looked into: how much of dead ones was used, and which live ones are equal. */
	function contents(row) {
		const [dead, zero, size, used, to64, to16, to8, to4, to2, outlived, same, other] = row.contents;
		const written = dead - zero;
		const parts = [["1/64", to64], ["1/16", to16], ["1/8", to8], ["1/4", to4], ["1/2", to2], ["all", written - to64 - to16 - to8 - to4 - to2]];
		const rows = parts.filter((part) => part[1]).map((part) => ["dead, used up to " + part[0], number(part[1]), percent(part[1] / dead)]);
		if (written)
			rows.unshift(["dead, used on average " + bytes(Math.round(used / written)) + " of " + bytes(Math.round(size / written)), number(written), percent(used / size)]);
		if (zero)
			rows.push(["dead, nothing but zeros", number(zero), percent(zero / dead)]);
		if (outlived)
			rows.push(["outlived a collection", number(outlived), ""], ["of these, equal to another of this line", number(same), percent(same / outlived)],
				["of these, equal to one of another line", number(other), percent(other / outlived)]);
		return section("Contents of arrays that were looked at", plain(["", "Arrays", "Part"], rows));
	}

	function life(host, row) {
		const about = (n) => number(Math.round(n));
		const rows = [];
		if (row.allocations)
			rows.push(["tracked objects", about(row.allocations), bytes(row.bytes)]);
		if (row.objects)
			rows.push(["smaller objects (estimate)", "~" + about(row.objects[0]) + " (" + about(row.objects[1]) + " to " + about(row.objects[2]) + ")",
				"~" + bytes(Math.round(row.object_bytes[0]))]);
		if (row.copied && row.copied[0])
			rows.push(["copied by collections", about(row.copied[0]), bytes(row.copied[1])]);
		if (row.copied)
			rows.push(["outlived a collection", about(row.copied[2]), bytes(row.copied[3])]);
		if (rows.length)
			host.append(section("Objects", plain(["", "Objects", "Bytes"], rows)));
		if (row.live && row.objects)
			host.append(section("Smaller objects, estimated", plain(["Outlived collections", "Objects", "Part"],
				row.live.map((n, i) => [String(1 << i), "~" + about(n), percent(Math.min(1, n / row.objects[0]))]))));
		if (row.contents)
			host.append(contents(row));
		if (shared.hasTime && row.sites.length)
			host.append(section("Bytes allocated over time", bars(overTime(row, "bytes"), (v) => bytes(Math.round(v)), "Bytes allocated over time")));
		if (shared.hasTime && row.samples)
			host.append(section("Samples over time", bars(overTime(row, "samples"), (v) => number(Math.round(v)) + " samples", "Samples over time")));
		if (!host.childElementCount)
			host.append(el("p", { class: "empty", text: "No allocation of these objects was recorded." }));
	}

	/* ---- reached through ---- */

	/* indexed by enum lc_why */
	const whys = ["", "not known", "a virtual call", "an interface call", "a type check", "an array store check", "the length", "an index check",
		"a monitor", "the identity hash", "a null check", "an allocation"];
	const UNKNOWN_REFERENCE = 0, NO_HEADER = 0;

	/* Rows of "reaches" of a row's objects: name, kind, why, path, samples. If the row is an estimate, they are its whole class's. */
	const reachesOf = (row) => [...new Set(placesOf(row).map(([at]) => at))].flatMap((at) => lens().places[at].reaches || []);

	/* [text, the path with most samples, samples], most samples first. */
	function sumUp(reaches, textOf) {
		const out = new Map();
		for (const r of reaches) {
			const sum = out.get(textOf(r)) || { samples: 0, paths: new Map() };
			sum.samples += r[4];
			sum.paths.set(r[3], (sum.paths.get(r[3]) || 0) + r[4]);
			out.set(textOf(r), sum);
		}
		return [...out].map(([text, sum]) => [text, [...sum.paths].sort((a, b) => b[1] - a[1])[0][0], sum.samples]).sort((a, b) => b[2] - a[2]);
	}

	function reachedThrough(host, row) {
		const all = reachesOf(row), whole = all.reduce((sum, r) => sum + r[4], 0);
		const rows = (reaches, textOf) => sumUp(reaches, textOf).slice(0, 100).map(([text, path, n]) =>
			[text, number(n), percent(n / whole), path ? shared.fit(shared.leafShort(path), 30) : ""]);
		host.append(section("References through which the code reached the objects", plain(["Reference", "Samples", "Share", "Mostly at"],
			rows(all, (r) => r[1] === UNKNOWN_REFERENCE ? "not known" : shared.withoutPackages(strings[r[0]])))));
		const headers = all.filter((r) => r[2] !== NO_HEADER);
		if (headers.length)
			host.append(section("Reasons to read their headers", plain(["Reason", "Samples", "Share", "Mostly at"],
				rows(headers, (r) => whys[r[2]] || "not known"))));
		host.append(el("p", { class: "where", text: "Of " + number(whole) + " samples in Java code; from the bytecode at the line, and of its callers." }));
	}

	/* ---- spans ---- */

	/* indexed by enum lc_span_kind */
	const spanKinds = ["stream", "parallel stream", "part of a parallel stream", "pulled stream", "stream of another library", "task", "thread"];

	/* Spans in which a row's objects were touched: [name, samples]. */
	function spansOf(row) {
		const s = data.span_samples, out = new Map();
		if (!s)
			return [];
		const mine = new Map(placesOf(row).map(([at, part]) => [lens().places[at].bucket + "," + lens().places[at].site, part]));
		s.samples.forEach((n, i) => {
			const part = s.engine[i] === lens().engine ? mine.get(s.bucket[i] + "," + s.site[i]) : undefined;
			if (part === undefined)
				return;
			const at = s.span_site[i] ? strings[data.sites.class[s.span_site[i]]] + " created at " + shared.leafShort(data.sites.path[s.span_site[i]]) :
				shared.leafShort(s.span_path[i]);
			const name = (spanKinds[s.kind[i]] || "span") + " " + at;
			out.set(name, (out.get(name) || 0) + part * n);
		});
		return [...out].sort((a, b) => b[1] - a[1]);
	}

	function spans(host, row) {
		const rows = spansOf(row), inside = rows.reduce((sum, [, n]) => sum + n, 0);
		host.append(el("p", { text: rows.length ? percent(row.samples ? inside / row.samples : 0) + " of the samples in these objects were taken in streams and tasks:" :
			"No sample in these objects was taken inside a stream or a task." }));
		if (rows.length)
			host.append(plain(["Stream or task", "Samples", "Of this object's"], rows.slice(0, 100).map(([name, n]) =>
				[name, number(Math.round(n)), percent(row.samples ? n / row.samples : 0)])));
	}

	/* ---- the faces of a row ---- */

	const numaRow = (row) => (shared.numaOn ? shared.numaRows.find((n) => n.group.id && row.sites.concat(row.parts.filter((_, i) => i % 3 === 1))
		.some((s) => data.sites.id[s] === n.group.id)) : null);

	/* `whole`: for the whole recording, whatever thread and time are chosen. */
	const faces = [
		{ name: "touched", title: "Touched by", when: () => true, fill: touchedBy },
		{ name: "allocated", title: "Allocated by", when: (row) => row.sites.length > 0, fill: allocatedBy },
		{ name: "layout", title: "Layout", when: (row) => fieldsOf(row).length > 0, fill: layout },
		{ name: "reached", title: "Reached through", whole: true, when: (row) => reachesOf(row).length > 0, fill: reachedThrough },
		{ name: "source", title: "Source", when: (row) => row.samples > 0, fill: source },
		{ name: "life", title: "Life", whole: true, when: (row) => row.sites.length > 0, fill: life },
		{ name: "numa", title: "NUMA", whole: true, when: (row) => !!numaRow(row), fill: (host, row) => shared.showNuma(host, numaRow(row)) },
		{ name: "spans", title: "Spans", whole: true, when: () => !!data.span_samples, fill: spans },
	];

	Object.assign(shared, { faces, section, plain });
});
