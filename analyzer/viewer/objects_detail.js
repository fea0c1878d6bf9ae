"use strict";
/*
 * What is known of objects beyond their samples: parts of a site's page, and the pages on false
 * sharing and on small objects. `ui` is what objects.js lends.
 */
const objectDetail = (ui) => {
	const { el, number, data } = common;
	const { percent, bytes, strings, framesOf, frameLine, frameShort, frameOf } = ui;
	const ALL = -1; /* in place of a path: all of them */
	const PATHS = 10, FIELDS = 12;
	const touches = ["", "load", "store", "load and store"];
	const part = (n, of) => (of ? ((100 * n) / of).toFixed(1) : "0.0") + "%";

	/* A field's name, or its elements. */
	function partName(name, first, last) {
		if (strings[name])
			return strings[name];
		return "[" + first + (last > first ? ".." + last : "") + "]";
	}

	/* ---- fields: rows of [path, name, first, last, samples, loads, stores], most samples first ---- */

	const fieldWord = (f) => touches[(f[5] ? 1 : 0) | (f[6] ? 2 : 0)];
	const fieldsOf = (site, path) => site.fields.filter((f) => f[0] === path);

	function fieldText(fields, whole) {
		return fields.slice(0, FIELDS).map((f) =>
			partName(f[1], f[2], f[3]) + " " + part(f[4], whole) + " " + fieldWord(f)).join(", ") +
			(fields.length > FIELDS ? ", ..." : "");
	}

	function fieldsSection(site) {
		const all = fieldsOf(site, ALL);
		if (!all.length)
			return [];
		const list = el("ul", { class: "tree" }, ...all.slice(0, 4 * FIELDS).map((f) =>
			el("li", { class: "leaf", title: number(f[4]) + " samples" },
				el("span", { class: "share", text: percent(f[4]) }), partName(f[1], f[2], f[3]),
				el("span", { class: "where", text: "  " + part(f[4], site.samples) +
					" of this object's samples, " + (fieldWord(f) || "access") }))));
		if (all.length > 4 * FIELDS)
			list.append(el("li", { class: "leaf", text: "... " + number(all.length - 4 * FIELDS) + " more" }));
		if (site.accesses.length > 2)
			for (let i = 0; i < Math.min(site.accesses.length, 2 * PATHS); i += 2) {
				const path = site.accesses[i], fields = fieldsOf(site, path);
				if (fields.length)
					list.append(el("li", { class: "leaf" },
						el("span", { class: "where", text: path ? frameShort(frameOf(path)) : "(path unknown)" }),
						": " + fieldText(fields, site.accesses[i + 1])));
			}
		const title = strings[all[0][1]] ? "Fields" : "Elements";
		return [el("section", { class: "access" }, el("h3", { text: title }), list)];
	}

	/* ---- measurements of a hardware engine ---- */

	function metricText(m) {
		const out = [];
		if (m.latency_samples)
			out.push("latency mean " + m.latency_mean.toFixed(0) + ", max " + number(m.latency_max) + " cycles");
		for (const [source, n] of Object.entries(m.sources))
			out.push("data from " + source + " " + part(n, m.samples));
		for (const [name, label] of [["hitm", "HITM"], ["tlb_miss", "TLB miss"], ["locked", "locked"],
			["stores", "stores"]])
			out.push(label + " " + part(m[name], m.samples));
		return out.join(", ");
	}

	function metricsSection(site) {
		if (!site.metrics.length)
			return [];
		return [el("section", { class: "access" }, el("h3", { text: "Measured" }),
			el("ul", { class: "tree" }, ...site.metrics.slice(0, site.accesses.length > 2 ? PATHS + 1 : 1).map(([path, m]) =>
				el("li", { class: "leaf" }, el("span", { class: "where", text: path === ALL ? "all" :
					path ? frameShort(frameOf(path)) : "(path unknown)" }), ": " + metricText(m)))))];
	}

	/* ---- where objects of a class were allocated, as an estimate ---- */

	function pathList(path, title, kind) {
		const frames = framesOf(path);
		return el("section", { class: kind }, el("h3", { text: title }),
			el("ul", { class: kind === "alloc" ? "path" : "tree" }, ...(frames.length ?
				frames.map((f) => el("li", { class: kind === "alloc" ? null : "leaf" }, ...frameLine(f))) :
				[el("li", { class: "leaf", text: "(path unknown)" })])));
	}

	function splitSection(site) {
		if (!site.split)
			return [];
		const [assumption, parts] = site.split;
		const hundred = (share) => (100 * share).toFixed(1);
		return [el("section", { class: "alloc" },
			el("h3", { text: "Allocated at (estimate, " + assumption + ")" }),
			el("ul", { class: "path" }, ...parts.map(([path, share, low, high]) =>
				el("li", null, "~" + hundred(share) + "% ",
					el("span", { class: "where", text: "(95%: " + hundred(low) + " to " + hundred(high) + ") " }),
					path ? frameShort(frameOf(path)) : "(path unknown)"))))];
	}

	/* ---- false sharing ---- */

	/* [thread, tid, threads, class, allocation path, name, element, byte, touch, samples, path, paths] */
	function sideSection(s) {
		const more = s[2] > 1 ? " and " + (s[2] - 1) + " more threads" : "";
		const paths = s[11] > 1 ? " (and " + (s[11] - 1) + " more access paths)" : "";
		return pathList(s[10], strings[s[0]] + " (tid " + s[1] + ")" + more + ": " + strings[s[3]] +
			(strings[s[5]] ? "." : "") + partName(s[5], s[6], s[6]) + ", byte " + s[7] + " of the line, " +
			(touches[s[8]] || "access") + ", " + number(s[9]) + " samples" + paths, "access");
	}

	const sharing = data.false_sharing.map(([certain, samples, lines, hitm, same, advice, sides], index) => ({
		index, certain, samples, lines, hitm, same, advice, sides,
		name: [...new Set(sides.map((s) => strings[s[3]] || "(class unknown)"))].join(" and "),
		at: sides.map((s) => partName(s[5], s[6], s[6])).join(" and "),
	}));

	function showSharing(host, row) {
		const allocations = row.same ? [row.sides[0]] : row.sides;
		host.replaceChildren(el("h2", { text: row.name }),
			el("div", { class: "numbers" },
				el("b", { text: row.certain ? "finding" : "suspicion" }),
				el("span", { text: percent(row.samples) + " of all samples" }),
				el("span", { text: number(row.samples) + " samples" }),
				el("span", { text: number(row.lines) + (row.lines > 1 ? " cache lines" : " cache line") }),
				...(row.hitm ? [el("span", { text: number(row.hitm) + " found it modified by another core" })] : [])),
			...(row.certain ? [] : [el("p", { text: "Threads use different bytes of a line; no sample shows " +
				"that it went from core to core." })]),
			...row.sides.map(sideSection),
			...allocations.map((s) => pathList(s[4], "Allocated at: " + strings[s[3]], "alloc")),
			el("section", null, el("h3", { text: "What to do" }), el("p", { text: row.advice })));
		host.scrollTop = 0;
	}

	/* ---- small objects ---- */

	const estimates = data.estimates.map((e, index) => ({
		index, className: strings[e[1]], path: e[2], sampled: e[3], objects: e[4], objectsRange: [e[5], e[6]],
		bytes: e[7], bytesRange: [e[8], e[9]], live: e[10],
		at: e[2] ? frameShort(frameOf(e[2])) : "(path unknown)",
	}));

	function showEstimate(host, e) {
		const whole = (n) => number(Math.round(n));
		host.replaceChildren(el("h2", { text: e.className || "(class unknown)" }),
			el("div", { class: "numbers" },
				el("span", { text: "estimate from " + number(e.sampled) + " sampled allocations" }),
				el("span", { text: "~" + whole(e.objects) + " objects (95%: " + e.objectsRange.map(whole).join(" to ") + ")" }),
				el("span", { text: "~" + bytes(Math.round(e.bytes)) + " (95%: " +
					e.bytesRange.map((n) => bytes(Math.round(n))).join(" to ") + ")" })),
			el("section", null, el("h3", { text: "Outlived collections" }),
				el("ul", null, ...e.live.map((n, i) =>
					el("li", { text: (1 << i) + ": " + part(n, e.objects) + ", ~" + whole(n) + " objects" })))),
			pathList(e.path, "Allocated at", "alloc"));
		host.scrollTop = 0;
	}

	return { fieldsSection, metricsSection, splitSection, metricText, sharing, showSharing, estimates,
		showEstimate };
};
