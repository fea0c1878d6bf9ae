"use strict";
/*
 * What is known of objects beyond their samples: parts of what is shown of a site, and the pages on
 * false sharing and on small objects.
 */
const objectDetail = (() => {
	const { el, number, percent, bytes, data } = common;
	const { strings, leafShort, pathSection } = profilePaths;
	const ALL = -1; /* in place of a path: all of them */
	const PATHS = 10, FIELDS = 12;
	const touchText = (loads, stores) =>
		(loads ? (stores ? "load and store" : "load") : stores ? "store" : "");
	const part = (n, of) => percent(of ? n / of : 0);
	const share = (samples) => (data.samples.total ? samples / data.samples.total : 0);

	/* A field's name, or its elements. */
	function partName(name, first, last) {
		if (strings[name])
			return strings[name];
		return "[" + first + (last > first ? ".." + last : "") + "]";
	}

	/* ---- fields, most samples first ---- */

	const fieldTouch = (f) => touchText(f.loads, f.stores);
	const fieldsOf = (site, path) => site.fields.filter((f) => f.path === path);

	function fieldText(fields, whole) {
		return fields.slice(0, FIELDS).map((f) =>
			partName(f.name, f.first, f.last) + " " + part(f.samples, whole) + " " + fieldTouch(f)).join(", ") +
			(fields.length > FIELDS ? ", ..." : "");
	}

	function fieldsSection(site) {
		const all = fieldsOf(site, ALL);
		if (!all.length)
			return [];
		const list = el("ul", { class: "tree" }, ...all.slice(0, 4 * FIELDS).map((f) =>
			el("li", { class: "leaf", title: number(f.samples) + " samples" },
				el("span", { class: "share", text: percent(share(f.samples)) }), partName(f.name, f.first, f.last),
				el("span", { class: "where", text: "  " + part(f.samples, site.samples) +
					" of this object's samples, " + (fieldTouch(f) || "access") }))));
		if (all.length > 4 * FIELDS)
			list.append(el("li", { class: "leaf", text: "... " + number(all.length - 4 * FIELDS) + " more" }));
		const { path: paths, samples } = site.accesses;
		for (let i = 0; i < Math.min(paths.length, PATHS) && paths.length > 1; i++) {
			const fields = fieldsOf(site, paths[i]);
			if (fields.length)
				list.append(el("li", { class: "leaf" }, el("span", { class: "where", text: leafShort(paths[i]) }),
					": " + fieldText(fields, samples[i])));
		}
		const title = strings[all[0].name] ? "Fields" : "Elements";
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
			el("ul", { class: "tree" }, ...site.metrics.slice(0, site.accesses.path.length > 1 ? PATHS + 1 : 1).map((m) =>
				el("li", { class: "leaf" }, el("span", { class: "where",
					text: m.path === ALL ? "all" : leafShort(m.path) }), ": " + metricText(m)))))];
	}

	/* ---- where objects of a class were allocated, as an estimate ---- */

	function splitSection(site) {
		if (!site.split)
			return [];
		const { assumption, parts } = site.split;
		const tenths = (p) => (100 * p).toFixed(1);
		return [el("section", { class: "alloc" },
			el("h3", { text: "Allocated at (estimate, " + assumption + ")" }),
			el("ul", { class: "path" }, ...parts.map((p) =>
				el("li", null, "~" + tenths(p.share) + "% ",
					...(p.low === undefined ? [] :
						[el("span", { class: "where", text: "(95%: " + tenths(p.low) + " to " + tenths(p.high) + ") " })]),
					leafShort(p.path)))))];
	}

	/* ---- false sharing ---- */

	const sidePart = (s) => partName(s.name, s.element, s.element);

	function sideSection(s) {
		const more = s.threads > 1 ? " and " + (s.threads - 1) + " more threads" : "";
		const paths = s.paths > 1 ? " (and " + (s.paths - 1) + " more access paths)" : "";
		return pathSection(s.path, strings[s.thread] + " (tid " + s.tid + ")" + more + ": " + strings[s.class] +
			(strings[s.name] ? "." : "") + sidePart(s) + ", byte " + s.offset + " of the line, " +
			(touchText(s.loads, s.stores) || "access") + ", " + number(s.samples) + " samples" + paths, "access");
	}

	const sharing = data.false_sharing.map((f) => ({
		...f,
		name: [...new Set(f.sides.map((s) => strings[s.class] || "(class unknown)"))].join(" and "),
		at: f.sides.map(sidePart).join(" and "),
	}));

	function showSharing(host, row) {
		const allocations = row.one_site ? [row.sides[0]] : row.sides;
		host.replaceChildren(el("h2", { text: row.name }),
			el("div", { class: "numbers" },
				el("b", { text: row.certain ? "finding" : "suspicion" }),
				el("span", { text: percent(share(row.samples)) + " of all samples" }),
				el("span", { text: number(row.samples) + " samples" }),
				el("span", { text: number(row.lines) + (row.lines > 1 ? " cache lines" : " cache line") }),
				...(row.hitm ? [el("span", { text: number(row.hitm) + " found it modified by another core" })] : [])),
			...(row.certain ? [] : [el("p", { text: "Threads use different bytes of a line; no sample shows " +
				"that it went from core to core." })]),
			...row.sides.map(sideSection),
			...allocations.map((s) => pathSection(s.allocation_path, "Allocated at: " + strings[s.class], "alloc")),
			el("section", null, el("h3", { text: "What to do" }), el("p", { text: row.advice })));
		host.scrollTop = 0;
	}

	/* ---- small objects ---- */

	const estimates = data.estimates.map((e) => ({ ...e, className: strings[e.class], at: leafShort(e.path) }));

	function showEstimate(host, e) {
		const whole = (n) => number(Math.round(n));
		host.replaceChildren(el("h2", { text: e.className || "(class unknown)" }),
			el("div", { class: "numbers" },
				el("span", { text: "estimate from " + number(e.sampled) + " sampled allocations" }),
				el("span", { text: "~" + whole(e.objects) + " objects (95%: " + [e.objects_low, e.objects_high].map(whole).join(" to ") + ")" }),
				el("span", { text: "~" + bytes(Math.round(e.bytes)) + " (95%: " +
					[e.bytes_low, e.bytes_high].map((n) => bytes(Math.round(n))).join(" to ") + ")" })),
			el("section", null, el("h3", { text: "Outlived collections" }),
				el("ul", null, ...e.outlived.map((n, i) =>
					el("li", { text: (1 << i) + ": " + part(n, e.objects) + ", ~" + whole(n) + " objects" })))),
			pathSection(e.path, "Allocated at", "alloc"));
		host.scrollTop = 0;
	}

	return { share, fieldsSection, metricsSection, splitSection, metricText, sharing, showSharing, estimates,
		showEstimate };
})();
