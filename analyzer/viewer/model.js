"use strict";
/*
 * The choice (engine, group, metric, thread, time, own method, request), and sums over the chosen
 * samples.
 *
 * A row of a ranking consists of parts. A part has samples of a place, which is a bucket and a
 * site: all of them, or a fraction. A fraction, if the allocating line is an estimate or rows are
 * fields, is the same on any path, in any thread, at any time. Sums over all threads and the whole
 * time are those of the data.
 */
page.add((shared) => {
	const { data } = shared;
	const UNKNOWN = -1, NO_REQUEST = -2, HEAP_CLASS = 1; /* a thread; a request context; the last bucket of objects */
	const Z95 = 1.959964;
	const { sampled, made, totals, epochs } = data;
	const count = sampled.site.length;
	const ENGINES = data.lenses.map((l) => data.engines[l.engine]);

	/* ---- the choice ---- */

	/* Requests are no rows of the ranking: they have a view. */
	const chosen = { lens: 0, group: data.group === "context" ? "class+line" : data.group, metric: "samples",
		thread: UNKNOWN, time: null, own: UNKNOWN, request: UNKNOWN };

	const lens = () => data.lenses[chosen.lens];
	const all = () => chosen.thread === UNKNOWN && chosen.time === null && chosen.own === UNKNOWN && chosen.request === UNKNOWN;

	/* For each path the nearest own method, or UNKNOWN. A parent stands before its children. */
	const ownOf = new Int32Array(data.paths.frame.length).fill(UNKNOWN);
	for (let path = 1; path < ownOf.length; path++) {
		const method = data.frames.method[data.paths.frame[path]];
		ownOf[path] = data.methods.own[method] ? method : ownOf[data.paths.parent[path]];
	}

	/*
	 * For each path its request context: the method, without a name, of the frame below those of --by; or
	 * NO_REQUEST.
	 */
	const CONTEXT = "context=", levels = data.by ? data.by.length : 0;
	const isRequest = data.methods.name.map((name, m) => !name && data.strings[data.methods.class[m]].startsWith(CONTEXT) &&
		data.strings[data.methods.class[m]].length > CONTEXT.length);
	const requestOf = new Int32Array(ownOf.length).fill(NO_REQUEST), depthOf = new Int32Array(ownOf.length);
	for (let path = 1; path < requestOf.length; path++) {
		const method = data.frames.method[data.paths.frame[path]];
		depthOf[path] = depthOf[data.paths.parent[path]] + 1;
		requestOf[path] = depthOf[path] === levels + 1 && isRequest[method] ? method : requestOf[data.paths.parent[path]];
	}
	const requestName = (method) => (method === NO_REQUEST ? "(none)" : shared.strings[data.methods.class[method]].slice(CONTEXT.length));
	/* All that the profile has, by name. */
	const requests = [...new Set(requestOf)].filter((m) => m !== NO_REQUEST).sort((a, b) => (requestName(a) < requestName(b) ? -1 : 1));

	const isChosen = (path) => (chosen.own === UNKNOWN || ownOf[path] === chosen.own) &&
		(chosen.request === UNKNOWN || requestOf[path] === chosen.request);

	/* An epoch counts if its middle lies in the chosen time. */
	function inTime(epoch) {
		if (!chosen.time)
			return true;
		if (!epoch)
			return false;
		const middle = (epochs.begin[epoch - 1] + epochs.end[epoch - 1]) / 2;
		return middle >= chosen.time[0] && middle <= chosen.time[1];
	}

	const ofThread = (table, i) => chosen.thread === UNKNOWN || table.thread[i] === chosen.thread + 1;
	const counts = (table, i) => ofThread(table, i) && inTime(table.epoch[i]);
	/* The same for rows of `sampled` and of `made`, if an own method or a request is chosen. */
	const pathOf = (table, i) => (table === made ? data.sites.path[made.site[i]] : sampled.path[i]);
	const isChosenRow = (table, i) => isChosen(pathOf(table, i));
	const countsRow = (table, i) => counts(table, i) && isChosenRow(table, i);

	/* ---- places ---- */

	const placeKey = (bucket, site) => bucket * data.sites.id.length + site;
	for (const l of data.lenses) {
		l.placeAt = new Map(l.places.map((p, i) => [placeKey(p.bucket, p.site), i]));
		/* For each place, its own rows of `sampled`. */
		l.rowsOf = l.places.map(() => []);
		for (let i = 0; i < count; i++) {
			if (sampled.engine[i] !== l.engine)
				continue;
			const at = l.placeAt.get(placeKey(sampled.bucket[i], sampled.site[i]));
			if (at !== undefined)
				l.rowsOf[at].push(i);
		}
	}
	const madeOf = new Map();
	made.site.forEach((site, i) => {
		if (!madeOf.has(site))
			madeOf.set(site, []);
		madeOf.get(site).push(i);
	});

	/* ---- metrics ---- */

	const column = (name) => sampled[name] || null;
	const metrics = {
		samples: { title: "samples", unit: "samples", of: column("samples") },
		bytes: { title: "bytes allocated", unit: "bytes" },
		allocations: { title: "allocations", unit: "objects" },
		latency: { title: "latency", unit: "cycles", of: column("latency") },
		remote: { title: "remote accesses", unit: "samples", of: column("remote") },
	};
	const available = Object.keys(metrics).filter((m) => m === "bytes" || m === "allocations" || metrics[m].of);
	const allocates = () => chosen.metric === "bytes" || chosen.metric === "allocations";
	const accessColumn = () => (metrics[chosen.metric].of || sampled.samples);

	/* Objects or bytes of a row of `made`. */
	const madeValue = (i, metric) => (metric === "bytes" ? made.bytes[i] + made.estimated_bytes[i] :
		made.objects[i] + made.estimated_milli[i] / 1000);

	/* ---- sums ---- */

	let sums = null; /* of the chosen samples */
	let waiting = null; /* waits() of these; null: not asked for yet */

	function sumPlaces(l) {
		const of = accessColumn();
		return l.rowsOf.map((rows) => {
			let sum = 0;
			for (const i of rows)
				if (countsRow(sampled, i))
					sum += of[i];
			return sum;
		});
	}

	/* Lost samples are in `totals` alone: they are in no own method and in no request. */
	const tableOfTotals = () => (chosen.own === UNKNOWN && chosen.request === UNKNOWN ? totals : sampled);
	const countsTotal = (table, i) => table === totals || isChosenRow(table, i);

	function sumBuckets(l) {
		if (all())
			return l.buckets.slice();
		const out = l.buckets.map(() => 0), table = tableOfTotals();
		table.samples.forEach((n, i) => {
			if (table.engine[i] === l.engine && counts(table, i) && countsTotal(table, i))
				out[table.bucket[i]] += n;
		});
		return out;
	}

	function sumSites(metric) {
		const out = new Map();
		for (const [site, rows] of madeOf) {
			let sum = 0;
			for (const i of rows)
				if (countsRow(made, i))
					sum += madeValue(i, metric);
			out.set(site, sum);
		}
		return out;
	}

	/* [place, part of the place's samples] of a row. */
	function placesOf(row) {
		const out = new Map();
		for (let i = 0; i < row.parts.length; i += 3)
			out.set(row.parts[i], (out.get(row.parts[i]) || 0) + row.parts[i + 2]);
		return [...out].map(([place, n]) => [place, n / lens().places[place].samples]);
	}

	function wilson(part, whole, weight) {
		const n = whole * weight, p = whole ? part / whole : 0, z2 = Z95 * Z95;
		if (n <= 0)
			return [0, 1];
		const centre = (p + z2 / (2 * n)) / (1 + z2 / n);
		const half = Z95 / (1 + z2 / n) * Math.sqrt(p * (1 - p) / n + z2 / (4 * n * n));
		return [Math.max(0, Math.min(p, centre - half)), Math.min(1, Math.max(p, centre + half))];
	}

	function valueOf(row) {
		if (chosen.metric === "samples" && all())
			return row.samples;
		if (chosen.metric === "bytes" && all())
			return row.bytes + (row.object_bytes ? row.object_bytes[0] : 0);
		if (chosen.metric === "allocations" && all())
			return row.allocations + (row.objects ? row.objects[0] : 0);
		if (allocates())
			return row.sites.reduce((sum, site) => sum + (sums.sites.get(site) || 0), 0);
		return placesOf(row).reduce((sum, [place, part]) => sum + part * sums.places[place], 0);
	}

	/* Is a row's value an estimate? */
	const isEstimate = (row) => (chosen.metric === "bytes" || chosen.metric === "allocations" ? !!row.objects || !!row.spread :
		!!row.estimated || (chosen.group === "field" && (!all() || chosen.metric !== "samples")));

	/*
	 * Sum up the chosen samples: each row of the ranking gets value, share, interval, and
	 * `rest`.
	 */
	function update() {
		const l = lens(), ranking = l.groups[chosen.group];
		waiting = null;
		sums = { places: sumPlaces(l), buckets: sumBuckets(l), sites: allocates() ? sumSites(chosen.metric) : new Map() };
		sums.samples = sums.buckets.reduce((a, b) => a + b, 0);
		for (const row of ranking.rows)
			row.value = valueOf(row);
		sums.inRows = ranking.rows.reduce((sum, row) => sum + row.value, 0);
		if (chosen.metric === "samples")
			sums.total = sums.samples;
		else if (allocates())
			sums.total = sums.inRows;
		else
			sums.total = sum(accessColumn(), l);
		ranking.rows.forEach((row, i) => {
			row.share = sums.total ? row.value / sums.total : 0;
			row.interval = chosen.metric !== "samples" ? null :
				all() ? [row.low, row.high] : wilson(row.value, sums.total, l.weight);
			row.rest = chosen.metric !== "samples" ? row.value <= 0 :
				all() ? i >= ranking.shown : row.value * l.weight < 5 || row.interval[0] <= 0;
		});
		shared.rows = ranking.rows.slice().sort((a, b) => a.rest - b.rest || b.value - a.value);
	}

	/* All samples of the engine, in objects or not. */
	function sum(of, l) {
		let total = 0;
		for (let i = 0; i < count; i++)
			if (sampled.engine[i] === l.engine && countsRow(sampled, i))
				total += of[i];
		return total;
	}

	/* ---- details of a row ---- */

	/* Accesses of a row: [path, value]; the values of paths add up to the row's. */
	function accessesOf(row) {
		const out = new Map(), of = allocates() ? sampled.samples : accessColumn();
		for (const [place, part] of placesOf(row))
			for (const i of lens().rowsOf[place])
				if (countsRow(sampled, i) && of[i])
					out.set(sampled.path[i], (out.get(sampled.path[i]) || 0) + part * of[i]);
		return [...out];
	}

	/* Allocations of a row: [path, value], by bytes or by number. */
	function allocationsOf(row, metric) {
		const out = new Map();
		for (const site of row.sites) {
			let value = 0;
			for (const i of madeOf.get(site) || [])
				if (countsRow(made, i))
					value += madeValue(i, metric);
			if (value)
				out.set(data.sites.path[site], (out.get(data.sites.path[site]) || 0) + value);
		}
		return [...out];
	}

	/* All accesses of the engine, in objects or not: [path, value]; or those that are. */
	function allAccesses(inObjects = false) {
		const out = new Map(), of = allocates() ? sampled.samples : accessColumn(), engine = lens().engine;
		for (let i = 0; i < count; i++)
			if (sampled.engine[i] === engine && of[i] && countsRow(sampled, i) && (!inObjects || sampled.bucket[i] <= HEAP_CLASS))
				out.set(sampled.path[i], (out.get(sampled.path[i]) || 0) + of[i]);
		return [...out];
	}

	/* The row's samples, or its bytes, by epoch, whatever time is chosen. */
	function overTime(row, metric) {
		const out = new Float64Array(epochs.end.length);
		const add = (table, i, value) => {
			if (table.epoch[i] && ofThread(table, i) && isChosenRow(table, i))
				out[table.epoch[i] - 1] += value;
		};
		if (metric === "samples") {
			for (const [place, part] of placesOf(row))
				for (const i of lens().rowsOf[place])
					add(sampled, i, part * sampled.samples[i]);
		} else {
			for (const site of row ? row.sites : madeOf.keys())
				for (const i of madeOf.get(site) || [])
					add(made, i, madeValue(i, metric));
		}
		return out;
	}

	/* All samples of the engine by epoch. */
	function samplesOverTime() {
		const out = new Float64Array(epochs.end.length);
		const table = tableOfTotals();
		table.samples.forEach((n, i) => {
			if (table.engine[i] === lens().engine && table.epoch[i] && ofThread(table, i) && countsTotal(table, i))
				out[table.epoch[i] - 1] += n;
		});
		return out;
	}

	/*
	 * The chosen threads' and time's samples and bytes by own method, whichever is chosen: rows of method, samples,
	 * bytes, and by class [class, samples] and [class, bytes]; all samples, those of no own method, and all bytes.
	 */
	function sumWaits() {
		const l = lens(), of = allocates() ? sampled.samples : accessColumn(), rows = new Map();
		const out = { total: 0, elsewhere: 0, bytes: 0 };
		const rowOf = (method) => {
			if (!rows.has(method))
				rows.set(method, { method, samples: 0, bytes: 0, classes: new Map(), made: new Map() });
			return rows.get(method);
		};
		const add = (map, site, n) => map.set(data.sites.class[site], (map.get(data.sites.class[site]) || 0) + n);
		for (let i = 0; i < count; i++) {
			if (sampled.engine[i] !== l.engine || !of[i] || !counts(sampled, i))
				continue;
			const method = ownOf[sampled.path[i]];
			out.total += of[i];
			if (method === UNKNOWN)
				continue;
			rowOf(method).samples += of[i];
			out.elsewhere -= of[i];
			if (sampled.site[i] && sampled.bucket[i] <= HEAP_CLASS)
				add(rowOf(method).classes, sampled.site[i], of[i]);
		}
		/* Samples that were lost have no row of their own. */
		if (of === sampled.samples)
			out.total = totals.samples.reduce((sum, n, i) => sum + (totals.engine[i] === l.engine && counts(totals, i) ? n : 0), 0);
		out.elsewhere += out.total;
		made.site.forEach((site, i) => {
			const n = counts(made, i) ? madeValue(i, "bytes") : 0, method = ownOf[data.sites.path[site]];
			out.bytes += n;
			if (!n || method === UNKNOWN)
				return;
			rowOf(method).bytes += n;
			add(rowOf(method).made, site, n);
		});
		const most = (map) => [...map].sort((a, b) => b[1] - a[1] || a[0] - b[0]);
		out.rows = [...rows.values()].map((r) => ({ ...r, classes: most(r.classes), made: most(r.made) }))
			.sort((a, b) => b.samples - a.samples || b.bytes - a.bytes || a.method - b.method);
		return out;
	}

	const waits = () => waiting || (waiting = sumWaits());

	/*
	 * The chosen threads', time's and own method's samples and allocations by request, whichever is chosen: rows of
	 * request, samples, objects, bytes, and whether the last two have estimates. `total`: lost samples, too.
	 */
	function sumRequests() {
		const engine = lens().engine;
		const rows = new Map([...requests, NO_REQUEST].map((request) => [request, { request, samples: 0, objects: 0, bytes: 0, estimated: false }]));
		const isOwn = (path) => chosen.own === UNKNOWN || ownOf[path] === chosen.own;
		let total = 0;
		sampled.samples.forEach((n, i) => {
			if (sampled.engine[i] !== engine || !counts(sampled, i) || !isOwn(sampled.path[i]))
				return;
			rows.get(requestOf[sampled.path[i]]).samples += n;
			total += n;
		});
		if (chosen.own === UNKNOWN)
			total = totals.samples.reduce((sum, n, i) => sum + (totals.engine[i] === engine && counts(totals, i) ? n : 0), 0);
		made.site.forEach((_, i) => {
			const path = pathOf(made, i), row = rows.get(requestOf[path]);
			if (!counts(made, i) || !isOwn(path))
				return;
			row.objects += madeValue(i, "allocations");
			row.bytes += madeValue(i, "bytes");
			row.estimated = row.estimated || made.estimated_milli[i] > 0;
		});
		return { total, rows: [...rows.values()].sort((a, b) => b.samples - a.samples || b.bytes - a.bytes) };
	}

	Object.assign(shared, { waits, ownOf, sumRequests, requests, requestName, UNKNOWN, NO_REQUEST, ENGINES, chosen, lens, metrics, available, allocates, update, placesOf, accessesOf, isEstimate,
		allocationsOf, allAccesses, overTime, samplesOverTime, wilson, everything: all, sums: () => sums,
		hasTime: epochs.end.length > 1, hasThreads: sampled.thread.some((t) => t) || made.thread.some((t) => t) });
	update();
});
