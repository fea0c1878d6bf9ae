"use strict";
/* The views of code and of threads: their lists, and the details of a chosen line or method. */
page.add((shared) => {
	const { el, id, number, percent, bytes, data, strings, methodOf, lineOf, frameOf, parentOf, methodName, place, fact, chosen, lens,
		sums, allAccesses, accessesOf, drawFlame, metrics, ListTable, everything } = shared;

	const share = (n) => (sums().total && !shared.allocates() ? n / sums().total : sums().samples ? n / sums().samples : 0);
	const unit = () => metrics[shared.allocates() ? "samples" : chosen.metric].unit;

	/* `columns`: room for so many characters. Texts are cut where they say least. */
	function named(td, name, at, columns = Infinity) {
		td.title = name + "\n" + at;
		td.append(el("span", { class: "name", text: shared.fit(name, columns) }), el("span", { class: "at", text: shared.fit(at, columns * 1.15) }));
	}

	function metered(td, samples) {
		td.classList.add("meter");
		td.style.setProperty("--part", share(samples));
		td.textContent = percent(share(samples));
	}

	/* ---- rows ---- */

	const row = (method, line, isMethod, samples, inObjects, total) => ({ method, line, isMethod, samples, inObjects, total,
		name: methodName(method), at: place(method, line) });

	/* The data hold columns. */
	const ofData = (code, isMethod) => code.method.map((method, i) =>
		row(method, code.line[i], isMethod, code.samples[i], code.in_objects[i], code.total[i]));

	/* Restricted to the choice. */
	function ofChosen() {
		const lines = new Map(), methods = new Map(), inObjects = new Map(allAccesses(true));
		const put = (map, key, method, line, isMethod) => {
			if (!map.has(key))
				map.set(key, row(method, line, isMethod, 0, 0, 0));
			return map.get(key);
		};
		for (const [path, n] of allAccesses()) {
			if (path <= 0)
				continue;
			const frame = frameOf(path), method = methodOf(frame), seen = new Set();
			for (const r of [put(lines, method + ":" + lineOf(frame), method, lineOf(frame), false), put(methods, method, method, -1, true)]) {
				r.samples += n;
				r.inObjects += inObjects.get(path) || 0;
			}
			for (let p = path; p > 0; p = parentOf(p))
				seen.add(methodOf(frameOf(p)));
			for (const m of seen)
				put(methods, m, m, -1, true).total += n;
		}
		return [...lines.values(), ...methods.values()];
	}

	const rows = () => (everything() && (chosen.metric === "samples" || shared.allocates()) ?
		[...ofData(lens().lines, false), ...ofData(lens().code, true)] : ofChosen()).sort((a, b) => b.samples - a.samples);

	/* ---- the chosen row's details ---- */

	function touches(r, path) {
		const frame = frameOf(path);
		return methodOf(frame) === r.method && (r.isMethod || lineOf(frame) === r.line);
	}

	function objectsOf(r, openRow) {
		const found = [];
		for (const object of shared.rows) {
			let n = 0;
			for (const [path, value] of accessesOf(object))
				if (path > 0 && touches(r, path))
					n += value;
			if (n > 0)
				found.push([n, object]);
		}
		found.sort((a, b) => b[0] - a[0]);
		return el("section", { class: "access" }, el("h3", { text: "Objects touched here" }),
			el("ul", { class: "tree" }, ...(found.length ? found.map(([n, object]) => el("li", { class: "leaf" },
				el("span", { class: "share", text: percent(share(n)) }), el("button", { type: "button", class: "link", text: shared.label(object, false) +
					(shared.origin(object) ? " from " + shared.origin(object) : ""), onclick: () => openRow(object) }))) :
				[el("li", { class: "leaf", text: "none" })])));
	}

	function showCode(host, r, view, openRow) {
		const whole = allAccesses();
		const options = { total: shared.allocates() ? sums().samples : sums().total, unit: (n) => number(Math.round(n)) + " " + unit(),
			search: view.words, rootFirst: view.codeRootFirst, onturn: (first) => {
				view.codeRootFirst = first;
			} };
		host.replaceChildren();
		if (!r) {
			host.append(el("h2", { text: "All code" }));
			view.flame = drawFlame(host, { ...options, paths: whole, label: "All call paths", hint: "width: " + unit() + "; click: zoom" });
			return;
		}
		const range = r.isMethod ? null : shared.rangeOf(r.method, r.line);
		host.append(el("h2", { text: r.name }),
			el("div", { class: "numbers" }, fact("", r.at), fact("of all", percent(share(r.samples))), fact(unit(), number(Math.round(r.samples))),
				...(r.isMethod ? [fact("with the methods it calls", percent(share(r.total)))] : [])));
		if (range) {
			const from = Math.max(range.first, r.line - 4), to = Math.min(range.first + range.lines.length - 1, r.line + 4), out = [];
			for (let at = from; at <= to; at++)
				out.push(el("span", { class: at === r.line ? "hit" : null, text: String(at).padStart(6) + "  " + shared.sourceText(range.lines[at - range.first]) }));
			host.append(el("div", { class: "source" }, ...out));
		}
		host.append(objectsOf(r, openRow), el("h3", { text: "Called by" }));
		view.flame = drawFlame(host, { ...options, rootFirst: false, onturn: null, paths: whole.filter(([path]) => path > 0 && touches(r, path)),
			label: "Call paths to " + r.name, hint: "top: the line; below: who called it" });
		host.scrollTop = 0;
	}

	/* ---- tables ---- */

	const shareColumn = { title: "Share", number: true, width: "76px", help: "part of all samples",
		value: (r) => r.samples, draw: (td, r) => metered(td, r.samples) };
	const samplesColumn = { title: "Samples", number: true, extra: true, width: "84px", value: (r) => r.samples,
		draw: (td, r) => { td.textContent = number(Math.round(r.samples)); } };

	const codeTable = (choose) => new ListTable(id("view-code").querySelector(".list"), "Code",
		[shareColumn,
			{ title: "In calls", number: true, width: "78px", help: "share with the methods it calls",
				value: (r) => r.total, draw: (td, r) => { td.textContent = r.isMethod ? percent(share(r.total)) : ""; } },
			{ title: "Objects", number: true, width: "78px", help: "part of its samples that is in objects",
				value: (r) => (r.samples ? r.inObjects / r.samples : 0),
				draw: (td, r) => { td.textContent = r.samples ? percent(r.inObjects / r.samples) : ""; } },
			{ title: "Kind", extra: true, width: "84px", value: (r) => (r.isMethod ? 1 : 0),
				draw: (td, r) => { td.textContent = r.isMethod ? "method" : "line"; } },
			{ title: "Method", value: (r) => r.name, draw: (td, r) => named(td, r.name, r.at) }],
		rows(), { sort: 0, choose });

	/* Over the whole time: the profile has only sums for each thread. */
	const threadShare = (n) => (data.samples.total ? n / data.samples.total : 0);
	const threadTable = (choose) => new ListTable(id("view-threads").querySelector(".list"), "Threads",
		[{ ...shareColumn, draw: (td, r) => {
			td.classList.add("meter");
			td.style.setProperty("--part", threadShare(r.samples));
			td.textContent = percent(threadShare(r.samples));
		} },
		{ title: "Name", value: (r) => r.name, draw: (td, r) => { td.textContent = r.name; td.title = r.name; } },
		samplesColumn,
		{ title: "Allocations", number: true, extra: true, width: "100px", value: (r) => r.allocations,
			draw: (td, r) => { td.textContent = number(r.allocations); } },
		{ title: "Bytes", number: true, width: "86px", value: (r) => r.bytes, draw: (td, r) => { td.textContent = bytes(r.bytes); } },
		{ title: "Thread ID", number: true, extra: true, width: "96px", value: (r) => r.tid, draw: (td, r) => { td.textContent = r.tid; } },
		{ title: "Process", number: true, extra: true, width: "90px", value: (r) => r.pid, draw: (td, r) => { td.textContent = r.pid; } },
		{ title: "Its samples by kind", width: "180px", value: (r) => r.buckets[0], draw: (td, r) => td.append(shared.miniBar(r.buckets)) }],
		data.threads.map((t, at) => ({ ...t, at, pid: (data.processes[t.process] || {}).pid, name: strings[t.name] })), { sort: 0, choose });

	const sharingTable = (choose) => new ListTable(id("view-sharing").querySelector(".list"), "False sharing",
		[{ ...shareColumn, draw: (td, r) => { td.textContent = percent(threadShare(r.samples)); } },
			{ title: "Class, part", value: (r) => r.name, draw: (td, r) => named(td, r.name, r.at, 28) },
			{ title: "Certainty", width: "96px", value: (r) => (r.certain ? 0 : 1),
				draw: (td, r) => { td.textContent = r.certain ? "finding" : "suspicion"; } },
			samplesColumn,
			{ title: "Lines", number: true, extra: true, width: "70px", value: (r) => r.lines,
				draw: (td, r) => { td.textContent = number(r.lines); } }],
		shared.sharingRows, { sort: 0, choose });

	const numaTable = (choose) => new ListTable(id("view-numa").querySelector(".list"), "Object sites on NUMA nodes",
		[{ title: "Remote %", number: true, width: "90px", help: "part of the accesses with known nodes",
			value: (r) => (r.share === null ? -1 : r.share),
			draw: (td, r) => { td.textContent = r.share === null ? "?" : shared.hundred(r.share); } },
			{ title: "Class, allocated at", value: (r) => r.name, draw: (td, r) => named(td, r.name, r.at, 25) },
			{ title: "Remote", number: true, extra: true, width: "78px", help: "remote samples", value: (r) => r.remote,
				draw: (td, r) => { td.textContent = number(r.remote); } },
			samplesColumn,
			{ title: "Diagnosis", extra: true, width: "126px", value: (r) => r.pattern,
				draw: (td, r) => { td.textContent = r.pattern; td.title = r.pattern; } }],
		shared.numaRows, { sort: 2, choose });

	Object.assign(shared, { codeTable, codeRows: rows, showCode, threadTable, sharingTable, numaTable });
});
