"use strict";
/* The page on spans: facts about the recording, and the parts. */
page.add((shared) => {
	const { id, el, number, visible, duration, bytes, data, shortNumber: short } = shared;
	const cycleTime = (cycles) =>
		(data.clock.hz && cycles > 0 ? " (" + duration(cycles / data.clock.hz * 1e9) + ")" : "");

	function head() {
		const p = data.processes[0] || { command: "", pid: "", jdk: "", gc: "", duration_ns: 0 };
		const t = data.totals;
		id("command").textContent = visible(p.command) +
			(data.processes.length > 1 ? " and " + (data.processes.length - 1) + " more" : "");
		document.title = "Locus spans: " + visible(p.command);
		id("facts").textContent = ["pid " + p.pid, (/^\d/.test(p.jdk) ? "JDK " : "") + p.jdk, p.gc, duration(p.duration_ns),
			number(t.streams) + " streams, " + short(t.stream_cycles) + " cycles" + cycleTime(t.stream_cycles),
			number(t.executed) + " tasks executed, " + short(t.task_cycles) + " cycles" + cycleTime(t.task_cycles),
			number(t.folded) + " of them part of another task", number(t.created) + " created",
			number(t.submitted) + " submitted", number(t.dropped) + " never executed",
			number(t.negative) + " with negative cycles",
			...(data.locus_itself ? ["Locus itself: " + (100 * data.locus_itself.share).toFixed(1) + "% of CPU time" +
				(data.locus_itself.memory_bytes ? ", " + bytes(data.locus_itself.memory_bytes) : "")] : [])].map(visible).join(" \u00b7 ");
		const costs = Object.entries(data.calibration.costs).map(([name, c]) =>
			name + " " + c.mean_cycles.toFixed(1) + " (variation " + c.variation.toFixed(2) + ")");
		id("calibration").textContent = ["clock " + (data.clock.name || "unknown") +
			(data.clock.hz ? ", " + (data.clock.hz / 1e9).toPrecision(4) + " GHz" : ""),
			...(data.clock.reason ? [data.clock.reason] : []),
			"calibration " + (data.calibration.source || "none"),
			...(costs.length ? ["cycles: " + costs.join(", ")] : [])].map(visible).join(" \u00b7 ");
		id("notes").append(...data.warnings.map((w) => el("li", { text: visible(w) })));
	}

	head();
	shared.showSpans(data, id("main"), id("nav"));
	document.documentElement.dataset.ready = "true";
});
page.start();
