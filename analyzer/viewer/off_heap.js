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

	const count = (label, n, of) => fact(label + " in " + number(n) + (n === 1 ? " block" : " blocks"), bytes(of));

	function showOffHeap(host, r, openRow) {
		host.replaceChildren(el("h2", { text: name(r) }),
			el("div", { class: "numbers" }, count("live at the end", r.live, r.liveBytes), count("allocated", r.allocated, r.allocatedBytes),
				count("freed", r.freed, r.freedBytes), ...(r.before ? [count("from before the recording", r.before, r.beforeBytes)] : []),
				fact("of the samples", percent(share(r)))),
			el("p", null, el("button", { type: "button", class: "link", text: "where its bytes are accessed", onclick: () => openRow(r.row) })),
			...(r.row.path ? [pathSection(r.row.path, "Allocated at", "alloc")] : []));
		host.scrollTop = 0;
	}

	Object.assign(shared, { offHeapRows: rows, offHeapTable, showOffHeap, offHeapText: (r) => (name(r) + "\n" + at(r)).toLowerCase() });
});
