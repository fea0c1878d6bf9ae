"use strict";
/*
 * Object sites, and classes of objects that are not tracked: the rows of their list, and what is shown
 * of the chosen one.
 */
const objectSites = (() => {
	const { el, number, fact, percent, bytes, data } = common;
	const { strings, frameOf, frameText, leafShort, pathsOf, framesOf, recursionOf, sourceOf, frameLine,
		pathLine } = profilePaths;
	const { share } = objectDetail;

	const row = (s, index, isClass) => ({
		index,
		isClass,
		id: (isClass ? "class-" : "") + s.id,
		className: strings[s.class],
		path: s.path,
		allocations: s.allocations,
		bytes: s.bytes,
		estimated: s.estimated || 0,
		samples: s.samples,
		accesses: s.accesses,
		fields: s.fields || [],
		metrics: s.metrics || [],
		split: s.split || null,
		at: isClass && !s.path ? "(allocation not known)" : leafShort(s.path),
		text: null,
	});
	const rows = [...data.sites.map((s, i) => row(s, i, false)),
		...data.classes.map((s, i) => row(s, data.sites.length + i, true))];

	/* What a search looks in; made when a site is first searched. */
	function searched(site) {
		if (site.text === null) {
			const frames = new Set(framesOf(site.path));
			for (const path of site.accesses.path)
				if (path > 0)
					frames.add(frameOf(path));
			site.text = [site.className, site.id, ...Array.from(frames, frameText)]
				.join("\n")
				.toLowerCase();
		}
		return site.text;
	}

	function allocationPath(site) {
		const paths = pathsOf(site.path);
		const list = el("ul", { class: "path" }, ...paths.map((path, i) => {
			const source = sourceOf(frameOf(path));
			if (!source)
				return el("li", null, ...pathLine(path));
			return el("li", null, el("details", { open: i === 0 },
				el("summary", null, ...pathLine(path)), source));
		}));
		if (!paths.length)
			list.append(el("li", { text: "(path unknown)" }));
		return el("section", { class: "alloc" }, el("h3", { text: "Allocated at" }), list);
	}

	/* Paths as a tree of frames: {frame, recursion, samples, ends, children}. */
	function buildTree(accesses, rootFirst) {
		const top = { children: new Map(), samples: 0, ends: 0 };
		accesses.path.forEach((path, i) => {
			const paths = pathsOf(path), samples = accesses.samples[i];
			if (rootFirst)
				paths.reverse();
			let node = top;
			node.samples += samples;
			for (const at of paths) {
				const frame = frameOf(at);
				let child = node.children.get(frame);
				if (!child) {
					child = { frame, recursion: 0, children: new Map(), samples: 0, ends: 0 };
					node.children.set(frame, child);
				}
				child.recursion = Math.max(child.recursion, recursionOf(at));
				child.samples += samples;
				node = child;
			}
			node.ends += samples;
		});
		return top;
	}

	const sorted = (node) => [...node.children.values()].sort((a, b) => b.samples - a.samples);

	function treeLabel(node, whole) {
		const part = whole ? ((100 * node.samples) / whole).toFixed(1) : "0.0";
		return [el("span", { class: "share", text: percent(share(node.samples)),
			title: number(node.samples) + " samples, " + part + "% of this object's" }),
			...frameLine(node.frame, node.recursion)];
	}

	/* Children are made when a node is opened; a chain without a fork opens as a whole. */
	function treeNode(node, whole, open) {
		const source = sourceOf(node.frame);
		if (!node.children.size && !source)
			return el("li", null, el("div", { class: "leaf" }, ...treeLabel(node, whole)));
		const details = el("details", null, el("summary", null, ...treeLabel(node, whole)));
		let made = false;
		const make = () => {
			if (made)
				return;
			made = true;
			if (source)
				details.append(source);
			details.append(el("ul", null, ...sorted(node).map((child) =>
				treeNode(child, whole, node.children.size === 1))));
		};
		details.addEventListener("toggle", () => details.open && make());
		if (open) {
			make();
			details.open = true;
		}
		return el("li", null, details);
	}

	let rootFirst = false;

	function accessTree(site) {
		const top = buildTree(site.accesses, rootFirst);
		const list = el("ul", { class: "tree" });
		const children = sorted(top);
		list.append(...children.map((node) => treeNode(node, site.samples, false)));
		if (top.ends)
			list.append(el("li", null, el("div", { class: "leaf" },
				el("span", { class: "share", text: percent(share(top.ends)) }), "(path unknown)")));
		if (!children.length && !top.ends)
			list.append(el("li", { class: "leaf", text: "no sample fell into these objects" }));
		const first = list.querySelector("details");
		if (first)
			first.open = true;
		const turn = el("button", { text: rootFirst ? "leaf first" : "root first",
			onclick: () => {
				rootFirst = !rootFirst;
				section.replaceWith(accessTree(site));
			} });
		const section = el("section", { class: "access" },
			el("h3", null, rootFirst ? "Accessed from, thread entry first" : "Accessed at, then callers",
				turn), list);
		return section;
	}

	function show(host, site) {
		const about = site.estimated ? "~" : "";
		host.replaceChildren(
			el("h2", { text: site.className || "(class unknown)" }),
			el("div", { class: "numbers" }, fact("of all samples", percent(share(site.samples))),
				fact("samples", number(site.samples)), ...(site.isClass ?
					[el("span", { text: "objects of which the class alone is known" })] :
					[fact("allocations", about + number(site.allocations)), fact("", about + bytes(site.bytes))]),
				...(about ? [el("span", { text: "estimate: which callers made how many of this line's objects" })] : []),
				el("span", { text: "id " + site.id })),
			...(site.isClass ? objectDetail.splitSection(site) : [allocationPath(site)]),
			...objectDetail.fieldsSection(site), ...objectDetail.metricsSection(site), accessTree(site));
		host.scrollTop = 0;
	}

	return { rows, searched, show };
})();
