"use strict";
/* The view of request contexts: samples and allocations of each. A click chooses one for all views. */
page.add((shared) => {
	const { id, number, percent, bytes, chosen, requestName, sumRequests, ListTable } = shared;
	const CONTEXT_WIDTH = "38%";
	let total = 0;

	const about = (r) => (r.estimated ? "~" : "");
	const part = (r) => (total ? r.samples / total : 0);

	function rows() {
		const sums = sumRequests();
		total = sums.total;
		return sums.rows.map((r) => ({ ...r, name: requestName(r.request) }));
	}

	const requestTable = (choose) => new ListTable(id("view-requests").querySelector(".list"), "Requests",
		[{ title: "Share", number: true, width: "76px", help: "part of the samples", value: (r) => r.samples, draw: (td, r) => {
			td.classList.add("meter");
			td.style.setProperty("--part", part(r));
			td.textContent = percent(part(r));
		} },
		{ title: "Context", width: CONTEXT_WIDTH, value: (r) => r.name, draw: (td, r) => { td.textContent = r.name; td.title = r.name; } },
		{ title: "Samples", number: true, extra: true, value: (r) => r.samples, draw: (td, r) => { td.textContent = number(r.samples); } },
		{ title: "Objects", number: true, extra: true, value: (r) => r.objects,
			draw: (td, r) => { td.textContent = about(r) + number(Math.round(r.objects)); } },
		{ title: "Bytes", number: true, value: (r) => r.bytes, draw: (td, r) => { td.textContent = about(r) + bytes(Math.round(r.bytes)); } }],
		rows(), { sort: 0, choose });

	/* The sums have changed. */
	function updateRequests(table) {
		table.all = rows();
		table.chosen = table.all.find((r) => r.request === chosen.request) || null;
		table.order();
	}

	Object.assign(shared, { requestTable, updateRequests });
});
