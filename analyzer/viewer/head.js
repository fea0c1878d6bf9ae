"use strict";
/* The head of the page: notes, findings, and facts about the recording. */
page.add((shared) => {
	const { el, id, number, visible, percent, bytes, duration, data, lens, sums } = shared;
	const buckets = ["object", "heap_class", "heap_unknown", "jvm", "native", "no_address", "lost"];
	const bucketText = {
		object: "objects, allocation known",
		heap_class: "objects, class known",
		heap_unknown: "heap, unknown",
		jvm: "JVM",
		native: "native",
		no_address: "address unknown",
		lost: "lost",
	};

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

	/* The shares of all buckets in a row. */
	function miniBar(counts) {
		const sum = counts.reduce((a, b) => a + b, 0) || 1;
		return el("div", { class: "mini" }, ...counts.map((c, i) =>
			el("i", { style: "width:" + (100 * c) / sum + "%;background:var(--b" + i + ")",
				title: bucketText[buckets[i]] + ": " + number(c) })));
	}

	/* ---- the line at the top ---- */

	function head() {
		const p = data.program, first = data.processes[0] || {};
		const more = data.processes.length > 1 ? " and " + (data.processes.length - 1) + " more" : "";
		const time = first.duration_ns || Math.max(0, ...data.epochs.end);
		id("program").textContent = shared.abbreviated(visible(data.name)) + more;
		id("program").title = visible(p.command);
		document.title = "Locus: " + visible(data.name) + more;
		id("facts").textContent = [(/^\d/.test(data.jdk) ? "JDK " : "") + data.jdk + " " + p.gc, ...(time ? [duration(time)] : []),
			number(lens().total) + " samples"].map(visible).join(" \u00b7 ");
		id("facts").title = data.bill ? billText() : "";
	}

	/* The chosen samples by bucket, as a bar and as text. */
	function bar() {
		const counts = sums().buckets, parts = tenths(counts), text = (i) => (parts[i] / 10).toFixed(1) + "%";
		id("bar").setAttribute("aria-label", buckets.map((b, i) => bucketText[b] + " " + text(i)).join(", "));
		id("bar").title = buckets.map((b, i) => bucketText[b] + ": " + number(counts[i]) + ", " + text(i)).join("\n");
		id("bar").replaceChildren(...buckets.flatMap((b, i) => (counts[i] ?
			[el("i", { style: "flex:" + counts[i] + " 0 0;background:var(--b" + i + ")" })] : [])));
		const heap = parts[0] + parts[1] + parts[2], tenth = (n) => (n / 10).toFixed(1) + "%";
		const others = parts[5] + parts[6];
		id("legend").textContent = ["heap " + tenth(heap), "JVM " + tenth(parts[3]), "native " + tenth(parts[4]),
			...(others ? ["unknown " + tenth(others)] : [])].join(" \u00b7 ");
	}

	function billText() {
		const b = data.bill;
		return ["application", "gc", "jit", "jvm", "locus"].filter((k) => b[k]).map((k) => ({ application: "program", gc: "GC", jit: "JIT",
			jvm: "JVM", locus: "Locus" })[k] + " " + Math.round(100 * b[k].share) + "%").join(", ") + " of the CPU time" +
			(b.locus.not_included ? "; Locus: " + b.locus.not_included + " not included" : "");
	}

	/* ---- notes ---- */

	function notes() {
		const out = [];
		const open = data.processes.filter((p) => !p.complete).length;
		if (open)
			out.push("The program was still running, or was killed" +
				(data.processes.length > 1 ? " (" + open + " of " + data.processes.length + " processes)" : "") +
				": data after the last block is missing.");
		data.processes.filter((p) => p.shown).forEach((p) =>
			out.push("Only a part of the recording is shown: " + duration(p.shown.end_ns - p.shown.begin_ns) + " of it."));
		if (data.damage.blocks || data.damage.bytes)
			out.push("The profile is damaged: " + number(data.damage.blocks) + " blocks lost, " +
				number(data.damage.bytes) + " bytes skipped. All numbers cover the rest.");
		if (data.damage.skipped_sections)
			out.push(number(data.damage.skipped_sections) + " sections of a newer Locus were skipped.");
		out.push(...new Map(data.processes.flatMap((p) => (p.limits || []).map((x) => [x.kind, visible(x.text)]))).values());
		if (data.thread_filter)
			out.push("Only the threads chosen by --thread are counted.");
		if (data.filter)
			out.push(number(data.samples.total) + " of " + number(data.filter.samples_of) +
				" samples pass the filters.");
		if (data.numa.state === "off" || (data.numa.state === "on" && data.numa.error))
			out.push("NUMA nodes: " + visible(data.numa.reason || data.numa.error));
		if (data.numa.sites.length < data.numa.sites_total)
			out.push("The first " + number(data.numa.sites.length) + " of " + number(data.numa.sites_total) +
				" sites are on the NUMA page; locus numa has all.");
		id("notes").replaceChildren(...out.map((text) => el("li", { text })));
	}

	/* ---- findings ---- */

	/* The first sentence is the summary. It ends at a full stop before a capital letter. */
	const firstSentence = (text) => (/^.*?[a-z)%\]0-9]\.(?=\s+[A-Z])/.exec(text) || [text])[0];

	/*
	 * The larger gain of a finding about objects, if it is a number worth reading: others are above 10, or none. If the advice is
	 * to call something less often, what the calls take.
	 */
	const upTo = (f) => f.calls && f.calls.less_often ? " \u00b7 calls take " + percent(f.calls.share)
		: f.row === undefined || f.gains.with_object.high < 1.005 ? "" : f.gains.with_object.at_most > 10 || f.gains.with_object.at_most === null
		? " \u00b7 more than 10x" : " \u00b7 up to " + f.gains.with_object.at_most.toFixed(2) + "x";

	const CARDS = 3;
	let allCards = false;

	function findings(choose) {
		const l = lens(), host = id("findings");
		const card = (f, i) => el("button", { type: "button", class: "card", "data-finding": f.id, onclick: () => choose(f) },
			el("b", { text: percent(f.share) + " " + f.kind.replace(/-/g, " ") + upTo(f) }),
			el("span", { text: visible(firstSentence(f.text)) }), el("span", { class: "hidden", text: "Finding " + (i + 1) }));
		const shown = allCards ? l.findings : l.findings.slice(0, CARDS);
		host.replaceChildren(...shown.map(card));
		if (l.findings.length > CARDS)
			host.append(el("button", { type: "button", class: "link", text: allCards ? "fewer" : "+" + (l.findings.length - CARDS) + " more",
				onclick: () => {
					allCards = !allCards;
					findings(choose);
				} }));
		if (l.no_finding)
			host.append(el("p", { class: "where", text: visible(l.no_finding) }));
		host.hidden = !host.childElementCount;
	}

	/* ---- the recording ---- */

	function list(host, title, pairs) {
		host.append(el("h2", { text: title }),
			el("dl", null, ...pairs.flatMap(([k, v]) =>
				[el("dt", { text: visible(String(k)) }), el("dd", { text: visible(String(v)) })])));
	}

	function about(host) {
		const e = data.engine, own = data.locus_itself;
		list(host, "This profile", [["command", data.program.command], ...(data.bill ? [["CPU time", billText()]] : []),
			...(own ? [["Locus itself", percent(own.share) + " of CPU time" + (own.memory_bytes ? ", " + bytes(own.memory_bytes) : "")]] : []),
			["engine", e.name + (e.event ? " (" + e.event + ")" : "")],
			...(data.unexplained.java_code ? [["unexplained (address or object unknown)", percent(data.unexplained.share) + " of samples in Java code"]] : []),
			...(data.metrics ? [["measured", shared.metricText(data.metrics)]] : [])]);
		data.engines.forEach((e, i) => list(host, "Engine " + (i + 1) + (e.shown ? ", shown first" : ""),
			[["name", e.name], ["event", e.event], ["one sample every", e.unit.startsWith("ns ") ? duration(e.interval_ns) + e.unit.slice(2) : number(e.interval_ns) + " " + e.unit],
				["samples", number(e.samples.total)], ...(e.reason ? [["why", e.reason]] : []),
				...(e.tick_ns ? [["the kernel's tick", duration(e.tick_ns)]] : []),
				...(e.cpu_ns ? [["samples represent", duration(e.samples.total * e.interval_ns)],
					["CPU time that the threads used", duration(e.cpu_ns)]] : []),
				...(e.counted ? [["counted" + (e.uncounted_at_most ? "" : " exactly"),
					number(e.counted) + (e.uncounted_at_most ? ", and at most " + number(e.uncounted_at_most) + " more, whose address the CPU did not report" : "")]] : [])]));
		if (data.numa.reason)
			list(host, "NUMA nodes", [["", data.numa.reason]]);
		list(host, "Samples by kind", buckets.map((b, i) => [bucketText[b], number(lens().buckets[i])]));
		list(host, "How addresses were found (samples)", Object.entries(data.details.how));
		list(host, "Samples by code", Object.entries(data.details.where));
		data.processes.slice(0, 100).forEach((p) => {
			list(host, "Process " + p.pid, [["command", p.command], ["jdk", p.jdk], ["gc", p.gc],
				["started", p.start_wall_ns ? new Date(p.start_wall_ns / 1e6).toISOString() : ""],
				["complete", p.complete], ...Object.entries(p.options)]);
			list(host, "Counters of process " + p.pid, Object.entries(p.counters));
		});
	}

	Object.assign(shared, { showHead: head, showBar: bar, showNotes: notes, showFindings: findings, showAbout: about, miniBar });
});
