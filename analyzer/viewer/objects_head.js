"use strict";
/*
 * What the page on objects says of the profile as a whole: the head with its bar of buckets, the notes,
 * and the page on the recording.
 */
const objectHead = (() => {
	const { el, id, number, visible, percent, bytes, duration, data } = common;
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

	/* How the counts of all buckets share a row. */
	function miniBar(counts) {
		const sum = counts.reduce((a, b) => a + b, 0) || 1;
		return el("div", { class: "mini" }, ...counts.map((c, i) =>
			el("i", { style: "width:" + (100 * c) / sum + "%;background:var(--b" + i + ")",
				title: bucketText[buckets[i]] + ": " + number(c) })));
	}

	function head() {
		const p = data.program, e = data.engine;
		const more = data.processes.length > 1 ? " and " + (data.processes.length - 1) + " more" : "";
		id("command").textContent = visible(p.command) + more;
		id("command").title = visible(p.command);
		document.title = "Locus: " + visible(p.command);
		const interval = e.unit.startsWith("ns ") ? duration(e.interval_ns) + e.unit.slice(2) :
			number(e.interval_ns) + " " + e.unit;
		id("facts").textContent = ["pid " + p.pid, (/^\d/.test(p.jdk) ? "JDK " : "") + p.jdk, p.gc, number(data.samples.total) + " samples",
			"engine " + e.name + (e.event ? " (" + e.event + ")" : "") +
			(e.interval_ns ? ", one sample every " + interval : "") +
			(e.tick_ns > e.interval_ns ? " (limited by the kernel's tick of " + duration(e.tick_ns) + ")" : ""),
			...(e.reason ? [e.reason] : []),
			...(data.locus_itself ? ["Locus itself: " + percent(data.locus_itself.share) + " of CPU time" +
				(data.locus_itself.memory_bytes ? ", " + bytes(data.locus_itself.memory_bytes) : "")] : []),
			...(data.unexplained.java_code ? ["unexplained (address or object unknown): " +
				percent(data.unexplained.share) + " of samples in Java code"] : []),
			...(data.numa.state === "one-node" ? [data.numa.reason] : []),
			...(data.metrics ? [objectDetail.metricText(data.metrics)] : []),
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
		if (data.filter)
			out.push(number(data.samples.total) + " of " + number(data.filter.samples_of) +
				" samples pass the filters.");
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
				...(e.tick_ns ? [["the kernel's tick", duration(e.tick_ns)]] : []),
				...(e.cpu_ns ? [["samples stand for", duration(e.samples.total * e.interval_ns)],
					["CPU time that the threads used", duration(e.cpu_ns)]] : []),
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

	function show() {
		head();
		notes();
		about();
	}

	return { show, miniBar };
})();
