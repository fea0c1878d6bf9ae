"use strict";
/* The views of falsely shared cache lines, and of a hardware engine's measurements. */
page.add((shared) => {
	const { el, number, percent, data, strings, pathSection } = shared;
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
				...(row.hitm ? [el("span", { text: number(row.hitm) + " found the line modified by another core" })] : [])),
			...(row.certain ? [] : [el("p", { text: "Threads use different bytes of a line; no sample shows " +
				"that the line moved between cores." })]),
			...row.sides.map(sideSection),
			...allocations.map((s) => pathSection(s.allocation_path, "Allocated at: " + strings[s.class], "alloc")),
			sharedLine(row), el("section", null, el("h3", { text: "Advice" }), el("p", { text: row.advice })));
		host.scrollTop = 0;
	}

	/* A cache line as its 64 bytes: what each of the two threads touches, in its own colour. */
	function sharedLine(finding) {
		const cells = Array.from({ length: 64 }, (_, at) => {
			const by = finding.sides.map((s, i) => (s.offset === at ? i : -1)).filter((i) => i >= 0);
			return el("i", { class: by.length > 1 ? "both" : by.length ? "side" + by[0] : null,
				title: "byte " + at + (by.length ? ": " + by.map((i) => strings[finding.sides[i].thread]).join(" and ") : ""), text: by.length ? String(at) : "" });
		});
		return el("section", null, el("h3", { text: "Falsely shared cache line" + (finding.certain ? "" : " (a suspicion)") }),
			el("div", { class: "bytes", role: "img", "aria-label": "The 64 bytes of the line, by thread" }, ...cells),
			el("ul", { class: "words" }, ...finding.sides.map((s, i) => el("li", null, el("span", { class: "side" + i, text: strings[s.thread] }),
				": " + strings[s.class] + (strings[s.name] ? "." : "") + sidePart(s) + ", byte " + s.offset + ", " +
				(touchText(s.loads, s.stores) || "access") + ", " + number(s.samples) + " samples"))));
	}

	Object.assign(shared, { metricText, partName, sharingRows: sharing, showSharing, sharedLine });
});
