"use strict";
/* The page: its views and switches, the search, the keys, the address that keeps what is chosen. */
page.add((shared) => {
	const { el, id, number, percent, data, chosen, lens, metrics, available, ENGINES, UNKNOWN, NO_REQUEST, requests, requestName, faces, label, origin, originLong,
		idOf, bytesText, valueText, visible, everything, sums, frameOf, frameText } = shared;

	/* State of the page besides the choice. */
	const view = { name: "objects", face: "touched", row: null, finding: null, code: null, words: [], flame: null, rootFirst: false,
		codeRootFirst: true, waitsRootFirst: true };

	/* ---- the chosen row ---- */

	const detail = id("view-objects").querySelector(".detail");

	function showFinding(f) {
		return el("section", { class: "finding" }, el("h3", { text: percent(f.share) + " " + f.kind.replace(/-/g, " ") + " (95%: " +
			(100 * f.low).toFixed(1) + " to " + (100 * f.high).toFixed(1) + ")" }), el("p", { text: visible(f.text) }),
			...(f.change ? [el("p", null, el("b", { text: "To try: " }), visible(f.change))] : []),
			el("p", { class: "where", text: f.id }));
	}

	/* The figures of a row in one line. */
	function figures(row) {
		const out = [];
		if (row.interval)
			out.push(percent(row.share) + " of the samples (95%: " + (100 * row.interval[0]).toFixed(1) + " to " + (100 * row.interval[1]).toFixed(1) + ")");
		else
			out.push(percent(row.share) + " of the " + metrics[chosen.metric].title);
		out.push((shared.isEstimate(row) ? "~" : "") + valueText(row.value));
		if (bytesText(row))
			out.push(bytesText(row) + " allocated" + (row.allocations ? ", " + number(row.allocations) + " objects" : ""));
		if (row.touched)
			out.push(row.touched);
		if (row.sites.length === 1)
			out.push("id " + data.sites.id[row.sites[0]]);
		return out.join(" \u00b7 ");
	}

	function showRow() {
		const row = view.row, top = [];
		if (view.finding)
			top.push(showFinding(view.finding));
		if (!row) {
			detail.replaceChildren(...(top.length ? top : [el("p", { class: "empty", text: "Choose a row." })]));
			view.flame = null;
			return;
		}
		const open = faces.filter((f) => f.when(row));
		const face = open.find((f) => f.name === view.face) || open[0];
		const tabs = el("div", { class: "faces", role: "tablist", "aria-label": "Faces of the object" }, ...open.map((f) =>
			el("button", { type: "button", role: "tab", "data-face": f.name, "aria-selected": String(f === face), tabindex: f === face ? "0" : "-1", text: f.title,
				onclick: () => {
					view.face = f.name;
					showRow();
					keep();
				} })));
		const body = el("div", { class: "face", "data-face": face.name });
		detail.replaceChildren(...top, tabs, el("h2", { text: label(row, false) }), el("p", { class: "numbers", text: figures(row) }),
			...(origin(row) ? [el("p", { class: "origin", text: "allocated at " + originLong(row) + (row.estimated ? " (an estimate)" : "") +
				(row.path || row.no_line || !row.samples ? "" : "; to find it: locus run --track '" + shared.classOf(row) + "' ...") })] : []), body);
		view.flame = null;
		face.fill(body, row, view);
		tellWhole();
	}

	/* These views' data are not kept by thread and time. */
	const WHOLE = ["live", "offheap", "threads", "numa", "sharing", "spans"];

	function tellWhole() {
		const face = view.name === "objects" && id("view-objects").querySelector(".faces [aria-selected=true]");
		const title = WHOLE.includes(view.name) ? id("tab-" + view.name).textContent :
			face && faces.some((f) => f.whole && f.name === face.dataset.face) ? face.textContent : "";
		const told = title && !everything();
		id("whole").hidden = !told;
		id("whole").textContent = told ? title + ": for the whole recording, not for the chosen part." : "";
	}

	const list = new shared.RowList(id("view-objects").querySelector(".list"), (row) => {
		if (view.finding && (view.finding.row === undefined || lens().groups["class+line"].rows[view.finding.row] !== row))
			view.finding = null;
		view.row = row;
		showRow();
		keep();
	});

	function chooseFinding(f) {
		view.finding = f;
		view.name = "objects";
		if (f.row === undefined) {
			view.row = null;
			list.chosen = null;
			list.draw(true);
			showView();
			showRow();
			keep();
			return;
		}
		if (chosen.group !== "class+line") {
			chosen.group = "class+line";
			update();
		}
		showView();
		list.show(lens().groups["class+line"].rows[f.row]);
	}

	function openRow(row) {
		view.name = "objects";
		showView();
		list.show(row);
	}

	/* ---- the other views ---- */

	const showCode = (row) => {
		view.code = row;
		shared.showCode(id("view-code").querySelector(".detail"), row, view, openRow);
	};
	const waitList = new shared.WaitList(id("view-waits").querySelector(".list"), (method) => {
		chosen.own = chosen.own === method ? UNKNOWN : method;
		update();
	});
	const openLine = (row) => {
		chosen.group = "class+line";
		update();
		openRow(row);
	};
	const tables = {
		live: shared.liveTable((row) => shared.showLive(id("view-live").querySelector(".detail"), row, openLine)),
		offheap: shared.offHeapTable((row) => shared.showOffHeap(id("view-offheap").querySelector(".detail"), row, openLine)),
		code: shared.codeTable(showCode),
		threads: shared.threadTable((t) => {
			chosen.thread = chosen.thread === t.at ? UNKNOWN : t.at;
			update();
		}),
		requests: shared.requestTable((r) => {
			chosen.request = chosen.request === r.request ? UNKNOWN : r.request;
			update();
		}),
		sharing: shared.sharingTable((row) => shared.showSharing(id("view-sharing").querySelector(".detail"), row)),
		numa: shared.numaTable((row) => shared.showNuma(id("view-numa").querySelector(".detail"), row)),
	};
	const texts = {
		live: shared.liveText,
		offheap: shared.offHeapText,
		code: (r) => (r.name + "\n" + r.at).toLowerCase(),
		threads: (r) => (r.name + "\n" + r.tid).toLowerCase(),
		requests: (r) => r.name.toLowerCase(),
		sharing: (r) => (r.name + "\n" + r.at).toLowerCase(),
		numa: (r) => r.text,
	};
	const nouns = { live: "lines", offheap: "lines", code: "rows", threads: "threads", requests: "contexts", sharing: "findings", numa: "sites" };
	shared.showAbout(id("view-about"));
	const there = { waits: shared.hasOwn, objects: true, live: shared.liveRows.length > 0, offheap: shared.offHeapRows.length > 0, code: true, threads: data.threads.length > 0, requests: requests.length > 0, numa: shared.numaOn, sharing: data.false_sharing.length > 0,
		spans: !!data.spans, about: true };
	const views = Object.keys(there).filter((name) => {
		id("tab-" + name).hidden = !there[name];
		return there[name];
	});
	let spansShown = false, codeOf = "", waitsOf = "", requestsOf = "";

	function showView() {
		for (const name of Object.keys(there)) {
			id("tab-" + name).setAttribute("aria-selected", String(name === view.name));
			id("tab-" + name).tabIndex = name === view.name ? 0 : -1;
			id("view-" + name).hidden = name !== view.name;
		}
		id("findings").classList.toggle("away", view.name !== "objects");
		id("switches").hidden = id("search").hidden = view.name === "about" || view.name === "spans";
		if (view.name === "spans" && !spansShown) {
			spansShown = true;
			shared.showSpans(data.spans, id("view-spans"));
		}
		const state = JSON.stringify([chosen, view.words]);
		if (view.name === "code" && codeOf !== state) {
			codeOf = state;
			tables.code.all = shared.codeRows();
			tables.code.order();
			showCode(null);
		}
		if (view.name === "requests" && requestsOf !== state) {
			requestsOf = state;
			shared.updateRequests(tables.requests);
		}
		if (view.name === "waits" && waitsOf !== state) {
			waitsOf = state;
			shared.showWaits(id("view-waits").querySelector(".detail"), view);
		}
		const table = tables[view.name];
		if (table && ![tables.code, tables.threads, tables.requests].includes(table) && table.chosen === null && table.rows.length)
			table.show(table.rows[0]);
		tellWhole();
		search();
	}

	/* ---- search ---- */

	function search() {
		const words = id("search").value.toLowerCase().split(/\s+/).filter(Boolean);
		const changed = words.join(" ") !== view.words.join(" ");
		view.words = words;
		if (view.name === "objects") {
			list.update(words);
			const total = sums().total;
			id("found").textContent = words.length ? number(list.found) + (list.found === 1 ? " row" : " rows") + ", matched " +
				percent(total ? list.matched / total : 0) : "";
			if (changed)
				showRow();
			return;
		}
		if (view.name === "waits") {
			waitList.update(words);
			id("found").textContent = words.length ? number(waitList.found.length) + " of " + number(waitList.sum.rows.length) + " methods, matched " +
				percent(waitList.sum.total ? waitList.matched / waitList.sum.total : 0) : "";
			return;
		}
		const table = tables[view.name];
		if (!table) {
			id("found").textContent = "";
			return;
		}
		table.filter(words.length ? (row) => words.every((w) => texts[view.name](row).includes(w)) : null);
		const part = view.name === "code" ? ", matched " + percent(sums().samples ? table.rows.filter((r) => !r.isMethod)
			.reduce((sum, r) => sum + r.samples, 0) / sums().samples : 0) : "";
		id("found").textContent = words.length ? number(table.rows.length) + " of " + number(table.all.length) + " " + nouns[view.name] + part : "";
	}

	/* ---- switches ---- */

	function select(name, title, options, value, set) {
		const box = el("select", { id: "switch-" + name, onchange: () => set(box.value) },
			...options.map(([v, text]) => el("option", { value: v, text, selected: v === value })));
		return el("label", { class: "switch", title }, el("span", { text: name }), box);
	}

	const groupNames = { "class+line": "class and line", class: "class", field: "field", package: "package", site: "call path",
		...(data.by ? { by: data.by.join(" and ") } : {}) };

	function switches() {
		const changed = (set) => (value) => {
			set(value);
			update();
		};
		id("switches").replaceChildren(
			select("group", "what a row is (g)", Object.entries(groupNames), chosen.group, changed((v) => { chosen.group = v; })),
			...(available.length > 1 ? [select("metric", "what is counted (m)", available.map((m) => [m, metrics[m].title]), chosen.metric,
				changed((v) => { chosen.metric = v; }))] : []),
			...(shared.hasThreads ? [select("thread", "which thread (t)", [[String(UNKNOWN), "all"], ...data.threads.map((t, i) =>
				[String(i), shared.strings[t.name] + (data.threads.some((o) => o !== t && o.name === t.name) ? " (" + t.tid + ")" : "")])],
				String(chosen.thread), changed((v) => { chosen.thread = +v; }))] : []),
			...(requests.length ? [select("request", "which request context (r)", [[String(UNKNOWN), "all"], ...[...requests, NO_REQUEST].map((r) =>
				[String(r), requestName(r)])], String(chosen.request), changed((v) => { chosen.request = +v; }))] : []),
			...(ENGINES.length > 1 ? [select("engine", "which samples (e)", ENGINES.map((e, i) => [String(i), e.name + (e.event ? " " + e.event : "")]),
				String(chosen.lens), changed((v) => { chosen.lens = +v; }))] : []),
			...(chosen.own !== UNKNOWN ? [el("button", { type: "button", id: "own", class: "small", title: "show all own code",
				text: "in " + shared.ownName(chosen.own) + " \u2715", onclick: () => {
					chosen.own = UNKNOWN;
					update();
				} })] : []));
	}

	/* The choice has changed: redraw everything. */
	function update() {
		const before = view.row ? idOf(view.row) : null;
		shared.update();
		shared.showHead();
		shared.showBar();
		shared.showFindings(chooseFinding);
		shared.drawStrip((time) => {
			chosen.time = time;
			update();
		});
		switches();
		view.row = before && shared.rows.find((r) => idOf(r) === before) || null;
		list.chosen = view.row;
		list.update(view.words);
		if (!view.row && !view.finding && list.main.length)
			list.choose(list.main[0]);
		else
			showRow();
		showView();
		keep();
	}

	/* ---- the address ---- */

	function keep() {
		const out = new URLSearchParams();
		const put = (name, value, usual) => value !== usual && value !== null && out.set(name, value);
		put("view", view.name, null);
		put("group", chosen.group, "class+line");
		put("metric", chosen.metric, "samples");
		put("thread", chosen.thread === UNKNOWN ? null : data.threads[chosen.thread].tid, null);
		put("own", chosen.own === UNKNOWN ? null : shared.ownId(chosen.own), null);
		put("request", chosen.request === UNKNOWN ? null : requestName(chosen.request), null);
		put("engine", chosen.lens, 0);
		put("time", chosen.time ? chosen.time.map((t) => Math.round(t / 1e6)).join("-") : null, null);
		put("face", view.face, "touched");
		put("find", id("search").value, "");
		put("finding", view.finding ? view.finding.id : null, null);
		put("row", view.row ? idOf(view.row) : null, null);
		history.replaceState(null, "", "#" + out.toString());
	}

	/*
	 * Does the row have objects of the site? Another site of the same class and line may
	 * represent it.
	 */
	function holds(row, site) {
		const path = data.sites.path[site], code = (p) => p && frameText(frameOf(p));
		return row.sites.includes(site) || row.parts.some((n, i) => i % 3 < 2 && (i % 3 ? n : lens().places[n].site) === site) ||
			(row.class === data.sites.class[site] && row.path > 0 && code(row.path) === code(path));
	}

	function restore() {
		const hash = decodeURIComponent(location.hash.slice(1)), from = new URLSearchParams(location.hash.slice(1));
		const has = (name, words) => words.includes(from.get(name)) && from.get(name);
		chosen.group = has("group", Object.keys(groupNames)) || chosen.group;
		chosen.metric = has("metric", available) || "samples";
		chosen.lens = +(has("engine", ENGINES.map((_, i) => String(i))) || 0);
		chosen.thread = from.get("thread") === null ? UNKNOWN : data.threads.findIndex((t) => String(t.tid) === from.get("thread"));
		chosen.own = shared.ownOfId(from.get("own"));
		chosen.request = [NO_REQUEST, ...requests].find((r) => requestName(r) === from.get("request")) ?? UNKNOWN;
		const time = /^(\d+)-(\d+)$/.exec(from.get("time") || "");
		chosen.time = time ? [time[1] * 1e6, time[2] * 1e6] : null;
		/* Earlier versions left the view out of the address where it was "objects". */
		view.name = has("view", views) || (location.hash.length > 1 ? "objects" : data.group === "context" && there.requests ? "requests" : views[0]);
		view.face = has("face", faces.map((f) => f.name)) || "touched";
		id("search").value = from.get("find") || "";
		shared.update();
		view.finding = lens().findings.find((f) => f.id === from.get("finding")) || null;
		const site = /^[0-9a-f]{16}$/.test(hash) ? data.sites.id.indexOf(hash) : -1;
		const rows = shared.rows;
		view.row = rows.find((r) => idOf(r) === from.get("row")) || (site > 0 && rows.find((r) => holds(r, site))) || null;
		update();
		if (view.row)
			list.show(view.row);
	}

	/* ---- copy ---- */

	const cell = (s) => s.replace(/\|/g, "\\|").replace(/`/g, "'").replace(/</g, "&lt;");

	function markdown() {
		const rows = list.main.slice(0, 25);
		const out = ["**" + cell(id("program").textContent) + "** " + cell(id("facts").textContent) + (everything() ? "" : " (a part of it)"), ""];
		for (const f of lens().findings.slice(0, 3))
			out.push("- " + cell(visible(f.text)) + (f.change ? " To try: " + cell(visible(f.change)) : ""));
		out.push("", "| share | 95% | object | allocated at | touched at | bytes |", "| ---: | --- | --- | --- | --- | ---: |");
		for (const row of rows)
			out.push("| " + [percent(row.share), row.interval ? row.interval.map((x) => (100 * x).toFixed(1)).join(" to ") : "",
				cell(label(row, true)), cell(origin(row)), cell(shared.hottest(row).join(" ").trim()), bytesText(row)].join(" | ") + " |");
		return out.join("\n") + "\n";
	}

	async function copy() {
		const text = markdown();
		try {
			await navigator.clipboard.writeText(text);
			say("copied as markdown");
		} catch {
			/*
			 * A page from a file may not write to the clipboard: its text can be
			 * selected instead.
			 */
			const box = el("textarea", { class: "copied", "aria-label": "markdown", readonly: true });
			box.value = text;
			id("dialog-body").replaceChildren(box);
			id("dialog").showModal();
			box.select();
		}
	}

	function say(text) {
		id("found").textContent = text;
	}

	/* ---- keys ---- */

	const keys = [["/", "search"], ["n", "next finding"], ["1 .. " + views.length, "view"], ["f", "next face of the object"], ["i", "turn the flame graph"],
		["s", "callers and callees of the frame"], ["m", "next metric"], ["g", "next group"], ["t", "next thread"], ["r", "next request"], ["e", "next engine"],
		["[ ]", "earlier, later; with Shift a longer time"], ["0", "all of the time, reset zoom"], ["c", "copy as markdown"], ["Esc", "leave search, reset zoom"],
		["arrows", "rows of the list, frames of a flame graph"], ["?", "these keys"]];

	function help() {
		id("dialog-body").replaceChildren(el("h2", { text: "Keys" }),
			el("dl", { class: "keys" }, ...keys.flatMap(([k, text]) => [el("dt", null, el("kbd", { text: k })), el("dd", { text })])));
		id("dialog").showModal();
	}

	const next = (options, now) => options[(options.indexOf(now) + 1) % options.length];

	function nextFinding() {
		if (lens().findings.length)
			chooseFinding(next(lens().findings, view.finding));
	}

	const actions = {
		"/": () => {
			id("search").focus();
			id("search").select();
		},
		n: nextFinding,
		i: () => view.flame && view.flame.invert(),
		f: () => {
			const open = view.row ? faces.filter((f) => f.when(view.row)).map((f) => f.name) : [];
			if (open.length) {
				view.face = next(open, view.face);
				showRow();
				keep();
			}
		},
		m: () => {
			chosen.metric = next(available, chosen.metric);
			update();
		},
		g: () => {
			chosen.group = next(Object.keys(groupNames), chosen.group);
			update();
		},
		t: () => {
			if (shared.hasThreads) {
				chosen.thread = chosen.thread + 1 < data.threads.length ? chosen.thread + 1 : UNKNOWN;
				update();
			}
		},
		r: () => {
			chosen.request = next([UNKNOWN, ...requests, ...(requests.length ? [NO_REQUEST] : [])], chosen.request);
			update();
		},
		e: () => {
			chosen.lens = (chosen.lens + 1) % ENGINES.length;
			update();
		},
		0: () => {
			if (view.flame && view.flame.zoomed()) {
				view.flame.reset();
			} else if (chosen.time) {
				chosen.time = null;
				update();
			}
		},
		c: copy,
		"?": help,
	};
	const time = (forward, longer) => () => {
		chosen.time = shared.hasTime ? shared.stripStep(forward, longer) : null;
		update();
	};
	actions["["] = time(false, false);
	actions["]"] = time(true, false);
	actions["{"] = actions["}"] = time(true, true);
	views.forEach((name, i) => {
		actions[i + 1] = () => {
			view.name = name;
			showView();
			keep();
		};
		id("tab-" + name).addEventListener("click", actions[i + 1]);
	});

	document.addEventListener("keydown", (event) => {
		if (event.ctrlKey || event.metaKey || event.altKey || id("dialog").open)
			return;
		const typing = /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName);
		if (event.key === "Escape") {
			if (id("search").value) {
				id("search").value = "";
				search();
			}
			if (view.flame && view.flame.zoomed())
				view.flame.reset();
			event.target.blur();
			list.host.focus({ preventScroll: true });
			keep();
		} else if (!typing && Object.hasOwn(actions, event.key)) {
			event.preventDefault();
			actions[event.key]();
		}
	});

	/* Arrows go from tab to tab. */
	for (const bar of document.querySelectorAll("nav[role=tablist]"))
		bar.addEventListener("keydown", (event) => {
			const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
			if (!step)
				return;
			const at = (views.indexOf(view.name) + step + views.length) % views.length;
			actions[at + 1]();
			id("tab-" + views[at]).focus();
		});

	let pending = 0;
	id("search").addEventListener("input", () => {
		clearTimeout(pending);
		pending = setTimeout(() => {
			search();
			keep();
		}, 60);
	});
	id("copy").addEventListener("click", copy);
	id("help").addEventListener("click", help);
	addEventListener("hashchange", restore);

	/* On paper there is no scrolling: all rows, and all of the text. */
	addEventListener("beforeprint", () => {
		id("print").replaceChildren(...lens().findings.map(showFinding), el("table", { class: "plain" },
			el("thead", null, el("tr", null, ...["share", "95%", "object", "allocated at", "touched at", "bytes"].map((t) => el("th", { scope: "col", text: t })))),
			el("tbody", null, ...shared.rows.filter((r) => r.value > 0).map((row) => el("tr", null, ...[percent(row.share),
				row.interval ? row.interval.map((x) => (100 * x).toFixed(1)).join(" to ") : "", label(row, false), originLong(row),
				shared.hottest(row).join(" "), bytesText(row)].map((text) => el("td", { text })))))));
	});

	shared.showNotes();
	shared.showDifference();
	restore();
	document.documentElement.dataset.ready = "true";
});
page.start();
