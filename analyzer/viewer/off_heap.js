"use strict";
/* The view of blocks outside the heap, by class and allocating line, over the whole recording. */
page.add((shared) => {
	const { el, id, fact, number, bytes, percent, data, pathSection } = shared;

	/* The counts of a row of the first engine's ranking. */
	function counts(row) {
		const [allocated, allocatedBytes, freed, freedBytes, before, beforeBytes] = row.off_heap;
		return { row, allocated, allocatedBytes, freed, freedBytes, before, beforeBytes, samples: row.samples,
			live: Math.max(0, before + allocated - freed), liveBytes: Math.max(0, beforeBytes + allocatedBytes - freedBytes) };
	}

	const rows = data.lenses[0].groups["class+line"].rows.filter((row) => row.off_heap).map(counts)
		.sort((a, b) => b.liveBytes - a.liveBytes || b.allocatedBytes - a.allocatedBytes);
	const share = (r) => (data.samples.total ? r.samples / data.samples.total : 0);
	const sized = (title, value, extra) => ({ title, number: true, extra, width: "86px", value, draw: (td, r) => { td.textContent = bytes(value(r)); } });
	const name = (r) => shared.label(r.row, false);
	const frame = (r) => shared.frameOf(r.row.path);
	const unknown = (r) => "(" + (r.row.no_line || "path unknown") + ")";
	const at = (r) => (r.row.path ? shared.frameText(frame(r)) : unknown(r));
	const atShort = (r) => (r.row.path ? shared.codeShort(shared.methodOf(frame(r)), shared.lineOf(frame(r))) : unknown(r));

	const offHeapTable = (choose) => new shared.ListTable(id("view-offheap").querySelector(".list"), "Blocks outside the heap",
		[sized("Live", (r) => r.liveBytes, false),
			{ title: "Class, allocated at", value: name, draw: (td, r) => {
				td.title = name(r) + "\n" + at(r);
				td.append(el("span", { class: "name", text: shared.label(r.row, true).replace(/ \(off-heap\)/, "") }),
					el("span", { class: "at", text: shared.fit(atShort(r), 46) }));
			} },
			{ title: "Blocks", number: true, extra: true, width: "72px", help: "live blocks", value: (r) => r.live,
				draw: (td, r) => { td.textContent = number(r.live); } },
			sized("Allocated", (r) => r.allocatedBytes, true),
			{ title: "Share", number: true, width: "66px", help: "part of all samples", value: (r) => r.samples,
				draw: (td, r) => { td.textContent = percent(share(r)); } }],
		rows, { sort: 0, choose });

	/* ---- resident memory ---- */

	const titles = { heap: "Java heap", class_space: "class space", metaspace: "metaspace", code_cache: "code cache", gc: "collector",
		stacks: "thread stacks", cds: "class archive", libraries: "libraries and jars", files: "mapped files",
		blocks: "blocks outside the heap", malloc: "other malloc()", locus: "Locus", rest: "rest" };

	const plain = (heads, lines) => el("table", { class: "plain" },
		el("thead", null, el("tr", null, ...heads.map((t, i) => el("th", { scope: "col", class: i ? "number" : null, text: t })))),
		el("tbody", null, ...lines.map(([title, ...cells]) => el("tr", null, el("th", { scope: "row", text: title }),
			...cells.map((c) => el("td", { class: "number", text: c }))))));

	/* The last snapshot of each process, and what the JVM counts of itself. */
	function residentOf(of) {
		const { last } = of, more = [];
		const parts = Object.entries(last.parts).filter(([key, part]) => part.resident_bytes || key === "rest")
			.sort(([x, a], [y, b]) => (x === "rest") - (y === "rest") || b.resident_bytes - a.resident_bytes);
		if (last.malloc_free_bytes !== undefined)
			more.push(bytes(last.malloc_free_bytes) + " of malloc()'s memory are free.");
		if (last.nmt)
			more.push("The JVM itself has allocated " + bytes(last.nmt.own_malloc_bytes) + " by malloc(), resident or not (NMT).");
		return el("section", { class: "resident" },
			el("h3", { text: "Resident memory" + (data.resident.length > 1 ? " of process " + data.processes[of.process].pid : "") }),
			el("p", { text: bytes(last.resident_bytes) + " in the last snapshot, " + bytes(of.peak_bytes) + " at the peak. " + more.join(" ") }),
			...(parts.length ? [plain(["Owner", "Resident", "Share"], parts.map(([key, part]) =>
				[titles[key], bytes(part.resident_bytes), percent(part.resident_bytes / last.resident_bytes)]))] : []),
			...(last.nmt ? [el("h3", { text: "Memory of the JVM, by its own count (NMT)" }),
				plain(["Category", "Committed", "Reserved", "malloc()"], last.nmt.categories.map((c) =>
					[c.name, bytes(c.committed_bytes), bytes(c.reserved_bytes), bytes(c.malloc_bytes)]))] : []));
	}

	const count = (label, n, of) => fact(label + " in " + number(n) + (n === 1 ? " block" : " blocks"), bytes(of));

	function showOffHeap(host, r, openRow) {
		host.replaceChildren(el("h2", { text: name(r) }),
			el("div", { class: "numbers" }, count("live at the end", r.live, r.liveBytes), count("allocated", r.allocated, r.allocatedBytes),
				count("freed", r.freed, r.freedBytes), ...(r.before ? [count("from before the recording", r.before, r.beforeBytes)] : []),
				fact("of the samples", percent(share(r)))),
			el("p", null, el("button", { type: "button", class: "link", text: "where its bytes are accessed", onclick: () => openRow(r.row) })),
			...(r.row.path ? [pathSection(r.row.path, "Allocated at", "alloc")] : []), ...(data.resident || []).map(residentOf));
		host.scrollTop = 0;
	}

	Object.assign(shared, { offHeapRows: rows, offHeapTable, showOffHeap, offHeapText: (r) => (name(r) + "\n" + at(r)).toLowerCase() });
});
