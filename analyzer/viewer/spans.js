"use strict";
/*
 * The view of spans, a page of its own or a part of the objects' page. Each part is a function
 * here; the pictures are SVG.
 */
page.add((shared) => {
	const { el, svg, number, visible, percent, duration, ShortTable } = shared;
	const ROWS = 50; /* rows of a table at first */
	const WIDTH = 900; /* width of a picture */
	const HEAT_COLUMN = 42; /* "999 M" and a space */

	function short(n) {
		if (n === null)
			return "";
		const units = ["", "k", "M", "G", "T", "P", "E"];
		let unit = 0;
		for (; Math.abs(n) >= 999.5 && unit < 6; unit++)
			n /= 1000;
		return unit ? +n.toPrecision(3) + " " + units[unit] : String(Math.round(n));
	}

	/* Append the parts to `host`, and links to them to `nav`, where there is one. */
	function showSpans(data, host, nav) {
		/* Without a method: places that were not kept apart. */
		const place = (p) => (!p || !p.class ? "(unknown)" : !p.method ? visible(p.class) :
			visible(p.class + "." + p.method) + " (" + visible(p.file || "Unknown Source") +
			(p.line >= 0 ? ":" + p.line : "") + ")");
		/* ---- parts of the page ---- */

		function section(name, title, help) {
			const s = el("section", { id: name, "aria-labelledby": name + "-title" },
				el("h2", { id: name + "-title", text: title }));
			if (help)
				s.append(el("p", { text: help }));
			host.append(s);
			if (nav)
				nav.append(el("a", { href: "#" + name, text: title }));
			return s;
		}

		/* Styles of a table's columns: a figure; text such as code. */
		const figure = (title, value, text) => ({ title, value, text, number: true });
		const prose = (title, value, text) => ({ title, value, text, where: true });

		const table = (host, label, columns, rows) => new ShortTable(host, label, columns, rows, ROWS);

		function picture(label, height, width, ...children) {
			return svg("svg", { viewBox: "0 0 " + width + " " + height, width, height, role: "img",
				"aria-label": label }, svg("title", { text: label }), ...children);
		}

		const text = (x, y, string, attributes) => svg("text", { x, y, text: string, ...attributes });

		function diagnoses() {
			const host = section("diagnoses", "Diagnoses", data.diagnoses.length ? "" :
				"None: nothing looks too small, too large or uneven.");
			for (const d of data.diagnoses) {
				const facts = [["created at", d.creation], ["submitted at", d.submission]]
					.filter(([, p]) => d.type !== null || p).map(([name, p]) => [name, place(p)]);
				if (d.execution.threads)
					facts.push(["executed by", number(d.execution.threads) + (d.execution.threads === 1 ? " thread, " :
						" threads, most by ") + visible(d.execution.busiest)]);
				host.append(el("div", { class: "diagnosis" },
					el("h3", null, d.pattern + " ", el("span", { class: "verdict " + d.verdict, text: d.verdict })),
					el("span", { class: "where", text: d.type !== null ? visible(d.label) : place(d.location) }),
					el("p", { text: d.why_no_verdict ? "No verdict: " + d.why_no_verdict : d.summary }),
					el("ul", null, ...d.evidence.map((e) => el("li", { text: e }))),
					el("dl", null, ...facts.flatMap(([name, v]) => [el("dt", { text: name }), el("dd", { class: "where", text: v })]),
						...(d.why_no_verdict ? [] : [el("dt", { text: "change" }), el("dd", { text: d.change })]))));
			}
		}

		function locations() {
			if (!data.locations.length)
				return;
			const host = section("locations", "Places of streams",
				"Shares are parts of all streams, and of all compensated cycles of streams. Total: cycles with spans inside on the same thread.");
			table(host, "Locations of streams", [
				figure("Cycles", (l) => l.compensated_cycles, (l) => percent(l.share_of_cycles) + " \u00b7 " + short(l.compensated_cycles)),
				figure("Total", (l) => l.total_cycles ?? -1, (l) => short(l.total_cycles)),
				figure("Streams", (l) => l.streams, (l) => percent(l.share_of_streams) + " \u00b7 " + short(l.streams)),
				figure("Median", (l) => l.p50 ?? -1, (l) => short(l.p50)),
				figure("90%", (l) => l.p90 ?? -1, (l) => short(l.p90)),
				figure("Levels", (l) => l.levels),
				figure("Switches", (l) => l.context_switches, (l) => number(l.context_switches)),
				figure("Variation", (l) => l.variation ?? -1, (l) => (l.variation === null ? "" : l.variation.toFixed(2))),
				prose("At", place, (l) => el("span", null, place(l), el("span", { class: "sub",
					text: [...Object.entries(l.kinds), ["still running", l.running]].filter(([, n]) => n)
						.map(([k, n]) => number(n) + " " + k).join(", ") }),
					...callPaths(l.paths))),
			], data.locations);
		}

		/* The foldable call paths of a row, if whole paths were recorded. */
		function callPaths(paths) {
			if (!paths.length)
				return [];
			const lines = (list) => list.map((f) => el("div", { class: "sub", text: frame(f) }));
			return [el("details", null, el("summary", { text: number(paths.length) +
				(paths.length === 1 ? " call path" : " call paths") }),
				...paths.map((p) => el("details", null,
					el("summary", { text: number(p.executions) + " " + p.kind + ", level " + p.level + ", " +
						short(p.compensated_cycles) + " cycles" +
						(p.total_cycles === null ? "" : ", " + short(p.total_cycles) + " with spans inside") }),
					...lines(p.path || p.creation_path),
					...(p.submission_path && p.submission_path.length ?
						[el("div", { class: "sub", text: "submitted from" }), ...lines(p.submission_path)] : []))))];
		}

		/* Cells of a level and a power of two; colour: cycles. */
		function heatMap(host, label, cells) {
			if (!cells.length)
				return;
			const column = (c) => (c.from_cycles < 1 ? 0 : 1 + Math.round(Math.log2(c.from_cycles)));
			const first = Math.min(...cells.map(column)), last = Math.max(...cells.map(column));
			const levels = 1 + Math.max(...cells.map((c) => c.level));
			const most = Math.max(...cells.map((c) => c.cycles));
			/* No narrower than the widest number: a map of many columns is wider than the page's other pictures. */
			const left = 50, top = 8, h = 26;
			const w = Math.max(HEAT_COLUMN, Math.min(56, (WIDTH - left - 10) / (last - first + 1)));
			const width = Math.max(WIDTH, left + (last - first + 1) * w + 10);
			const parts = [];
			for (const c of cells) {
				const x = left + (column(c) - first) * w, y = top + c.level * h;
				const part = most > 0 ? Math.max(0, c.cycles / most) : 0;
				const said = "level " + c.level + ", from " + number(c.from_cycles) + " cycles: " + number(c.streams) +
					", " + short(c.cycles) + " cycles together";
				parts.push(svg("g", null, svg("title", { text: said }),
					svg("rect", { class: "cell bar", x, y, width: w, height: h, "fill-opacity": (0.08 + 0.6 * Math.sqrt(part)).toFixed(3) }),
					text(x + w / 2, y + 17, short(c.streams), { "text-anchor": "middle" })));
			}
			for (let level = 0; level < levels; level++)
				parts.push(text(left - 8, top + level * h + 17, String(level), { "text-anchor": "end", class: "dim" }));
			for (let c = first; c <= last; c++)
				parts.push(text(left + (c - first) * w, top + levels * h + 14, c ? short(2 ** (c - 1)) : "\u2264 0", { class: "dim" }));
			parts.push(text(left, top + levels * h + 30, label + ": level of nesting (rows) by compensated cycles (columns, from); " +
				"number in the cell; colour: all cycles of the cell", { class: "dim" }));
			host.append(el("div", { class: "wide" }, picture(label, top + levels * h + 38, width, ...parts)));
		}

		function heat() {
			if (!data.heat_map.streams.length && !data.heat_map.support.length)
				return;
			const host = section("heat", "Heat map", "");
			heatMap(host, "Streams", data.heat_map.streams);
			heatMap(host, "Tasks of parallel streams", data.heat_map.support);
		}

		/* Cycles of a type's tasks and threads with spans inside; null: unknown. */
		const totalOf = (t) => (t.total_cycles === null || t.thread_total_cycles === null ? null :
			t.total_cycles + t.thread_total_cycles);

		function types() {
			if (!data.types.length)
				return;
			const host = section("types", "Tasks",
				"Cycles of an execution, including the tasks inside that belong to it. Executed: all, including these tasks.");
			table(host, "Types of tasks", [
				figure("Cycles", (t) => t.share_of_cycles, (t) => percent(t.share_of_cycles) + " \u00b7 " + short(t.compensated_cycles + t.thread_cycles)),
				figure("Total", (t) => totalOf(t) ?? -1, (t) => short(totalOf(t))),
				figure("Executed", (t) => t.executed, (t) => number(t.executed)),
				figure("Running", (t) => t.running + t.running_as_threads, (t) => number(t.running + t.running_as_threads)),
				figure("Folded", (t) => t.folded, (t) => number(t.folded)),
				figure("Median", (t) => t.p50 ?? -1, (t) => short(t.p50)),
				figure("90%", (t) => t.p90 ?? -1, (t) => short(t.p90)),
				figure("Created", (t) => t.created, (t) => number(t.created) + (t.created_in_part ? "+" : "")),
				figure("Submitted", (t) => t.submitted, (t) => number(t.submitted)),
				figure("Never executed", (t) => t.dropped, (t) => (t.created_in_part ? "" : number(t.dropped))),
				figure("Variation", (t) => t.variation ?? -1, (t) => (t.variation === null ? "" : t.variation.toFixed(2))),
				prose("Type", (t) => t.type, (t) => el("span", null, visible(t.type) || "(unknown)",
					el("span", { class: "sub", text: "created at " + place(t.creation) }),
					el("span", { class: "sub", text: t.submit_kind === "none" ? "not submitted" :
						"submitted (" + t.submit_kind + ") at " + place(t.submission) }),
					...callPaths(t.paths))),
			], data.types);
			granularity(host);
		}

		/*
		 * Distribution functions: the part of a type's tasks that take at most so many
		 * cycles.
		 */
		function granularity(host) {
			const list = data.types.filter((t) => t.cdf.length);
			if (!list.length)
				return;
			const chosen = el("div");
			const select = el("select", { id: "cdf-type", onchange: draw },
				el("option", { value: "-1", text: "the first 6 types" }),
				...list.map((t, i) => el("option", { value: String(i), text: visible(t.label) })));
			host.append(el("h3", { text: "Granularity" }), el("label", { for: "cdf-type", text: "Types " }), select, chosen);
			function draw() {
				const i = +select.value, types = i < 0 ? list.slice(0, 6) : [list[i]];
				const log = (v) => Math.log10(Math.max(1, v));
				const high = Math.max(1, ...types.map((t) => log(t.cdf[t.cdf.length - 1][0])));
				const left = 44, top = 10, w = WIDTH - left - 20, h = 220, parts = [];
				const x = (v) => left + (log(v) / high) * w, y = (f) => top + (1 - f) * h;
				for (let f = 0; f <= 1; f += 0.25)
					parts.push(svg("line", { class: "axis", x1: left, x2: left + w, y1: y(f), y2: y(f) }),
						text(left - 6, y(f) + 4, 100 * f + "%", { "text-anchor": "end", class: "dim" }));
				for (let e = 0; e <= high; e++)
					parts.push(text(x(10 ** e), top + h + 16, short(10 ** e), { "text-anchor": "middle", class: "dim" }));
				types.forEach((t, k) => {
					let path = "M" + x(1) + " " + y(0), before = 0;
					for (const [cycles, f] of t.cdf) {
						path += "L" + x(cycles).toFixed(1) + " " + y(before).toFixed(1) + "L" + x(cycles).toFixed(1) + " " + y(f).toFixed(1);
						before = f;
					}
					parts.push(svg("path", { class: "line", d: path, stroke: "var(--b" + (k % 7) + ")" }, svg("title", { text: visible(t.label) })),
						svg("rect", { x: left + 4, y: top + h + 28 + 16 * k, width: 10, height: 10, fill: "var(--b" + (k % 7) + ")" }),
						text(left + 20, top + h + 37 + 16 * k, visible(t.label) + ", half at most " + short(t.p50)));
				});
				chosen.replaceChildren(picture("Part of the tasks (up) that take at most so many cycles (right)",
					top + h + 36 + 16 * types.length, WIDTH, ...parts));
			}
			draw();
		}

		function workers() {
			const list = data.workers.filter((w) => [w.streams, w.tasks, w.thread_spans].some((s) => s.executions + s.running));
			if (!list.length)
				return;
			const host = section("workers", "Workers", "Compensated cycles of each thread" +
				(data.workers_variation === null ? "." : "; coefficient of variation " + data.workers_variation.toFixed(2) +
					". The dashed line is the mean."));
			const shown = list.slice(0, ROWS), left = 230, h = 18, w = WIDTH - left - 90;
			const most = Math.max(1, ...shown.map((t) => t.compensated_cycles));
			const mean = list.reduce((a, t) => a + t.compensated_cycles, 0) / list.length;
			const parts = shown.flatMap((t, i) => {
				let x = left;
				const bars = [["bar", t.streams], ["bar2", t.tasks], ["bar3", t.thread_spans]].map(([name, p]) => {
					const width = Math.max(0, p.compensated_cycles / most * w), at = x;
					x += width;
					return svg("rect", { class: name, x: at, y: i * h + 3, width, height: h - 6 });
				});
				const name = visible(t.thread);
				return [text(left - 8, i * h + 13, name.length > 34 ? name.slice(0, 33) + "\u2026" : name, { "text-anchor": "end" }),
					...bars, text(x + 6, i * h + 13, short(t.compensated_cycles), { class: "dim" })];
			});
			const bottom = shown.length * h;
			parts.push(svg("line", { class: "mean", x1: left + mean / most * w, x2: left + mean / most * w, y1: 0, y2: bottom }));
			[["bar", "streams"], ["bar2", "tasks"], ["bar3", "threads' own"]].forEach(([name, label], i) =>
				parts.push(svg("rect", { class: name, x: left + 120 * i, y: bottom + 8, width: 10, height: 10 }),
					text(left + 120 * i + 15, bottom + 17, label, { class: "dim" })));
			host.append(picture("Cycles of each worker", bottom + 26, WIDTH, ...parts));
			if (list.length > shown.length)
				host.append(el("p", { text: "The first " + shown.length + " of " + number(list.length) + "." }));
		}

		/*
		 * CPU use, switches, collections and activity, below each other on one time axis.
		 */
		function timeline(process) {
			const points = process.points, step = data.timeline.interval_ns;
			const end = Math.max((data.processes[process.process] || {}).duration_ns || 0,
				...points.map((p) => p[0] + step), step);
			const left = 230, w = WIDTH - left - 12, h = 70, parts = [];
			const x = (ns) => left + Math.max(0, Math.min(1, ns / end)) * w;
			let top = 6;
			function area(label, values, name, unit) {
				const most = Math.max(...values, 1e-9);
				const path = points.map((p, i) => "M" + x(p[0]).toFixed(2) + " " + (top + h) + "V" +
					(top + h - values[i] / most * h).toFixed(1) + "H" + x(p[0] + step).toFixed(2) + "V" + (top + h) + "Z").join("");
				parts.push(svg("path", { class: name, d: path }, svg("title", { text: label + ", at most " + unit(most) })),
					text(left - 8, top + 12, label, { "text-anchor": "end" }),
					text(left - 8, top + 28, "at most " + unit(most), { "text-anchor": "end", class: "dim" }),
					svg("line", { class: "axis", x1: left, x2: left + w, y1: top + h, y2: top + h }));
				top += h + 10;
			}
			const from = top;
			area("CPUs in use", points.map((p) => p[1] / step), "bar", (v) => v.toFixed(2));
			area("switches in 100 ms", points.map((p) => p[2] + p[3]), "bar2", (v) => number(Math.round(v)));
			for (const p of data.gc_pauses.filter((g) => g.process === process.process))
				parts.push(svg("rect", { class: "gc", x: x(p.start_ns), y: from,
					width: Math.max(1, x(p.start_ns + p.duration_ns) - x(p.start_ns)), height: top - from - 10 },
					svg("title", { text: "GC pause at " + duration(Math.max(0, p.start_ns)) + ": " + duration(p.duration_ns) })));
			const things = [...data.types.map((t) => [visible(t.type).replace(/^.*\./, "") + (t.label !== t.type ? ":" + t.creation.line : ""), t, "bar2"]),
				...data.locations.map((l) => [visible((l.class || "").replace(/^.*\./, "") + ":" + l.line), l, "bar"])]
				.filter(([, t]) => t.active.length)
				.sort((a, b) => b[1].compensated_cycles - a[1].compensated_cycles).slice(0, 12);
			for (const [name, t, style] of things) {
				parts.push(text(left - 8, top + 11, name.length > 34 ? name.slice(0, 33) + "\u2026" : name, { "text-anchor": "end" }));
				for (const [a, b] of t.active)
					parts.push(svg("rect", { class: style, x: x(a), y: top + 2, width: Math.max(1.5, x(b) - x(a)), height: 10 },
						svg("title", { text: name + ": " + duration(a) + " to " + duration(b) })));
				top += 16;
			}
			for (let i = 0; i <= 6; i++)
				parts.push(text(left + i / 6 * w, top + 16, duration(end * i / 6), { "text-anchor": i === 6 ? "end" : "middle", class: "dim" }));
			return picture("CPU use, context switches, collections and active time since the program's start", top + 24, WIDTH, ...parts);
		}

		function time() {
			const list = data.timeline.processes.filter((p) => p.points.length);
			if (!list.length)
				return;
			const host = section("time", "Time", "Since the program's start. Red: collections. The bars below are the time in " +
				"which streams (by line) and tasks (by type) were executed, at the resolution of the profile's blocks.");
			for (const p of list) {
				if (list.length > 1)
					host.append(el("h3", { text: "Process " + (data.processes[p.process] || {}).pid }));
				host.append(timeline(p));
			}
		}

		const frame = (f) => visible(f.class + "." + f.method) + " (" + visible(f.file || "Unknown Source") +
			(f.line >= 0 ? ":" + f.line : "") + ")";

		function sites() {
			if (!data.sites.samples)
				return;
			const host = section("sites", "Objects waited for", number(data.sites.samples) + " samples of engine " +
				data.sites.engine + " were taken inside spans. Shares of objects are parts of the samples of their stream or task.");
			/*
			 * Rows of one object site touched at one line are one, whatever the caller.
			 */
			function joined(objects) {
				const rows = new Map();
				for (const o of objects) {
					const key = o.bucket + o.id + (o.access_path.length ? frame(o.access_path[0]) : "");
					const row = rows.get(key);
					if (row) {
						row.samples += o.samples;
						row.share += o.share;
					} else {
						rows.set(key, { ...o });
					}
				}
				return Array.from(rows.values()).sort((a, b) => b.samples - a.samples);
			}
			for (const p of data.sites.places.filter((s) => s.objects.length).slice(0, ROWS)) {
				host.append(el("h3", null, el("span", { class: "where", text: p.location ? place(p.location) : visible(p.label || "(unknown)") }),
					el("span", { class: "sub", text: number(p.samples) + " samples, " + percent(p.share) + " of all inside spans" +
						(p.finished ? "" : "; none of these has ended") })));
				table(host, "Objects", [
					figure("Share", (o) => o.share, (o) => percent(o.share)),
					figure("Samples", (o) => o.samples, (o) => number(o.samples)),
					prose("Object", (o) => o.class, (o) => el("span", null, visible(o.class),
						el("span", { class: "sub", text: o.allocation_path.length ? "allocated at " + frame(o.allocation_path[0]) : "class known, allocation unknown" }),
						el("span", { class: "sub", text: o.access_path.length ? "touched at " + frame(o.access_path[0]) : "access path unknown" }))),
				], joined(p.objects));
			}
		}

		function streams() {
			if (!data.streams.length)
				return;
			const host = section("streams", "Streams by kind and level", "");
			table(host, "Streams", [
				figure("Cycles", (s) => s.compensated_cycles, (s) => percent(s.share_of_cycles) + " \u00b7 " + short(s.compensated_cycles)),
				figure("Total", (s) => s.total_cycles ?? -1, (s) => short(s.total_cycles)),
				figure("Measured", (s) => s.cycles, (s) => short(s.cycles)),
				figure("Executions", (s) => s.executions, (s) => number(s.executions)),
				figure("Running", (s) => s.running, (s) => number(s.running)),
				figure("Negative", (s) => s.negative, (s) => number(s.negative)),
				figure("Kind", (s) => s.kind),
				figure("Level", (s) => s.level),
				figure("Switches", (s) => s.context_switches, (s) => number(s.context_switches)),
				figure("GC", (s) => s.gc_ns, (s) => (s.gc_pauses ? s.gc_pauses + " \u00b7 " + duration(s.gc_ns) : "")),
				prose("At", place, place),
			], data.streams);
		}

		diagnoses();
		locations();
		heat();
		types();
		workers();
		time();
		sites();
		streams();
	}

	Object.assign(shared, { showSpans, shortNumber: short });
});
