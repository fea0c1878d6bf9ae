"use strict";
/* Changes since another profile, on a page of `locus diff`. */
page.add((shared) => {
	const { el, id, percent, data, visible, chosen, methodOf, methodName, lens } = shared;
	const d = data.difference || null;
	const POINTS = 0.05; /* a change of this part of all samples has the full colour */

	const key = (row) => [row.class, row.path, row.field === undefined ? -1 : row.field].join();
	const rows = new Map(d ? d.rows.map((r) => [key(r), r]) : []);
	const before = new Map();
	for (const [name, method, share] of d ? d.methods : []) {
		const text = visible(name) + "." + visible(method);
		before.set(text, (before.get(text) || 0) + share);
	}

	/* The change of a row of the ranking; null without a comparison. */
	const differenceOf = (row) => (d && chosen.group === d.group && chosen.metric === "samples" && shared.everything() ?
		rows.get(key(row)) || null : null);

	/* A method's share of all samples, with its callees: before and after. */
	function sharesOf(frame) {
		const method = methodOf(frame), l = lens();
		if (!l.totals)
			l.totals = new Map(l.code.method.map((m, i) => [m, l.total ? l.code.total[i] / l.total : 0]));
		return [before.get(methodName(method)) || 0, l.totals.get(method) || 0];
	}

	/*
	 * The colour of a frame in a flame graph: red if its share has grown, blue if it has
	 * shrunk.
	 */
	const ofFrame = d ? (node) => {
		const [was, is] = sharesOf(node.frame);
		return Math.max(-1, Math.min(1, (is - was) / POINTS));
	} : null;

	const wordsOf = d ? (node) => {
		const [was, is] = sharesOf(node.frame);
		return "; the method and what it calls: " + percent(was) + " before, " + percent(is) + " now";
	} : null;

	function show() {
		if (!d)
			return;
		id("difference").hidden = false;
		id("difference").replaceChildren(el("b", { text: "Since before: " }), visible(d.headline),
			...(d.gone.length ? [el("details", null, el("summary", { text: "gone: " + d.gone.length + " rows" }),
				el("ul", { class: "words" }, ...d.gone.map((g) => el("li", { text: visible(g.name) + (g.origin ? " of " + visible(g.origin) : "") +
					": " + percent(g.before) + " before, " + g.verdict }))))] : []),
			el("span", { class: "where", text: " Frames are red where the method takes more of the samples than before, blue where less." }));
	}

	Object.assign(shared, { differenceOf, frameDifference: ofFrame, differenceWords: wordsOf, showDifference: show });
});
