"use strict";
/* The page of several runs: their agreement, tables with error bars, and the runs. */
page.add((shared) => {
	const { el, svg, id, number, visible, percent, bytes, duration, data } = shared;

	const FIRST_ROWS = 12, WIDTH = 1000;
	const titles = { objects: "Objects, by samples", lines: "Lines, by samples", methods: "Methods, by samples",
		spans: "Streams and tasks, by cycles", allocated: "Objects, by bytes allocated (counted)",
		estimated: "Objects, by bytes allocated (estimated)" };
	const units = { spans: (v) => number(Math.round(v)) + " cycles", allocated: bytes, estimated: bytes };
	const known = (v, show) => (v === null ? "-" : show(v));

	/* "5.12 s (5.02 s to 5.22 s), from 4.9 s to 5.5 s" */
	function words(n, show) {
		if (n.equal)
			return show(n.mean) + " in each run";
		return show(n.mean) + (n.low === null ? "" : " (" + show(n.low) + " to " + show(n.high) + ")") +
			", from " + show(n.least) + " to " + show(n.most);
	}

	function head() {
		id("command").textContent = visible(data.program || data.command || "");
		document.title = "Locus repeat: " + visible(data.program || data.command || "");
		const rounded = (v) => number(Math.round(v));
		const facts = [["time", data.wall_ns, duration], ["CPU time", data.cpu_ns, duration], ["samples", data.samples, rounded],
			["counted", data.allocations, (v) => rounded(v) + " objects"], ["counted bytes", data.bytes, bytes], ["estimated bytes", data.estimated_bytes, bytes]];
		id("facts").textContent = [data.summary, ...facts.filter(([, n]) => n && n.most > 0)
			.map(([name, n, show]) => name + " " + words(n, show))].join(" \u00b7 ");
		const notes = data.runs.filter((r) => r.why).map((r) => r.name + " was left out: " + r.why);
		if (data.asked > data.runs.length)
			notes.push(data.asked - data.runs.length + " of the " + data.asked + " requested runs were not started");
		if (data.other_program)
			notes.push("not all runs have the same program and JDK: one has " + data.other_program);
		if (data.withheld)
			notes.push(data.withheld);
		id("notes").append(...notes.map((text) => el("li", { text: visible(text) })));
	}

	/* A bar up to the mean, a thin line from the least to the most, a thick one for the interval, a dot for each run. */
	function bars(entry, most) {
		const x = (share) => share / most * WIDTH;
		const s = entry.share;
		const line = (cls, from, to, y) => svg("line", { class: cls, x1: x(from), x2: x(to), y1: y, y2: y });
		const end = (at) => svg("line", { class: "error", x1: x(at), x2: x(at), y1: 4, y2: 14 });
		const text = percent(s.mean) + (s.low === null ? "" : ", 95% interval " + percent(s.low) + " to " + percent(s.high)) +
			", runs from " + percent(s.least) + " to " + percent(s.most);
		return svg("svg", { viewBox: "0 0 " + WIDTH + " 18", preserveAspectRatio: "none", role: "img", "aria-label": text },
			svg("title", { text }),
			svg("rect", { class: "mean", x: 0, y: 3, width: x(s.mean), height: 12 }),
			line("range", s.least, s.most, 9),
			...(s.low === null ? [] : [line("error", s.low, s.high, 9), end(s.low), end(s.high)]),
			...entry.shares.map((share) => svg("rect", { class: "run", x: x(share) - 1.5, y: 7, width: 3, height: 4 })));
	}

	function place(entry, i) {
		if (entry.best === null)
			return String(i + 1);
		return entry.best === entry.worst ? String(entry.best) : entry.best + "-" + entry.worst;
	}

	function row(table, entry, i, most) {
		const at = entry.code ? el("span", { class: "at", text: visible(entry.code) }) : null;
		const unit = units[table.kind];
		const value = unit && entry.equal ? unit(entry.values[0]) + " in each run" :
			entry.equal ? "equal" : (100 * entry.difference).toFixed(1);
		return el("tr", { class: entry.unstable ? "unstable" : null },
			el("td", { class: "number", text: place(entry, i) }),
			el("td", { class: "what" }, el("span", { class: "name where", text: visible(entry.label) }), at,
				entry.unstable ? el("span", { class: "sub", text: "in the top 10 of " + entry.top + " of " + table.runs + " runs" }) : null),
			el("td", { class: "number", text: percent(entry.share.mean) }),
			el("td", { class: "number", text: known(entry.share.low, (low) => (100 * low).toFixed(1) + " to " + (100 * entry.share.high).toFixed(1)) }),
			el("td", { class: "number", text: value }),
			el("td", { class: "number", text: entry.first ? entry.first + "/" + table.runs : "-" }),
			el("td", { class: "spread" }, bars(entry, most)));
	}

	function section(table) {
		const most = Math.max(...table.entries.map((e) => Math.max(e.share.most, e.share.high === null ? 0 : e.share.high)), 1e-9);
		const all = table.entries.map((e, i) => [e, i]);
		const first = all.filter(([e, i]) => i < FIRST_ROWS || e.unstable);
		const body = el("tbody", null, ...first.map(([e, i]) => row(table, e, i, most)));
		const heads = [["place", "number"], ["what", null], ["mean", "number"], ["95% interval", "number"], ["max - min", "number"],
			["first", "number"], ["share", null]];
		const more = first.length < all.length ? el("button", { type: "button", class: "small",
			text: "show all " + number(all.length), onclick: (event) => {
				body.replaceChildren(...all.map(([e, i]) => row(table, e, i, most)));
				event.target.remove();
			} }) : null;
		return el("section", { id: table.kind },
			el("h2", { text: titles[table.kind] }),
			el("p", { text: visible("First: " + table.first + ". Self-difference: " + table.self_difference + ". Top 10: " + table.top + "." + (table.lines ? " Lines: " + table.lines + "." : "")) +
				(table.runs < data.counted ? " " + table.runs + " of the " + data.counted + " runs have some." : "") }),
			el("div", { class: "wide" }, el("table", { "aria-label": titles[table.kind] },
				el("thead", null, el("tr", null, ...heads.map(([text, cls]) => el("th", { scope: "col", class: cls, text })))), body)),
			more);
	}

	function runs() {
		const rounded = (v) => number(Math.round(v));
		const heads = ["run", "time", "CPU time", "samples", "counted", "bytes", "estimated", ""];
		return el("section", { id: "runs" }, el("h2", { text: "Runs" }),
			el("div", { class: "wide" }, el("table", { "aria-label": "Runs" },
				el("thead", null, el("tr", null, ...heads.map((text, i) => el("th", { scope: "col", class: i && i < 7 ? "number" : null, text })))),
				el("tbody", null, ...data.runs.map((r) => el("tr", { class: r.why ? "out" : null },
					el("td", { text: visible(r.name) }),
					...[[r.wall_ns, duration], [r.cpu_ns, duration], [r.samples, rounded], [r.allocations, rounded], [r.bytes, bytes],
						[r.estimated_bytes, bytes]].map(([v, show]) => el("td", { class: "number", text: known(v, show) })),
					el("td", { text: visible(r.why || (r.stderr_bytes ? bytes(r.stderr_bytes) + " on standard error" : "") +
						(r.other_output ? " other output" : "")) })))))));
	}

	head();
	const sections = [...data.tables.map(section), runs()];
	id("nav").append(...sections.map((s) => el("a", { href: "#" + s.id, text: s.querySelector("h2").textContent })));
	id("main").append(el("p", { class: "legend", text: "Bars: the mean share; thick lines: its 95% interval (Student's, over the runs); " +
		"thin lines: from the least to the most; dots: the runs. Places are those that the intervals allow." }), ...sections);
	document.documentElement.dataset.ready = "true";
});
page.start();
