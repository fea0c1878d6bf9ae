"use strict";
/*
 * The page. It is longer than 600 lines since all views share the helpers of one closure; what could
 * stand apart is in objects_detail.js.
 */
(() => {
	const { el, id, number, visible, data } = common;
	const buckets = ["object", "heap_class", "heap_unknown", "jvm", "native", "no_address", "lost"];
	const bucketText = {
		object: "tracked objects",
		heap_class: "heap, class known",
		heap_unknown: "heap, unknown",
		jvm: "JVM",
		native: "native",
		no_address: "address unknown",
		lost: "lost",
	};
	const total = data.samples.total;
	const ROW_PX = 40;

	/* ---- small helpers ---- */

	const share = (n) => (total ? n / total : 0);
	const percent = (n) => (100 * share(n)).toFixed(1) + "%";

	function bytes(n) {
		const units = ["B", "KB", "MB", "GB", "TB", "PB", "EB"];
		let unit = 0;
		for (; n >= 1023.95 && unit < 6; unit++)
			n /= 1024;
		return (unit ? n.toFixed(1) : n) + " " + units[unit];
	}

	function duration(ns) {
		if (ns < 1e3)
			return ns + " ns";
		if (ns < 1e6)
			return +(ns / 1e3).toPrecision(4) + " us";
		if (ns < 1e9)
			return +(ns / 1e6).toPrecision(4) + " ms";
		return (ns / 1e9).toFixed(1) + " s";
	}

	/* Tenths of a percent that add up to 100.0 (largest remainders). */
	function tenths(counts) {
		const sum = counts.reduce((a, b) => a + b, 0);
		if (!sum)
			return counts.map(() => 0);
		const exact = counts.map((c) => (c * 1000) / sum);
		const out = exact.map(Math.floor);
		const order = exact.map((x, i) => [x - out[i], i]).sort((a, b) => b[0] - a[0]);
		let left = 1000 - out.reduce((a, b) => a + b, 0);
		for (let i = 0; left > 0; i++, left--)
			out[order[i][1]]++;
		return out;
	}

	/* ---- the tables of the profile ---- */

	const strings = data.strings.map(visible);
	const methodOf = (frame) => data.frames[3 * frame];
	const lineOf = (frame) => data.frames[3 * frame + 2] - 1;
	const parentOf = (path) => data.paths[2 * path];
	const frameOf = (path) => data.paths[2 * path + 1];
	const className = (method) => strings[data.methods[4 * method]];
	const methodName = (method) => className(method) + "." + strings[data.methods[4 * method + 1]];

	function place(method, line) {
		const file = strings[data.methods[4 * method + 3]] || "Unknown Source";
		return file + (line >= 0 ? ":" + line : "");
	}

	/* For lists: the class without its package. */
	const frameShort = (frame) =>
		methodName(methodOf(frame)).replace(/^.*\.(?=[^.]*\.[^.]*$)/, "") +
		" (" + place(methodOf(frame), lineOf(frame)) + ")";

	const frameText = (frame) =>
		methodName(methodOf(frame)) + " (" + place(methodOf(frame), lineOf(frame)) + ")";

	/* Frames of a path, leaf first. */
	function framesOf(path) {
		const frames = [];
		for (; path > 0; path = parentOf(path))
			frames.push(frameOf(path));
		return frames;
	}

	const siteRow = (s, index, isClass) => ({
		index,
		isClass,
		id: (isClass ? "class-" : "") + s[0],
		className: strings[s[1]],
		path: s[2],
		allocations: s[3],
		bytes: s[4],
		samples: s[5],
		accesses: s[6],
		fields: s[7] || [],
		metrics: s[8] || [],
		split: s[9] || null,
		at: s[2] > 0 ? frameShort(frameOf(s[2])) : isClass ? "(all that are not tracked)" : "(path unknown)",
		text: null,
	});
	const sites = [...data.sites.map((s, i) => siteRow(s, i, false)),
		...data.classes.map((s, i) => siteRow(s, data.sites.length + i, true))];

	/* What a search looks in; made when a site is first searched. */
	function siteText(site) {
		if (site.text === null) {
			const frames = new Set(framesOf(site.path));
			for (let i = 0; i < site.accesses.length; i += 2)
				if (site.accesses[i] > 0)
					frames.add(frameOf(site.accesses[i]));
			site.text = [site.className, site.id, ...Array.from(frames, frameText)]
				.join("\n")
				.toLowerCase();
		}
		return site.text;
	}

	const classes = (column) =>
		(column.number ? "number" : "") + (column.extra ? " extra" : "") || null;

	/* ---- a table that draws only the rows in sight ---- */

	class Table {
		constructor(host, label, columns, rows, options) {
			this.columns = columns;
			this.all = rows;
			this.rows = rows;
			this.options = options;
			this.sort = options.sort;
			this.down = true;
			this.chosen = null;
			this.host = host;
			this.body = el("tbody");
			this.heads = columns.map((c, i) =>
				el("th", { scope: "col", class: classes(c),
					style: c.width ? "width:" + c.width : null },
					el("button", { text: c.title, tabindex: "-1", title: c.help || null,
						onclick: () => this.sortBy(i) })));
			host.append(el("table", { "aria-label": label },
				el("thead", null, el("tr", null, ...this.heads)), this.body));
			host.tabIndex = 0;
			host.addEventListener("scroll", () => this.draw(false));
			host.addEventListener("keydown", (event) => this.key(event));
			new ResizeObserver(() => this.draw(false)).observe(host);
			this.order();
		}

		sortBy(i) {
			this.down = this.sort === i ? !this.down : !!this.columns[i].number;
			this.sort = i;
			this.order();
		}

		order() {
			const value = this.columns[this.sort].value;
			const sign = this.down ? -1 : 1;
			this.rows = this.rows.slice().sort((a, b) => {
				const x = value(a), y = value(b);
				return x < y ? -sign : x > y ? sign : a.index - b.index;
			});
			this.heads.forEach((h, i) => h.setAttribute("aria-sort",
				i !== this.sort ? "none" : this.down ? "descending" : "ascending"));
			this.host.scrollTop = 0;
			this.draw(true);
		}

		filter(test) {
			this.rows = test ? this.all.filter(test) : this.all;
			this.order();
		}

		draw(force) {
			const height = this.host.clientHeight || 600;
			const first = Math.max(0, Math.floor(this.host.scrollTop / ROW_PX) - 10);
			const end = Math.min(this.rows.length, first + Math.ceil(height / ROW_PX) + 20);
			if (!force && first === this.first && end === this.end)
				return;
			this.first = first;
			this.end = end;
			const gap = (rows) => el("tr", { class: "gap", "aria-hidden": true },
				el("td", { colspan: this.columns.length, style: "height:" + rows * ROW_PX + "px" }));
			const drawn = this.rows.slice(first, end).map((row) => this.drawRow(row));
			this.body.replaceChildren(gap(first), ...drawn, gap(this.rows.length - end));
			if (!this.rows.length)
				this.body.replaceChildren(el("tr", null,
					el("td", { class: "empty", colspan: this.columns.length, text: "Nothing found." })));
		}

		drawRow(row) {
			return el("tr", { class: "row", "aria-selected": String(row === this.chosen),
				onclick: () => this.choose(row) },
				...this.columns.map((c) => {
					const td = el("td", { class: classes(c) });
					c.draw(td, row);
					return td;
				}));
		}

		choose(row) {
			this.chosen = row;
			this.draw(true);
			if (this.options.choose)
				this.options.choose(row);
		}

		show(row) {
			const at = this.rows.indexOf(row);
			if (at < 0)
				return;
			const head = this.host.querySelector("thead").offsetHeight;
			const top = at * ROW_PX, bottom = top + ROW_PX + head;
			if (top < this.host.scrollTop)
				this.host.scrollTop = top;
			else if (bottom > this.host.scrollTop + this.host.clientHeight)
				this.host.scrollTop = bottom - this.host.clientHeight;
			this.choose(row);
		}

		key(event) {
			const page = Math.max(1, Math.floor(this.host.clientHeight / ROW_PX) - 2);
			const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page,
				Home: -Infinity, End: Infinity };
			const step = steps[event.key];
			if (step === undefined || !this.rows.length || event.ctrlKey || event.altKey)
				return;
			event.preventDefault();
			const at = this.rows.indexOf(this.chosen);
			const next = at < 0 ? 0 : Math.min(this.rows.length - 1, Math.max(0, at + step));
			this.show(this.rows[next]);
		}
	}

	function named(td, name, at) {
		td.title = name + "\n" + at;
		td.append(el("span", { class: "name", text: name }), el("span", { class: "at", text: at }));
	}

	function metered(td, samples) {
		td.classList.add("meter");
		td.style.setProperty("--part", share(samples));
		td.textContent = percent(samples);
	}

	function miniBar(counts) {
		const sum = counts.reduce((a, b) => a + b, 0) || 1;
		return el("div", { class: "mini" }, ...counts.map((c, i) =>
			el("i", { style: "width:" + (100 * c) / sum + "%;background:var(--b" + i + ")",
				title: bucketText[buckets[i]] + ": " + number(c) })));
	}

	/* ---- one object site ---- */

	function sourceOf(frame) {
		const found = data.source[frame];
		if (!found)
			return null;
		return el("div", { class: "source" }, ...found[1].map((text, i) =>
			el("span", { class: found[0] + i === lineOf(frame) ? "hit" : null,
				text: String(found[0] + i).padStart(5) + "  " + visible(text.replace(/\t/g, "    ")) })));
	}

	function frameLine(frame) {
		return [methodName(methodOf(frame)) + " ",
			el("span", { class: "where", text: "(" + place(methodOf(frame), lineOf(frame)) + ")" })];
	}

	function allocationPath(site) {
		const frames = framesOf(site.path);
		const list = el("ul", { class: "path" }, ...frames.map((frame, i) => {
			const source = sourceOf(frame);
			if (!source)
				return el("li", null, ...frameLine(frame));
			return el("li", null, el("details", { open: i === 0 },
				el("summary", null, ...frameLine(frame)), source));
		}));
		if (!frames.length)
			list.append(el("li", { text: "(path unknown)" }));
		return el("section", { class: "alloc" }, el("h3", { text: "Allocated at" }), list);
	}

	/* Paths as a tree of frames: {frame, samples, ends, children}. */
	function buildTree(accesses, rootFirst) {
		const top = { children: new Map(), samples: 0, ends: 0 };
		for (let i = 0; i < accesses.length; i += 2) {
			const frames = framesOf(accesses[i]);
			if (rootFirst)
				frames.reverse();
			let node = top;
			node.samples += accesses[i + 1];
			for (const frame of frames) {
				let child = node.children.get(frame);
				if (!child) {
					child = { frame, children: new Map(), samples: 0, ends: 0 };
					node.children.set(frame, child);
				}
				child.samples += accesses[i + 1];
				node = child;
			}
			node.ends += accesses[i + 1];
		}
		return top;
	}

	const sorted = (node) => [...node.children.values()].sort((a, b) => b.samples - a.samples);

	function treeLabel(node, whole) {
		const part = whole ? ((100 * node.samples) / whole).toFixed(1) : "0.0";
		return [el("span", { class: "share", text: percent(node.samples),
			title: number(node.samples) + " samples, " + part + "% of this object's" }),
			...frameLine(node.frame)];
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
				el("span", { class: "share", text: percent(top.ends) }), "(path unknown)")));
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

	function fact(label, value) {
		return el("span", null, el("b", { text: value }), " " + label);
	}

	function showSite(site) {
		const host = id("view-objects").querySelector(".detail");
		host.replaceChildren(
			el("h2", { text: site.className || "(class unknown)" }),
			el("div", { class: "numbers" }, fact("of all samples", percent(site.samples)),
				fact("samples", number(site.samples)), ...(site.isClass ?
					[el("span", { text: "objects that are not tracked one by one" })] :
					[fact("allocations", number(site.allocations)), fact("", bytes(site.bytes))]),
				el("span", { text: "id " + site.id })),
			...(site.isClass ? detail.splitSection(site) : [allocationPath(site)]),
			...detail.fieldsSection(site), ...detail.metricsSection(site), accessTree(site));
		host.scrollTop = 0;
		if (location.hash !== "#" + site.id)
			history.replaceState(null, "", "#" + site.id);
	}

	const detail = objectDetail({ percent, bytes, strings, framesOf, frameLine, frameShort, frameOf });
	const numa = numaView({ bytes, framesOf, frameLine, frameShort, frameOf });

	/* ---- code ---- */

	const codeRows = (rows, isMethod) => rows.map((r, index) => ({
		index, isMethod, method: r[0], line: r[1] - 1, samples: r[2], object: r[3], total: r[4],
		name: methodName(r[0]), at: place(r[0], r[1] - 1),
	}));

	function touches(row, path) {
		const frame = frameOf(path);
		return methodOf(frame) === row.method && (row.isMethod || lineOf(frame) === row.line);
	}

	function showCode(row) {
		const host = id("view-code").querySelector(".detail");
		const found = [];
		for (const site of sites) {
			let samples = 0;
			for (let i = 0; i < site.accesses.length; i += 2)
				if (site.accesses[i] > 0 && touches(row, site.accesses[i]))
					samples += site.accesses[i + 1];
			if (samples)
				found.push([samples, site]);
		}
		found.sort((a, b) => b[0] - a[0]);
		host.replaceChildren(el("h2", { text: row.name }),
			el("div", { class: "numbers" }, fact("", row.at), fact("of all samples", percent(row.samples)),
				fact("samples", number(row.samples)), fact("of them in tracked objects", number(row.object))));
		const frame = Object.keys(data.source).find((f) =>
			methodOf(+f) === row.method && lineOf(+f) === row.line);
		if (!row.isMethod && frame !== undefined)
			host.append(sourceOf(+frame));
		const list = el("ul", { class: "tree" }, ...found.map(([samples, site]) =>
			el("li", { class: "leaf" }, el("span", { class: "share", text: percent(samples) }),
				el("button", { class: "link", text: (site.className || "(class unknown)") + " from " + site.at,
					onclick: () => openSite(site) }))));
		if (!found.length)
			list.append(el("li", { class: "leaf", text: "none that is shown" }));
		host.append(el("section", { class: "access" }, el("h3", { text: "Objects touched here" }), list));
	}

	/* ---- the page ---- */

	const shareColumn = { title: "Share", number: true, width: "76px", help: "part of all samples",
		value: (r) => r.samples, draw: (td, r) => metered(td, r.samples) };
	const samplesColumn = { title: "Samples", number: true, extra: true, width: "84px", value: (r) => r.samples,
		draw: (td, r) => { td.textContent = number(r.samples); } };
	const allocationColumns = [
		{ title: "Allocations", number: true, extra: true, width: "100px", value: (r) => r.allocations,
			draw: (td, r) => { td.textContent = r.isClass ? "" : number(r.allocations); } },
		{ title: "Bytes", number: true, width: "86px", value: (r) => r.bytes,
			draw: (td, r) => { td.textContent = r.isClass ? "" : bytes(r.bytes); } },
	];

	const objects = new Table(id("view-objects").querySelector(".list"), "Object sites",
		[shareColumn,
			{ title: "Class, allocated at", value: (r) => r.className,
				draw: (td, r) => named(td, r.className || "(class unknown)", r.at) },
			samplesColumn, ...allocationColumns],
		sites, { sort: 0, choose: showSite });

	const code = new Table(id("view-code").querySelector(".list"), "Code",
		[shareColumn,
			{ title: "In calls", number: true, width: "78px", help: "share with the methods it calls",
				value: (r) => r.total, draw: (td, r) => { td.textContent = r.isMethod ? percent(r.total) : ""; } },
			{ title: "Objects", number: true, width: "78px", help: "part of its samples that is in tracked objects",
				value: (r) => (r.samples ? r.object / r.samples : 0),
				draw: (td, r) => { td.textContent = r.samples ? ((100 * r.object) / r.samples).toFixed(1) + "%" : ""; } },
			{ title: "Kind", extra: true, width: "84px", value: (r) => (r.isMethod ? 1 : 0),
				draw: (td, r) => { td.textContent = r.isMethod ? "method" : "line"; } },
			{ title: "Method", value: (r) => r.name, draw: (td, r) => named(td, r.name, r.at) }],
		[...codeRows(data.lines, false), ...codeRows(data.code, true)], { sort: 0, choose: showCode });

	const threads = new Table(id("view-threads").querySelector(".list"), "Threads",
		[shareColumn,
			{ title: "Name", value: (r) => r.name, draw: (td, r) => { td.textContent = r.name; td.title = r.name; } },
			samplesColumn, ...allocationColumns,
			{ title: "Thread ID", number: true, extra: true, width: "96px", value: (r) => r.tid,
				draw: (td, r) => { td.textContent = r.tid; } },
			{ title: "Process", number: true, extra: true, width: "90px", value: (r) => r.pid,
				draw: (td, r) => { td.textContent = r.pid; } },
			{ title: "Where its samples are", width: "180px", value: (r) => r.buckets[0],
				draw: (td, r) => td.append(miniBar(r.buckets)) }],
		data.threads.map((t, index) => ({
			index, pid: (data.processes[t[0]] || {}).pid, tid: t[1], name: strings[t[2]], samples: t[3],
			allocations: t[4], bytes: t[5], buckets: t[6],
		})), { sort: 0 });

	const sharing = new Table(id("view-sharing").querySelector(".list"), "False sharing",
		[shareColumn,
			{ title: "Class, part", value: (r) => r.name, draw: (td, r) => named(td, r.name, r.at) },
			{ title: "Certainty", width: "96px", value: (r) => (r.certain ? 0 : 1),
				draw: (td, r) => { td.textContent = r.certain ? "finding" : "suspicion"; } },
			samplesColumn,
			{ title: "Lines", number: true, extra: true, width: "70px", value: (r) => r.lines,
				draw: (td, r) => { td.textContent = number(r.lines); } }],
		detail.sharing,
		{ sort: 0, choose: (row) => detail.showSharing(id("view-sharing").querySelector(".detail"), row) });

	const small = new Table(id("view-small").querySelector(".list"), "Small objects, estimated",
		[{ title: "Class, allocated at", value: (r) => r.className,
			draw: (td, r) => named(td, r.className || "(class unknown)", r.at) },
			{ title: "~Objects", number: true, width: "110px", value: (r) => r.objects,
				draw: (td, r) => { td.textContent = number(Math.round(r.objects)); } },
			{ title: "~Bytes", number: true, width: "90px", value: (r) => r.bytes,
				draw: (td, r) => { td.textContent = bytes(Math.round(r.bytes)); } },
			{ title: "~Outlive 1", number: true, extra: true, width: "96px", help: "part that outlives a collection",
				value: (r) => (r.objects ? r.live[0] / r.objects : 0),
				draw: (td, r) => { td.textContent = r.objects ? ((100 * r.live[0]) / r.objects).toFixed(1) + "%" : ""; } }],
		detail.estimates,
		{ sort: 2, choose: (row) => detail.showEstimate(id("view-small").querySelector(".detail"), row) });

	const nodes = new Table(id("view-numa").querySelector(".list"), "Object sites on NUMA nodes",
		[{ title: "Remote %", number: true, width: "98px", help: "part of the accesses with both nodes known",
			value: (r) => (r.share === null ? -1 : r.share),
			draw: (td, r) => { td.textContent = r.share === null ? "?" : numa.hundred(r.share); } },
			{ title: "Class, allocated at", value: (r) => r.name, draw: (td, r) => named(td, r.name, r.at) },
			{ title: "Remote", number: true, width: "88px", help: "remote samples", value: (r) => r.remote,
				draw: (td, r) => { td.textContent = number(r.remote); } },
			samplesColumn,
			{ title: "Diagnosis", extra: true, width: "156px", value: (r) => r.pattern,
				draw: (td, r) => { td.textContent = r.pattern; td.title = r.pattern; } }],
		numa.rows, { sort: 2, choose: (row) => numa.show(id("view-numa").querySelector(".detail"), row) });

	const views = {
		objects: { table: objects, noun: "sites", text: siteText },
		code: { table: code, noun: "rows", text: (r) => (r.name + "\n" + r.at).toLowerCase() },
		numa: { table: nodes, noun: "sites", text: (r) => r.text },
		sharing: { table: sharing, noun: "findings", text: (r) => (r.name + "\n" + r.at).toLowerCase() },
		small: { table: small, noun: "sites", text: (r) => (r.className + "\n" + r.at).toLowerCase() },
		threads: { table: threads, noun: "threads", text: (r) => (r.name + "\n" + r.tid).toLowerCase() },
		about: {},
	};
	let current = "objects";

	function search() {
		const words = id("search").value.toLowerCase().split(/\s+/).filter(Boolean);
		const view = views[current];
		if (!view.table) {
			id("found").textContent = "";
			return;
		}
		view.table.filter(words.length ? (row) => words.every((w) => view.text(row).includes(w)) : null);
		const of = current === "objects" ? data.sites_total + data.classes_total : view.table.all.length;
		id("found").textContent = number(view.table.rows.length) +
			(view.table.rows.length === of ? " " : " of " + number(of) + " ") + view.noun;
	}

	function openView(name) {
		current = name;
		for (const view of Object.keys(views)) {
			const on = view === name, tab = id("tab-" + view);
			tab.setAttribute("aria-selected", String(on));
			tab.tabIndex = on ? 0 : -1;
			id("view-" + view).hidden = !on;
		}
		search();
	}

	function openSite(site) {
		id("search").value = "";
		openView("objects");
		objects.show(site);
		objects.host.focus();
	}

	function head() {
		const p = data.program, e = data.engine;
		const more = data.processes.length > 1 ? " and " + (data.processes.length - 1) + " more" : "";
		id("command").textContent = visible(p.command) + more;
		id("command").title = visible(p.command);
		document.title = "Locus: " + visible(p.command);
		const interval = e.unit.startsWith("ns ") ? duration(e.interval_ns) + e.unit.slice(2) :
			number(e.interval_ns) + " " + e.unit;
		id("facts").textContent = ["pid " + p.pid, (/^\d/.test(p.jdk) ? "JDK " : "") + p.jdk, p.gc, number(total) + " samples",
			"engine " + e.name + (e.event ? " (" + e.event + ")" : "") +
			(e.interval_ns ? ", one sample every " + interval : ""),
			...(e.reason ? [e.reason] : []),
			...(data.unexplained.java_code ? ["unexplained (address or object unknown): " +
				(100 * data.unexplained.share).toFixed(1) + "% of samples in Java code"] : []),
			...(data.numa.state === "one-node" ? [data.numa.reason] : []),
			...(data.metrics ? [detail.metricText(data.metrics)] : []),
			...(data.spans ? [number(data.spans.streams) + " streams and " + number(data.spans.tasks) +
				" tasks were recorded too: locus spans shows them"] : [])].map(visible).join(" \u00b7 ");
		const counts = buckets.map((b) => data.samples[b]);
		const parts = tenths(counts);
		const text = (i) => (parts[i] / 10).toFixed(1) + "%";
		id("bar").setAttribute("aria-label", buckets.map((b, i) => bucketText[b] + " " + text(i)).join(", "));
		buckets.forEach((b, i) => {
			if (!counts[i])
				return;
			id("bar").append(el("i", { style: "flex:" + counts[i] + " 0 0;background:var(--b" + i + ")",
				title: bucketText[b] + ": " + number(counts[i]) + ", " + text(i) }));
		});
		id("legend").append(...buckets.map((b, i) => el("li", { title: number(counts[i]) + " samples" },
			el("i", { style: "background:var(--b" + i + ")" }), bucketText[b] + " ", el("b", { text: text(i) }))));
	}

	function notes() {
		const out = [];
		const open = data.processes.filter((p) => !p.complete).length;
		if (open)
			out.push("The program was still running, or was killed" +
				(data.processes.length > 1 ? " (" + open + " of " + data.processes.length + " processes)" : "") +
				": what came after the last block is missing.");
		if (data.damage.blocks || data.damage.bytes)
			out.push("The profile is damaged: " + number(data.damage.blocks) + " blocks lost, " +
				number(data.damage.bytes) + " bytes skipped. All numbers are of the rest.");
		if (data.damage.skipped_sections)
			out.push(number(data.damage.skipped_sections) + " sections of a newer Locus were skipped.");
		if (data.thread_filter)
			out.push("Only the threads that --thread chose are counted.");
		if (data.numa.state === "off" || (data.numa.state === "on" && data.numa.error))
			out.push("NUMA nodes: " + visible(data.numa.reason || data.numa.error));
		if (data.numa.sites.length < data.numa.sites_total)
			out.push("The first " + number(data.numa.sites.length) + " of " + number(data.numa.sites_total) +
				" sites are on the NUMA page; locus numa has all.");
		if (data.sites.length < data.sites_total)
			out.push("The first " + number(data.sites.length) + " of " + number(data.sites_total) +
				" sites are here (--top).");
		if (data.engines.length > 1)
			out.push("There are other engines too (--engine): " + data.engines.map((e, i) => [e, i + 1])
				.filter(([e]) => !e.shown)
				.map(([e, n]) => n + " " + visible(e.name) + (e.event ? " (" + visible(e.event) + ")" : "") +
					", " + number(e.samples.total) + " samples").join("; ") + ".");
		id("notes").append(...out.map((text) => el("li", { text })));
	}

	function list(host, title, pairs) {
		host.append(el("h2", { text: title }),
			el("dl", null, ...pairs.flatMap(([k, v]) =>
				[el("dt", { text: visible(String(k)) }), el("dd", { text: visible(String(v)) })])));
	}

	function about() {
		const host = id("view-about");
		data.engines.forEach((e, i) => list(host, "Engine " + (i + 1) + (e.shown ? ", shown here" : ""),
			[["name", e.name], ["event", e.event], ["one sample every", number(e.interval_ns) + " " + e.unit],
				["samples", number(e.samples.total)], ...(e.reason ? [["why", e.reason]] : []),
				...(e.counted ? [["counted exactly", number(e.counted)]] : [])]));
		if (data.numa.reason)
			list(host, "NUMA nodes", [["", data.numa.reason]]);
		list(host, "How addresses were found (samples)", Object.entries(data.details.how));
		list(host, "Where the code was (samples)", Object.entries(data.details.where));
		data.processes.slice(0, 100).forEach((p) => {
			list(host, "Process " + p.pid, [["command", p.command], ["jdk", p.jdk], ["gc", p.gc],
				["started", p.start_wall_ns ? new Date(p.start_wall_ns / 1e6).toISOString() : ""],
				["complete", p.complete], ...Object.entries(p.options)]);
			list(host, "Counters of process " + p.pid, Object.entries(p.counters));
		});
	}

	function keys(event) {
		const typing = event.target === id("search");
		if (event.key === "/" && !typing) {
			event.preventDefault();
			id("search").focus();
			id("search").select();
		} else if (typing && (event.key === "ArrowDown" || event.key === "Enter") && views[current].table) {
			event.preventDefault();
			views[current].table.host.focus();
			if (views[current].table.rows.length)
				views[current].table.show(views[current].table.rows[0]);
		} else if (typing && event.key === "Escape") {
			id("search").value = "";
			search();
		} else if (event.target.getAttribute("role") === "tab" &&
			(event.key === "ArrowLeft" || event.key === "ArrowRight")) {
			const names = Object.keys(views).filter((name) => !id("tab-" + name).hidden);
			const step = event.key === "ArrowLeft" ? names.length - 1 : 1;
			openView(names[(names.indexOf(current) + step) % names.length]);
			id("tab-" + current).focus();
		}
	}

	head();
	notes();
	about();
	id("tab-numa").hidden = !numa.on;
	id("tab-sharing").hidden = !detail.sharing.length;
	id("tab-small").hidden = !detail.estimates.length;
	for (const row of nodes.rows.length > 1 ? nodes.rows.slice(1, 2) : nodes.rows)
		nodes.choose(row); /* "all accesses" comes first, then the site with most remote samples */
	for (const row of detail.sharing.slice(0, 1))
		sharing.choose(row);
	for (const row of detail.estimates.slice(0, 1))
		small.choose(row);
	for (const name of Object.keys(views))
		id("tab-" + name).addEventListener("click", () => openView(name));
	let waiting = 0;
	id("search").addEventListener("input", () => {
		clearTimeout(waiting);
		waiting = setTimeout(search, 80);
	});
	document.addEventListener("keydown", keys);
	openView("objects");
	const wanted = sites.find((s) => "#" + s.id === location.hash);
	if (wanted)
		objects.show(wanted);
	else if (objects.rows.length)
		objects.choose(objects.rows[0]);
	document.documentElement.dataset.ready = "true";
})();
