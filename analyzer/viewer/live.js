"use strict";
/* The view of what is live after collections, by class and allocating line, over the whole recording. */
page.add((shared) => {
	const { el, svg, id, fact, number, bytes, percent, duration, data, pathSection } = shared;
	const W = 640, H = 150, NS = 1e9, MINUTE = 60, SAMPLED_MIN = 5;
	const live = data.live;

	/* An estimate of fewer sampled objects says little. */
	const rows = live ? data.lenses[0].groups["class+line"].rows
		.filter((row) => row.held && row.held.bytes >= 1 && (row.held.counted || row.held.sampled >= SAMPLED_MIN))
		.map((row) => Object.assign({ row }, row.held)).sort((a, b) => b.bytes - a.bytes) : [];
	const share = (r) => (live.heap_bytes && !r.off_heap ? r.bytes / live.heap_bytes : 0);
	const about = (r) => (r.sampled ? "~" : "");
	const name = (r) => shared.label(r.row, false);
	const frame = (r) => shared.frameOf(r.row.path);
	const unknown = (r) => "(" + (r.row.no_line || "path unknown") + ")";
	const at = (r) => (r.row.path ? shared.frameText(frame(r)) : unknown(r));
	const atShort = (r) => (r.row.path ? shared.codeShort(shared.methodOf(frame(r)), shared.lineOf(frame(r))) : unknown(r));
	const change = (n) => (n <= -1 ? "-" : "") + bytes(Math.abs(n));
	const minute = (r, i) => change(MINUTE * r.growth[i]);
	const interval = (r) => "95%: " + minute(r, 1) + " to " + minute(r, 2);
	const slope = (r) => (r.growth ? r.growth[0] : -Infinity);
	const seconds = (s) => (s ? duration(NS * s) : "0 s");
	const seen = (r) => (r.first === undefined ? "" : seconds(r.first) + " to " + seconds(r.last));

	const liveTable = (choose) => new shared.ListTable(id("view-live").querySelector(".list"), "Live objects",
		[{ title: "Live", number: true, width: "90px", help: "bytes after the last collection", value: (r) => r.bytes,
			draw: (td, r) => { td.textContent = about(r) + bytes(r.bytes); } },
			{ title: "Class, allocated at", value: name, draw: (td, r) => {
				td.title = name(r) + "\n" + at(r);
				td.append(el("span", { class: "name", text: shared.label(r.row, true) }), el("span", { class: "at", text: shared.fit(atShort(r), 46) }));
			} },
			{ title: "Heap", number: true, extra: true, width: "70px", help: "part of the heap in use", value: share,
				draw: (td, r) => { td.textContent = r.off_heap || !live.heap_bytes ? "" : percent(share(r)); } },
			{ title: "A minute", number: true, width: "96px", help: "growth a minute", value: slope, draw: (td, r) => {
				td.textContent = r.growth ? minute(r, 0) : "";
				td.title = r.growth ? interval(r) : "too few collections of old objects";
			} },
			{ title: "Seen", number: true, extra: true, width: "152px", help: "first and last time that the line held something", value: (r) => r.first,
				draw: (td, r) => { td.textContent = seen(r); } }],
		rows, { sort: 0, choose });

	/* Bytes over time: a point for each part of the recording. */
	function curve(r) {
		const points = [];
		for (let i = 0; r.points && i < r.points.length; i += 2)
			points.push([r.points[i], r.points[i + 1]]);
		if (points.length < 2)
			return el("p", { class: "where", text: "Too few collections of old objects for a curve." });
		const most = Math.max(...points.map((p) => p[1]), 1), length = Math.max(live.seconds, 1e-9);
		const x = (s) => W * s / length, y = (n) => H - (H - 6) * n / most;
		return el("figure", { class: "curve" },
			svg("svg", { viewBox: "0 0 " + W + " " + H, preserveAspectRatio: "none", role: "img", "aria-label":
				"Live bytes over " + seconds(live.seconds) + ": from " + bytes(points[0][1]) + " to " + bytes(points[points.length - 1][1]) },
			svg("line", { class: "axis", x1: 0, x2: W, y1: H, y2: H }),
			svg("polyline", { class: "rate", points: points.map((p) => x(p[0]).toFixed(1) + "," + y(p[1]).toFixed(1)).join(" ") }),
			...points.map((p) => svg("rect", { class: "spot", x: x(p[0]) - 4, y: 0, width: 8, height: H },
				svg("title", { text: bytes(p[1]) + " at " + seconds(p[0]) })))),
			el("figcaption", null, el("span", { text: seconds(0) }), el("span", { text: "at most " + bytes(most) + "; the least in each part of the time" }),
				el("span", { text: seconds(live.seconds) })));
	}

	/* A bar for each fifth of the collections that the objects have survived. */
	function ages(r) {
		if (!r.ages)
			return [];
		const all = r.ages.reduce((sum, n) => sum + n, 0), most = Math.max(...r.ages), wide = W / r.ages.length;
		const upTo = (i) => (live.ages ? "up to " + number(live.ages[2 * i]) + " collections (" + seconds(live.ages[2 * i + 1]) + ")"
			: "fifth " + (i + 1) + " of the collections");
		const text = r.ages.map((n, i) => upTo(i) + ": " + percent(n / all));
		return [el("h3", { text: "Age" }), el("figure", { class: "curve ages" },
			svg("svg", { viewBox: "0 0 " + W + " 60", preserveAspectRatio: "none", role: "img", "aria-label": "Ages of the objects: " + text.join(", ") },
				svg("line", { class: "axis", x1: 0, x2: W, y1: 60, y2: 60 }),
				...r.ages.map((n, i) => svg("rect", { x: wide * i + 4, y: 58 - 56 * n / most, width: wide - 8, height: 2 + 56 * n / most },
					svg("title", { text: text[i] })))),
			el("figcaption", null, ...r.ages.map((n, i) => el("span", { title: text[i], text: percent(n / all) }))),
			el("figcaption", null, el("span", { text: "youngest: survived " + (live.ages ? upTo(0) : "the fewest collections") }),
				el("span", { text: "oldest" + (live.ages ? ": " + upTo(r.ages.length - 1) : "") })))];
	}

	/* Chains of references from a root, and how many of the objects that were looked at each holds. */
	function holders(r) {
		if (!r.holders)
			return [];
		const chains = [];
		for (let i = 0; i < r.holders.length; i += 2)
			chains.push(el("li", { text: r.holders[i + 1] + " (" + number(r.holders[i]) + ")" }));
		return [el("h3", { text: "Held by" }), el("p", { class: "where", text: "Chains of references to " + number(r.looked) + " of the objects." }),
			el("ul", { class: "chains" }, ...chains)];
	}

	function held(r) {
		const noun = r.off_heap ? "block" : "object";
		const parts = [fact("live in " + about(r) + number(r.objects) + " " + noun + (r.objects === 1 ? "" : "s"), about(r) + bytes(r.bytes))];
		if (r.sampled)
			parts.push(fact("the estimate, 95%", bytes(r.bytes_95[0]) + " to " + bytes(r.bytes_95[1])));
		if (share(r))
			parts.push(fact("of the heap in use", percent(share(r))));
		if (r.growth)
			parts.push(fact("a minute (" + interval(r) + ")" + (r.grows ? ", to the end" : ""), minute(r, 0)));
		if (r.first !== undefined)
			parts.push(fact("seen", seen(r)));
		if (r.young >= 1)
			parts.push(fact("younger", bytes(r.young)));
		return parts;
	}

	function whole() {
		return [number(live.collections) + " collections, " + number(live.old_collections) + " of old objects, too",
			live.heap_bytes ? "; heap in use after the last one: " + bytes(live.heap_bytes) : "",
			live.heap_max_bytes ? " of at most " + bytes(live.heap_max_bytes) : "",
			live.incomplete ? "; at " + number(live.incomplete) + " Locus lost objects: counts may be too small" : "",
			live.one_process ? "" : "; growth is told of a profile of one process only"].join("") + ".";
	}

	function showLive(host, r, openRow) {
		host.replaceChildren(el("h2", { text: name(r) }), el("div", { class: "numbers" }, ...held(r)),
			...(live.one_process ? [curve(r)] : []), ...ages(r), ...holders(r), el("p", { class: "where", text: whole() }),
			el("p", null, el("button", { type: "button", class: "link", text: r.off_heap ? "where its bytes are accessed" : "where its objects are accessed",
				onclick: () => openRow(r.row) })),
			...(r.row.path ? [pathSection(r.row.path, "Allocated at", "alloc")] : []));
		host.scrollTop = 0;
	}

	Object.assign(shared, { liveRows: rows, liveTable, showLive, liveText: (r) => (name(r) + "\n" + at(r)).toLowerCase() });
});
