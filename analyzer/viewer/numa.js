"use strict";
/*
 * The view of NUMA nodes: which node accessed which objects on which node. Nodes are rows of
 * numa.nodes; the row behind the last is the unknown node.
 */
page.add((shared) => {
	const { el, number, visible, fact, percent, bytes, data, leafShort, pathSection } = shared;
	const numa = data.numa;
	const on = numa.state === "on";
	const UNKNOWN = numa.nodes.length;
	const PATHS = 20;
	const FULL = 16; /* a matrix of more nodes first shows only rows and columns that have samples */
	const hundred = (share) => (share === null ? "unknown" : percent(share));
	const distance = (d) => (d === null ? "unknown" : d.toFixed(1));
	const nodeName = (row) => (row === UNKNOWN ? "?" : String(numa.nodes[row].node));

	const patternText = {
		"not-enough-evidence": "not enough evidence",
		"fine": "fine",
		"master-initialised": "master-initialised",
		"used-from-another-node": "used from another node",
		"thread-migrated": "thread migrated",
		"all-on-one-node": "all on one node",
		"spread": "spread",
	};

	const row = (s, index) => ({
		index, group: s,
		name: s.class === "" ? "(class unknown)" : visible(s.class),
		at: s.allocation_path ? leafShort(s.allocation_path) :
			s.bucket === "heap_class" ? "(allocation unknown)" : "(path unknown)",
		samples: s.samples, remote: s.remote, share: s.remote_share,
		pattern: s.diagnosis ? patternText[s.diagnosis.pattern] || s.diagnosis.pattern : "",
		text: [s.class, s.id || "", leafShort(s.allocation_path || 0), ...s.accesses.map((a) => leafShort(a.path)),
			s.diagnosis ? s.diagnosis.pattern : ""].join("\n").toLowerCase(),
	});
	const sites = on ? numa.sites.map((s, i) => row(s, i)) : [];

	/* ---- the heat map ---- */

	function short(n) {
		if (n < 100000)
			return number(n);
		const units = ["k", "M", "G", "T"];
		let unit = -1;
		for (; n >= 999.5 && unit < 3; unit++)
			n /= 1000;
		return n.toPrecision(3) + units[unit];
	}

	/* Rows: the CPU's node; columns: the page's node. */
	function matrixOf(cells) {
		const matrix = Array.from({ length: UNKNOWN + 1 }, () => new Array(UNKNOWN + 1).fill(0));
		cells.samples.forEach((n, i) => {
			matrix[cells.accessing[i]][cells.owning[i]] += n;
		});
		return matrix;
	}

	function heatCell(n, from, to, most, known) {
		const kind = from === UNKNOWN || to === UNKNOWN ? "blind" : from === to ? "local" : "remote";
		const words = "CPUs of node " + nodeName(from) + ", pages on node " + nodeName(to) + ": " + number(n) +
			" samples, " + kind.replace("blind", "not counted in the shares") +
			(kind !== "blind" && known ? ", " + hundred(n / known) + " of those with known nodes" : "");
		const part = kind !== "blind" && most ? n / most : 0;
		const heat = part ? 12 + Math.round(58 * part) : 0;
		return el("td", { class: kind + (n ? "" : " none"), style: heat ? "--heat:" + heat + "%" : null, title: words },
			short(n), ...(kind !== "blind" && known && UNKNOWN <= 8 ?
				[el("small", { text: hundred(n / known) })] : []));
	}

	function heatTable(group, matrix, [cpus, pages], caption) {
		let most = 0;
		for (let a = 0; a < UNKNOWN; a++)
			for (let o = 0; o < UNKNOWN; o++)
				most = Math.max(most, matrix[a][o]);
		const sum = (list) => list.reduce((a, b) => a + b, 0);
		const rows = [...cpus, ...(sum(matrix[UNKNOWN]) ? [UNKNOWN] : [])];
		const columns = [...pages, ...(matrix.some((r) => r[UNKNOWN]) ? [UNKNOWN] : [])];
		return el("table", { class: "heat" + (UNKNOWN > 8 ? " dense" : "") },
			el("caption", { text: caption }),
			el("thead", null,
				el("tr", null, el("td", { class: "corner" }),
					el("th", { scope: "colgroup", colspan: columns.length, text: "page's node" })),
				el("tr", null, el("th", { scope: "col", class: "corner", text: "CPU's node" }),
					...columns.map((o) => el("th", { scope: "col", text: nodeName(o), title: nodeWords(o) })))),
			el("tbody", null, ...rows.map((a) => el("tr", null,
				el("th", { scope: "row", text: nodeName(a), title: nodeWords(a) }),
				...columns.map((o) => heatCell(matrix[a][o], a, o, most, group.known))))));
	}

	function nodeWords(node) {
		if (node === UNKNOWN)
			return "unknown node";
		const n = numa.nodes[node];
		return "node " + n.node + (n.cpus ? ", CPUs " + n.cpus : ", no CPUs") +
			(n.memory_bytes ? ", " + bytes(n.memory_bytes) : ", no memory");
	}

	const scale = (kind, text) => el("span", { class: "scale " + kind }, el("i"), text);

	let allNodes = false;

	/* Draw the heat map of a group into `host`. */
	function drawHeat(host, group, caption) {
		const matrix = matrixOf(group.cells);
		const every = numa.nodes.map((_, i) => i);
		const cpus = every.filter((a) => matrix[a].some((n) => n));
		const pages = every.filter((o) => matrix.some((r) => r[o]));
		const large = UNKNOWN > FULL && cpus.length + pages.length < 2 * UNKNOWN;
		const shown = large && !allNodes ? [cpus, pages] : [every, every];
		host.replaceChildren(
			el("div", { class: "heatbox", tabindex: "0", role: "region", "aria-label": "Node matrix" },
				heatTable(group, matrix, shown, caption)),
			el("p", { class: "scales" }, scale("local", "local (framed)"), scale("remote", "remote"),
				...(group.known < group.samples ? [scale("blind", "a node unknown (?)")] : [])),
			...(large ? [el("p", { class: "where" },
				(allNodes ? "All " + UNKNOWN + " nodes. " : "Left out: nodes without samples. CPUs of " + cpus.length +
					" and pages of " + pages.length + " of " + UNKNOWN + " nodes have some. "),
				el("button", { class: "link", text: allNodes ? "Show only nodes that have samples" : "Show all nodes",
					onclick: () => {
						allNodes = !allNodes;
						drawHeat(host, group, caption);
					} }))] : []));
	}

	/* ---- beside it: the paths ---- */

	const remoteText = (g) => (g.known ? hundred(g.remote_share) + " remote" : "nodes unknown");

	/* All accesses, or one path of them: choosing one draws its matrix. */
	function chooser(site, heat) {
		const frames = el("div");
		const choices = [[site, "all accesses"], ...site.accesses.slice(0, PATHS).map((a) => [a, leafShort(a.path)])];
		const choose = (i) => {
			const [group, name] = choices[i];
			buttons.forEach((b, k) => b.setAttribute("aria-pressed", String(k === i)));
			drawHeat(heat, group, "Samples of " + name);
			const shown = i ? group : site.accesses[0];
			frames.replaceChildren(...(shown ?
				[pathSection(shown.path, i ? "Accessed at" : "Accessed at (the busiest path)", "access")] : []));
		};
		const buttons = choices.map(([group, name], i) => el("button", { class: "choice",
			title: number(group.samples) + " samples, " + remoteText(group), onclick: () => choose(i) },
			el("span", { class: "share", text: remoteText(group) }), name + " ",
			el("span", { class: "where", text: number(group.samples) + " samples" })));
		const section = el("div", null, frames);
		if (choices.length > 2)
			section.append(el("section", { class: "access" }, el("h3", { text: "Matrix of" }),
				el("div", { class: "choices" }, ...buttons),
				...(site.accesses.length > PATHS ? [el("p", { class: "where",
					text: "... " + number(site.accesses.length - PATHS) + " more paths" })] : [])));
		choose(0);
		return section;
	}

	/* ---- prose ---- */

	function summary(d) {
		return d ? [el("p", { class: "diagnosis" }, el("b", { text: patternText[d.pattern] || d.pattern }), " ",
			el("span", { class: "where", text: "(confidence: " + d.confidence + ")" }), ": " + visible(d.summary))] : [];
	}

	function advice(d) {
		const list = (title, items) => (items.length ?
			[el("section", null, el("h3", { text: title }), el("ul", { class: "words" }, ...items))] : []);
		return d ? [...list("Advice", d.advice.map((a) => el("li", null, visible(a.action),
			el("span", { class: "cost", text: "Costs: " + visible(a.cost) })))),
			...list("Evidence", d.evidence.map((e) => el("li", { text: visible(e) })))] : [];
	}

	function policyRows(w) {
		const shares = [hundred(w.weighted_remote_share), distance(w.mean_distance)];
		if (w.policy === "interleave")
			return [["interleaved over the nodes", hundred(w.remote_share), ...shares]];
		if (w.policy === "first-touch-by-reader")
			return [["first touched by its reader, if each thread has its own part", hundred(w.remote_share), ...shares],
				["first touched by its reader, if all threads use all parts", hundred(w.remote_share_shared), "", ""]];
		return [["bound to node " + w.policy.slice(5), hundred(w.remote_share), ...shares]];
	}

	function whatIf(group) {
		if (!group.what_if.length)
			return [];
		const rows = [["as recorded", hundred(group.remote_share), hundred(group.weighted_remote_share),
			distance(group.mean_distance)], ...group.what_if.flatMap(policyRows)];
		return [el("section", null, el("h3", { text: "The recorded accesses with other placements" }),
			el("table", { class: "plain" },
				el("thead", null, el("tr", null, ...["Placement", "Remote", "By distance", "Mean distance"].map((t, i) =>
					el("th", { scope: "col", class: i ? "number" : null, text: t })))),
				el("tbody", null, ...rows.map(([name, ...cells]) => el("tr", null,
					el("th", { scope: "row", text: name }),
					...cells.map((c) => el("td", { class: "number", text: c })))))))];
	}

	function byNode(nodes, say) {
		const total = nodes.reduce((sum, n) => sum + n.count, 0);
		return nodes.map(({ node, count }) => (node === UNKNOWN ? "unknown node" : "node " + nodeName(node)) + ": " +
			(say ? say(count) : percent(count / total))).join(", ");
	}

	function origins(site) {
		const say = (o, verb, unit) => (o ? [el("li", { text: verb + " by " + visible(o.thread) + " (tid " + o.tid + "): " +
			hundred(o.thread_total / o.total) + (o.threads > 1 ? ", and by " + (o.threads - 1) + " more threads" : "") +
			"; " + byNode(o.by_node, unit) })] : []);
		const items = [...say(site.first_touch, "first touched", (n) => number(n) + " samples"),
			...say(site.allocated, "allocated", bytes)];
		return items.length ? [el("section", null, el("h3", { text: "Origin" }),
			el("ul", { class: "words" }, ...items))] : [];
	}

	function threadTable(threads, total, whole) {
		if (!threads.length)
			return [];
		const heads = ["Thread", "Samples", "Ran on", ...(whole ? ["Migrations"] : []), "Remote"];
		const isNumber = (i) => heads[i] !== "Thread" && heads[i] !== "Ran on";
		return [el("section", null, el("h3", { text: whole ? "Threads" : "Threads that use the objects" }),
			el("table", { class: "plain" },
				el("thead", null, el("tr", null, ...heads.map((t, i) =>
					el("th", { scope: "col", class: isNumber(i) ? "number" : null, text: t })))),
				el("tbody", null, ...threads.map((t) => el("tr", null,
					el("th", { scope: "row", text: visible(t.thread) + " (" + t.tid + ")" }),
					el("td", { class: "number", text: number(t.samples) }),
					el("td", { text: byNode(t.by_node) }),
					...(whole ? [el("td", { class: "number", text: (t.migrations ? "at least " : "") + number(t.migrations) })] : []),
					el("td", { class: "number", text: (whole ? t.accesses : t).known ?
						hundred((whole ? t.accesses : t).remote_share) : "unknown" }))))),
			...(total > threads.length ? [el("p", { class: "where",
				text: "... " + number(total - threads.length) + " more" })] : []))];
	}

	function figures(g) {
		return el("div", { class: "numbers" }, fact("remote", g.known ? hundred(g.remote_share) : "unknown"),
			fact("remote, by distance", hundred(g.weighted_remote_share)),
			fact("mean distance (10 is local)", distance(g.mean_distance)),
			fact("samples", number(g.samples)), fact("with known nodes", number(g.known)),
			...(numa.engine && numa.engine.name !== data.engine.name ? [fact("is the engine", visible(numa.engine.name))] : []),
			...Object.entries(g.sources || {}).map(([name, n]) => fact("from " + name, number(n))));
	}

	/* All accesses, as a row above the sites. */
	const whole = on ? { ...row({ ...numa.all, class: "All accesses", accesses: [] }, -1),
		at: "everything with an address" } : null;

	function machine() {
		const notes = [];
		if (numa.balancing !== null)
			notes.push("The kernel's NUMA balancing was " + (numa.balancing ? "on" : "off") +
				(numa.pages_migrated ? "; it moved " + number(numa.pages_migrated) + " pages of the machine" : "") + ".");
		if (numa.owner_changes)
			notes.push(number(numa.owner_changes) + " pages had moved to another node between two look-ups.");
		if (numa.samples_dropped)
			notes.push(number(numa.samples_dropped) + " samples are missing here, for lack of memory.");
		if (numa.mixed_machines)
			notes.push("The profiles are from different machines; distances that differ are unknown.");
		const near = numa.nodes.map((_, i) => i);
		return el("section", null, el("h3", { text: "The machine" }),
			el("div", { class: "heatbox", tabindex: "0", role: "region", "aria-label": "Nodes and distances" },
				el("table", { class: "plain" },
					el("thead", null, el("tr", null, ...["Node", "Memory", "CPUs", ...near.map((i) => "to " + nodeName(i))]
						.map((t, i) => el("th", { scope: "col", class: i > 2 ? "number" : null, text: t })))),
					el("tbody", null, ...numa.nodes.map((n) => el("tr", null,
						el("th", { scope: "row", text: String(n.node) }),
						el("td", { text: n.memory_bytes ? bytes(n.memory_bytes) + (n.memory ? "" : " (not allowed)") : "none" }),
						el("td", { text: n.cpus || "none" }),
						...n.distances.map((d) => el("td", { class: "number", text: d ? String(d) : "?" }))))))),
			el("ul", { class: "words" }, ...notes.map((text) => el("li", { text }))));
	}

	function show(host, chosen) {
		const g = chosen.group, heat = el("div", { class: "heatmap" });
		const beside = chosen === whole ? [] : [el("div", { class: "paths" },
			pathSection(g.allocation_path, "Allocated at", "alloc"), chooser(g, heat))];
		if (chosen === whole)
			drawHeat(heat, g, "Samples of all accesses");
		host.replaceChildren(el("h2", { text: chosen.name }), figures(g), ...summary(g.diagnosis),
			el("div", { class: "beside" }, heat, ...beside), ...advice(g.diagnosis), ...whatIf(g),
			...(chosen === whole ? [machine(), ...threadTable(numa.threads, numa.threads.length, true)] :
				[...origins(g), ...threadTable(g.threads, g.threads_total, false)]));
		host.scrollTop = 0;
	}

	Object.assign(shared, { numaOn: on, numaRows: on ? [whole, ...sites] : [], showNuma: show, hundred });
});
