"use strict";
/* The rows of the ranking: their names, their origin, and their list. */
page.add((shared) => {
	const { el, number, percent, bytes, data, strings, lineOf, methodOf, frameOf, abbreviated, codeShort,
		frameText, chosen, metrics, isEstimate, allocates } = shared;
	const COLUMN_PX = 7.3; /* of a character of the list's font */
	const ROW_PX = 58, NARROW_PX = 450; /* as in style.css */

	/* ---- names ---- */

	const classOf = (row) => strings[row.class] || "(class unknown)";
	const NAMES = 2;

	/* "o.a.Spectrum.re": a field stands behind its class. */
	function shortField(name) {
		const at = name.lastIndexOf(".");
		return at < 0 ? name : abbreviated(name.slice(0, at)) + name.slice(at);
	}

	function namesOf(row, shorten) {
		const names = (row.names || []).map((n) => strings[n]);
		return names.slice(0, NAMES).map(shorten ? shortField : (name) => name).join(", ") + (names.length > NAMES ? ", ..." : "");
	}

	/* "Spectrum.re (double[])", with packages or without. */
	function label(row, shorten) {
		const short = shorten ? abbreviated : (name) => name;
		if (row.package !== undefined)
			return row.package || "(no package)";
		if (row.field !== undefined)
			return short(classOf(row)) + (row.field < 0 ? " (field unknown)" : strings[row.field] ? "." + strings[row.field] : " (elements)");
		const names = namesOf(row, shorten);
		return names ? names + " (" + short(classOf(row)) + ")" : short(classOf(row));
	}

	/* " in Main.load:12": the own frame at the end of a path; "" for path 0. */
	const inOwn = (path) => (path ? " in " + codeShort(methodOf(frameOf(path)), lineOf(frameOf(path))) : "");

	/*
	 * The line that allocates the row's objects; "" for several lines, or if rows are not by
	 * line.
	 */
	function origin(row) {
		if (chosen.group !== "class+line" && chosen.group !== "site")
			return "";
		if (row.path)
			return codeShort(methodOf(frameOf(row.path)), lineOf(frameOf(row.path))) + inOwn(row.own);
		if (row.no_line)
			return "(" + row.no_line + ")";
		return row.samples && !row.allocations ? "(allocation unknown)" : "(path unknown)";
	}

	function originLong(row) {
		return row.path ? frameText(frameOf(row.path)) + inOwn(row.own) : origin(row);
	}

	/* The identity of a row as text, the same in every profile of a program. */
	function idOf(row) {
		const text = [chosen.group, label(row, false), row.path ? frameText(frameOf(row.path)) : "",
			chosen.group === "site" ? row.parts.concat(row.sites).join(",") : ""].join("\n");
		let hash = 2166136261;
		for (let i = 0; i < text.length; i++)
			hash = Math.imul(hash ^ text.charCodeAt(i), 16777619) >>> 0;
		return hash.toString(16).padStart(8, "0");
	}

	/* The text that a search looks in, made when the row is first searched. */
	function searched(row) {
		if (row.searchText === undefined) {
			const paths = shared.accessesOf(row).map(([path]) => path).filter((path) => path > 0);
			const frames = new Set(paths.map(frameOf));
			for (const path of shared.pathsOf(row.path))
				frames.add(frameOf(path));
			row.searchText = [label(row, false), ...row.sites.map((s) => data.sites.id[s]), ...Array.from(frames, frameText)]
				.join("\n").toLowerCase();
		}
		return row.searchText;
	}

	/* ---- texts that fit ---- */

	/* Cut in the middle: the beginning and the line at the end say most. */
	function cut(text, columns) {
		if (text.length <= columns)
			return text;
		const tail = Math.ceil((columns - 2) * 0.62);
		return text.slice(0, Math.max(1, columns - 2 - tail)) + ".." + text.slice(text.length - tail);
	}

	const withoutPackages = (text) => text.replace(/\b(?:[a-z_]\w*\.)+(?=[A-Z$])/g, "");

	/* Shorten step by step: drop packages, then the JDK's line before the program's own, then enclosing classes, then the middle. */
	function fit(text, columns) {
		if (text.length <= columns)
			return text;
		const both = withoutPackages(text);
		if (both.length <= columns)
			return both;
		const bare = both.replace(/^\S+ (?=in \S+$)/, "");
		if (bare.length <= columns)
			return bare;
		return cut(bare.replace(/\b\w+\$(?=[A-Za-z])/g, ""), columns);
	}

	/* The shown name of a row; rows that would look alike get the beginning of their ids. */
	let texts = new Map(), textsOf = null, textsColumns = 0;

	function textsFor(columns) {
		if (textsOf === shared.rows && textsColumns === columns)
			return texts;
		const seen = new Map();
		texts = new Map();
		textsOf = shared.rows;
		textsColumns = columns;
		for (const row of shared.rows) {
			const t = { label: fit(label(row, true), columns), origin: fit(origin(row), columns - 2) };
			const both = t.label + "\n" + t.origin;
			texts.set(row, t);
			if (seen.has(both)) {
				for (const r of [row, seen.get(both)]) {
					const mark = " #" + idOf(r).slice(0, 4), at = texts.get(r);
					if (!at.label.endsWith(mark))
						at.label = fit(label(r, true), columns - mark.length) + mark;
				}
			} else {
				seen.set(both, row);
			}
		}
		return texts;
	}

	/* ---- figures ---- */

	const about = (row) => (isEstimate(row) ? "~" : "");

	function valueText(value) {
		return chosen.metric === "bytes" ? bytes(Math.round(value)) : number(Math.round(value)) + " " + metrics[chosen.metric].unit;
	}

	/* Bytes allocated at a row's sites, whatever the metric; "" if unknown. */
	function bytesText(row) {
		const estimate = row.object_bytes ? row.object_bytes[0] : 0;
		return row.bytes + estimate ? (estimate || row.spread ? "~" : "") + bytes(Math.round(row.bytes + estimate)) : "";
	}

	function hottest(row) {
		if (!row.hottest)
			return ["", ""];
		const [method, first, last, samples, own] = row.hottest;
		return [codeShort(method, first, last) + inOwn(own), row.samples ? Math.round(100 * samples / row.samples) + "%" : ""];
	}

	/* ---- the list ---- */

	class RowList {
		constructor(host, choose) {
			this.host = host;
			this.chooses = choose;
			this.chosen = null;
			this.showRest = false;
			this.words = [];
			this.body = el("div", { role: "listbox", "aria-label": "Ranking", class: "rows" });
			host.tabIndex = 0;
			host.append(this.body);
			host.addEventListener("scroll", () => this.draw());
			host.addEventListener("keydown", (event) => this.key(event));
			new ResizeObserver(() => this.draw(true)).observe(host);
		}

		/* Rows were summed up anew, or the search has changed. */
		update(words) {
			this.words = words;
			const match = (row) => words.every((w) => searched(row).includes(w));
			const found = words.length ? shared.rows.filter(match) : shared.rows;
			this.main = words.length || this.showRest ? found : found.filter((r) => !r.rest);
			this.rest = words.length || this.showRest ? [] : found.filter((r) => r.rest && r.value > 0);
			this.unseen = words.length || this.showRest ? 0 : found.length - this.main.length - this.rest.length;
			this.matched = found.reduce((sum, r) => sum + r.value, 0);
			this.found = found.length;
			if (this.chosen && !found.includes(this.chosen) && this.main.length)
				this.chosen = null;
			this.draw(true);
		}

		draw(force) {
			if (!this.main)
				return;
			const height = this.host.clientHeight || 600, top = this.host.scrollTop;
			const first = Math.max(0, Math.floor(top / ROW_PX) - 6);
			const end = Math.min(this.main.length, first + Math.ceil(height / ROW_PX) + 12);
			if (!force && first === this.first && end === this.end)
				return;
			this.first = first;
			this.end = end;
			const gap = (rows) => el("div", { style: "height:" + rows * ROW_PX + "px", "aria-hidden": true });
			const sides = this.host.clientWidth < NARROW_PX ? 2 * 64 : 2 * 92;
			const columns = Math.max(16, Math.floor((this.body.clientWidth - sides - 34) / COLUMN_PX));
			const t = textsFor(columns);
			this.most = Math.max(...this.main.slice(0, 200).map((r) => (r.interval ? r.interval[1] : r.share)), 1e-9);
			this.body.replaceChildren(gap(first), ...this.main.slice(first, end).map((row) => this.row(row, t.get(row), columns)),
				gap(this.main.length - end), ...this.last());
		}

		row(row, t, columns) {
			const [line, part] = hottest(row);
			const scale = (x) => (100 * Math.min(1, x / this.most)).toFixed(2) + "%";
			const range = row.interval, change = shared.differenceOf(row);
			const bar = el("span", { class: "bar" }, el("i", { style: "width:" + scale(row.share) }),
				range ? el("u", { style: "left:" + scale(range[0]) + ";width:" + scale(range[1] - range[0]) }) : null);
			return el("div", { class: "row" + (row.rest ? " rest" : ""), role: "option", "aria-selected": String(row === this.chosen),
				title: label(row, false) + (origin(row) ? "\nallocated at " + originLong(row) : "") +
					(row.touched ? "\ntouched: " + row.touched : "") + (change ? "\n" + change.verdict + (change.bytes ? "; bytes " + change.bytes : "") : ""), onclick: () => this.choose(row) },
				el("span", { class: "left" }, el("b", { text: about(row) + percent(row.share) }), bar,
					el("small", { class: change && change.verdict === "significant" ? "changed" : null,
					text: change ? (change.fate === "new" ? "new" : "was " + percent(change.before)) :
						range ? (100 * range[0]).toFixed(1) + " to " + (100 * range[1]).toFixed(1) : "" })),
				el("span", { class: "middle" }, el("b", { text: t.label }),
					el("span", { class: "hot", text: line ? "\u2192 " + fit(line, columns - 7) + " " + part : row.value > 0 && !allocates() ? "" : "\u2192 never sampled" }),
					el("span", { class: "from", text: t.origin ? "\u2190 " + t.origin : "" })),
				el("span", { class: "right" }, el("b", { text: bytesText(row) }),
					el("small", { text: row.touched ? fit(row.touched.replace(/^mostly /, ""), 28) : "" })));
		}

		/* The rows that are left out, in one line. */
		last() {
			if (!this.main.length && !this.rest.length && !this.unseen)
				return [el("p", { class: "empty", text: this.words.length ? "Nothing found." : "No sample fell into objects." })];
			if (this.showRest)
				return [el("p", { class: "more" }, el("button", { type: "button", class: "link", text: "hide the rest", onclick: () => this.toggle() }))];
			if (!this.rest.length && !this.unseen)
				return [];
			const sum = this.rest.reduce((s, r) => s + r.value, 0), total = shared.sums().total;
			return [el("p", { class: "more" }, percent(total ? sum / total : 0) + " the rest: " + number(this.rest.length) + " rows with too few samples to rank" +
				(this.unseen ? ", " + number(this.unseen) + " without any " : " "),
				el("button", { type: "button", class: "link", text: "show them", onclick: () => this.toggle() }))];
		}

		toggle() {
			this.showRest = !this.showRest;
			this.update(this.words);
		}

		choose(row) {
			this.chosen = row;
			this.draw(true);
			this.chooses(row);
		}

		/* Choose a row and scroll to it. */
		show(row) {
			if (!this.main.includes(row)) {
				this.showRest = true;
				this.update(this.words);
			}
			const at = this.main.indexOf(row), top = at * ROW_PX;
			if (at >= 0 && top < this.host.scrollTop)
				this.host.scrollTop = top;
			else if (at >= 0 && top + ROW_PX > this.host.scrollTop + this.host.clientHeight)
				this.host.scrollTop = top + ROW_PX - this.host.clientHeight;
			this.choose(row);
		}

		key(event) {
			const many = Math.max(1, Math.floor(this.host.clientHeight / ROW_PX) - 1);
			const step = { ArrowDown: 1, ArrowUp: -1, PageDown: many, PageUp: -many, Home: -Infinity, End: Infinity }[event.key];
			if (step === undefined || !this.main.length || event.ctrlKey || event.altKey)
				return;
			event.preventDefault();
			const at = this.main.indexOf(this.chosen);
			this.show(this.main[at < 0 ? 0 : Math.min(this.main.length - 1, Math.max(0, at + step))]);
		}
	}

	Object.assign(shared, { RowList, label, origin, originLong, idOf, valueText, bytesText, hottest, fit, withoutPackages, classOf });
});
