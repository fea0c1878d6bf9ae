"use strict";
/*
 * The page on objects: a list and what is chosen of it for each of its views, the search, the keys. What
 * the views show is in the objects_ scripts.
 */
(() => {
	const { el, id, number, fact, percent, bytes, data } = common;
	const { ListTable } = tables;
	const { strings, methodOf, lineOf, frameOf, methodName, place, sourceOf } = profilePaths;
	const { share } = objectDetail;

	function named(td, name, at) {
		td.title = name + "\n" + at;
		td.append(el("span", { class: "name", text: name }), el("span", { class: "at", text: at }));
	}

	function metered(td, samples) {
		td.classList.add("meter");
		td.style.setProperty("--part", share(samples));
		td.textContent = percent(share(samples));
	}

	/* ---- code ---- */

	/* The data hold columns. */
	const codeRows = (code, isMethod) => code.method.map((method, rank) => ({
		rank, isMethod, method, line: code.line[rank], samples: code.samples[rank], object: code.object[rank],
		total: code.total[rank], name: methodName(method), at: place(method, code.line[rank]),
	}));

	/* Of equal samples a line stands beside its method: both are sorted, so their ranks are close. */
	const allCode = [...codeRows(data.lines, false), ...codeRows(data.code, true)].sort((a, b) => a.rank - b.rank);

	function touches(row, path) {
		const frame = frameOf(path);
		return methodOf(frame) === row.method && (row.isMethod || lineOf(frame) === row.line);
	}

	function showCode(row) {
		const host = id("view-code").querySelector(".detail");
		const found = [];
		for (const site of objectSites.rows) {
			let samples = 0;
			site.accesses.path.forEach((path, i) => {
				if (path > 0 && touches(row, path))
					samples += site.accesses.samples[i];
			});
			if (samples)
				found.push([samples, site]);
		}
		found.sort((a, b) => b[0] - a[0]);
		host.replaceChildren(el("h2", { text: row.name }),
			el("div", { class: "numbers" }, fact("", row.at), fact("of all samples", percent(share(row.samples))),
				fact("samples", number(row.samples)), fact("of them in objects whose allocation is known", number(row.object))));
		const frame = Object.keys(data.source).find((f) =>
			methodOf(+f) === row.method && lineOf(+f) === row.line);
		if (!row.isMethod && frame !== undefined)
			host.append(sourceOf(+frame));
		const list = el("ul", { class: "tree" }, ...found.map(([samples, site]) =>
			el("li", { class: "leaf" }, el("span", { class: "share", text: percent(share(samples)) }),
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
	/* Where the callers of a line's objects are estimated. */
	const about = (r, text) => r.isClass ? "" : (r.estimated ? "~" : "") + text;
	const allocationColumns = [
		{ title: "Allocations", number: true, extra: true, width: "100px", value: (r) => r.allocations,
			draw: (td, r) => { td.textContent = about(r, number(r.allocations)); } },
		{ title: "Bytes", number: true, width: "86px", value: (r) => r.bytes,
			draw: (td, r) => { td.textContent = about(r, bytes(r.bytes)); } },
	];

	function showSite(site) {
		objectSites.show(id("view-objects").querySelector(".detail"), site);
		if (location.hash !== "#" + site.id)
			history.replaceState(null, "", "#" + site.id);
	}

	const objects = new ListTable(id("view-objects").querySelector(".list"), "Object sites",
		[shareColumn,
			{ title: "Class, allocated at", value: (r) => r.className,
				draw: (td, r) => named(td, r.className || "(class unknown)", r.at) },
			samplesColumn, ...allocationColumns],
		objectSites.rows, { sort: 0, choose: showSite });

	const code = new ListTable(id("view-code").querySelector(".list"), "Code",
		[shareColumn,
			{ title: "In calls", number: true, width: "78px", help: "share with the methods it calls",
				value: (r) => r.total, draw: (td, r) => { td.textContent = r.isMethod ? percent(share(r.total)) : ""; } },
			{ title: "Objects", number: true, width: "78px", help: "part of its samples that is in objects whose allocation is known",
				value: (r) => (r.samples ? r.object / r.samples : 0),
				draw: (td, r) => { td.textContent = r.samples ? percent(r.object / r.samples) : ""; } },
			{ title: "Kind", extra: true, width: "84px", value: (r) => (r.isMethod ? 1 : 0),
				draw: (td, r) => { td.textContent = r.isMethod ? "method" : "line"; } },
			{ title: "Method", value: (r) => r.name, draw: (td, r) => named(td, r.name, r.at) }],
		allCode, { sort: 0, choose: showCode });

	const threads = new ListTable(id("view-threads").querySelector(".list"), "Threads",
		[shareColumn,
			{ title: "Name", value: (r) => r.name, draw: (td, r) => { td.textContent = r.name; td.title = r.name; } },
			samplesColumn, ...allocationColumns,
			{ title: "Thread ID", number: true, extra: true, width: "96px", value: (r) => r.tid,
				draw: (td, r) => { td.textContent = r.tid; } },
			{ title: "Process", number: true, extra: true, width: "90px", value: (r) => r.pid,
				draw: (td, r) => { td.textContent = r.pid; } },
			{ title: "Where its samples are", width: "180px", value: (r) => r.buckets[0],
				draw: (td, r) => td.append(objectHead.miniBar(r.buckets)) }],
		data.threads.map((t) => ({ ...t, pid: (data.processes[t.process] || {}).pid, name: strings[t.name] })),
		{ sort: 0 });

	const sharing = new ListTable(id("view-sharing").querySelector(".list"), "False sharing",
		[shareColumn,
			{ title: "Class, part", value: (r) => r.name, draw: (td, r) => named(td, r.name, r.at) },
			{ title: "Certainty", width: "96px", value: (r) => (r.certain ? 0 : 1),
				draw: (td, r) => { td.textContent = r.certain ? "finding" : "suspicion"; } },
			samplesColumn,
			{ title: "Lines", number: true, extra: true, width: "70px", value: (r) => r.lines,
				draw: (td, r) => { td.textContent = number(r.lines); } }],
		objectDetail.sharing,
		{ sort: 0, choose: (row) => objectDetail.showSharing(id("view-sharing").querySelector(".detail"), row) });

	const small = new ListTable(id("view-small").querySelector(".list"), "Small objects, estimated",
		[{ title: "Class, allocated at", value: (r) => r.className,
			draw: (td, r) => named(td, r.className || "(class unknown)", r.at) },
			{ title: "~Objects", number: true, width: "110px", value: (r) => r.objects,
				draw: (td, r) => { td.textContent = number(Math.round(r.objects)); } },
			{ title: "~Bytes", number: true, width: "90px", value: (r) => r.bytes,
				draw: (td, r) => { td.textContent = bytes(Math.round(r.bytes)); } },
			{ title: "~Outlive 1", number: true, extra: true, width: "96px", help: "part that outlives a collection",
				value: (r) => (r.objects ? r.outlived[0] / r.objects : 0),
				draw: (td, r) => { td.textContent = r.objects ? percent(r.outlived[0] / r.objects) : ""; } }],
		objectDetail.estimates,
		{ sort: 2, choose: (row) => objectDetail.showEstimate(id("view-small").querySelector(".detail"), row) });

	const nodes = new ListTable(id("view-numa").querySelector(".list"), "Object sites on NUMA nodes",
		[{ title: "Remote %", number: true, width: "98px", help: "part of the accesses with both nodes known",
			value: (r) => (r.share === null ? -1 : r.share),
			draw: (td, r) => { td.textContent = r.share === null ? "?" : objectNuma.hundred(r.share); } },
			{ title: "Class, allocated at", value: (r) => r.name, draw: (td, r) => named(td, r.name, r.at) },
			{ title: "Remote", number: true, width: "88px", help: "remote samples", value: (r) => r.remote,
				draw: (td, r) => { td.textContent = number(r.remote); } },
			samplesColumn,
			{ title: "Diagnosis", extra: true, width: "156px", value: (r) => r.pattern,
				draw: (td, r) => { td.textContent = r.pattern; td.title = r.pattern; } }],
		objectNuma.rows, { sort: 2, choose: (row) => objectNuma.show(id("view-numa").querySelector(".detail"), row) });

	const views = {
		objects: { table: objects, noun: "sites", text: objectSites.searched },
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

	objectHead.show();
	id("tab-numa").hidden = !objectNuma.on;
	id("tab-sharing").hidden = !objectDetail.sharing.length;
	id("tab-small").hidden = !objectDetail.estimates.length;
	for (const row of nodes.rows.length > 1 ? nodes.rows.slice(1, 2) : nodes.rows)
		nodes.choose(row); /* "all accesses" comes first, then the site with most remote samples */
	for (const row of objectDetail.sharing.slice(0, 1))
		sharing.choose(row);
	for (const row of objectDetail.estimates.slice(0, 1))
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
	const wanted = objectSites.rows.find((s) => "#" + s.id === location.hash);
	if (wanted)
		objects.show(wanted);
	else if (objects.rows.length)
		objects.choose(objects.rows[0]);
	document.documentElement.dataset.ready = "true";
})();
