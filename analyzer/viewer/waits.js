"use strict";
/*
 * The view of own code: which methods of the program take the time, at which objects, and what they
 * allocate. A sample counts for the nearest own method on its call path.
 */
page.add((shared) => {
	const { el, number, percent, bytes, data, strings, methodOf, methodName, place, abbreviated, chosen, lens, sums, ownOf, metrics,
		waits, fact, drawFlame, allAccesses, UNKNOWN } = shared;
	const SHOWN = 200, CLASSES = 4, LISTED = 6;

	const unit = () => metrics[shared.allocates() ? "samples" : chosen.metric].unit;
	const isOwnPath = new Uint8Array(data.methods.own.length);
	for (const method of ownOf)
		if (method !== UNKNOWN)
			isOwnPath[method] = 1;
	const hasOwn = isOwnPath.some((n) => n);

	/* ---- a method's name in the address ---- */

	/* The same in every page of a profile: methods of one name are numbered. */
	const same = (method) => data.methods.name.flatMap((_, m) => (isOwnPath[m] && methodName(m) === methodName(method) ? [m] : []));

	function ownId(method) {
		const all = same(method);
		return methodName(method) + (all.length > 1 ? "#" + all.indexOf(method) : "");
	}

	const ownOfId = (id) => (id ? data.methods.name.findIndex((_, m) => isOwnPath[m] && ownId(m) === id) : UNKNOWN);

	/* ---- texts ---- */

	const shortName = (method) => shared.withoutPackages(methodName(method));
	const part = (n, total) => (total ? percent(n / total) : percent(0));
	const classText = ([name, n], total) => abbreviated(strings[name]) + " " + part(n, total);

	function objectsText(row, total) {
		const texts = row.classes.slice(0, CLASSES).map((c) => classText(c, total));
		const more = row.classes.length - texts.length;
		return texts.join(", ") + (more > 0 ? ", " + number(more) + " more" : "");
	}

	const searched = (row) => [methodName(row.method), place(row.method, -1), ...row.classes.map(([name]) => strings[name]),
		...row.made.map(([name]) => strings[name])].join("\n").toLowerCase();

	/* ---- the list ---- */

	class WaitList {
		constructor(host, choose) {
			this.host = host;
			this.chooses = choose;
			this.all = false;
			this.words = [];
			host.tabIndex = 0;
			host.addEventListener("keydown", (event) => this.key(event));
		}

		/* Samples were summed up anew, or the search has changed. */
		update(words) {
			this.words = words;
			this.sum = waits();
			this.found = words.length ? this.sum.rows.filter((r) => words.every((w) => searched(r).includes(w))) : this.sum.rows;
			this.matched = this.found.reduce((sum, r) => sum + r.samples, 0);
			this.draw();
		}

		draw() {
			const { total, elsewhere, bytes: made } = this.sum;
			const most = Math.max(...this.found.slice(0, SHOWN).map((r) => r.samples), 1e-9);
			const shown = this.all ? this.found : this.found.slice(0, SHOWN), hidden = this.found.length - shown.length;
			const body = el("div", { role: "listbox", "aria-label": "Own methods", class: "waits" },
				...shown.map((row) => this.row(row, total, most, made)));
			this.host.replaceChildren(el("p", { class: "more", text: "own code: " + shared.visible(data.own_code.text) +
				(data.own_code.text ? "; locus report --app changes that" : "") }), body,
				...(hidden ? [el("p", { class: "more" }, el("button", { type: "button", class: "link", text: "show " + number(hidden) + " more",
					onclick: () => {
						this.all = true;
						this.draw();
					} }))] : []),
				...(!shown.length ? [el("p", { class: "empty", text: this.words.length ? "Nothing found." : "No sample is below own code." })] : []),
				...(elsewhere > 0 && !this.words.length ? [el("p", { class: "more", text: part(elsewhere, total) + " no own frame" })] : []));
		}

		row(row, total, most, made) {
			const objects = objectsText(row, total);
			return el("div", { class: "wait", role: "option", "aria-selected": String(row.method === chosen.own),
				title: methodName(row.method) + " (" + place(row.method, -1) + ")", onclick: () => this.chooses(row.method) },
				el("span", { class: "left" }, el("b", { text: part(row.samples, total) }),
					el("span", { class: "bar" }, el("i", { style: "width:" + (100 * row.samples / most).toFixed(2) + "%" }))),
				el("span", { class: "middle" }, el("b", { text: shortName(row.method) }),
					...(objects ? [el("span", { class: "hot", text: objects })] : []),
					...(row.bytes ? [el("span", { class: "from", text: "allocates " + bytes(Math.round(row.bytes)) +
						(made ? " (" + percent(row.bytes / made) + ")" : "") })] : [])));
		}

		/* Arrows choose the next method, as a click does. */
		key(event) {
			const step = { ArrowDown: 1, ArrowUp: -1, Home: -Infinity, End: Infinity }[event.key];
			if (step === undefined || !this.found.length || event.ctrlKey || event.altKey)
				return;
			event.preventDefault();
			const shown = this.all ? this.found : this.found.slice(0, SHOWN);
			const at = shown.findIndex((r) => r.method === chosen.own);
			const next = at < 0 ? 0 : Math.min(shown.length - 1, Math.max(0, at + step));
			if (shown[next].method !== chosen.own)
				this.chooses(shown[next].method);
			const e = this.host.querySelectorAll(".wait")[next];
			if (e)
				e.scrollIntoView({ block: "nearest" });
		}
	}

	/* ---- the chosen method's details ---- */

	function list(title, kind, rows) {
		return el("section", { class: kind }, el("h3", { text: title }), el("ul", { class: kind === "alloc" ? "path made" : "tree" }, ...(rows.length ?
			rows.map(([share, name]) => el("li", { class: kind === "alloc" ? null : "leaf" }, el("span", { class: "share", text: share }), name)) :
			[el("li", { class: "leaf", text: "none" })])));
	}

	function showWaits(host, view) {
		const sum = waits(), row = sum.rows.find((r) => r.method === chosen.own);
		const options = { total: sum.total, unit: (n) => number(Math.round(n)) + " " + unit(), search: view.words, rootFirst: view.waitsRootFirst,
			onturn: (first) => {
				view.waitsRootFirst = first;
			} };
		host.replaceChildren();
		if (row) {
			host.append(el("h2", { text: methodName(row.method) }),
				el("div", { class: "numbers" }, fact("", place(row.method, -1)), fact("of all", part(row.samples, sum.total)),
					fact(unit(), number(Math.round(row.samples))), ...(row.bytes ? [fact("allocated", bytes(Math.round(row.bytes)))] : [])),
				list("Objects it waits for", "access", row.classes.slice(0, LISTED).map((c) => [part(c[1], sum.total), strings[c[0]]])),
				list("Objects it allocates", "alloc", row.made.slice(0, LISTED).map((c) => [bytes(Math.round(c[1])), strings[c[0]]])),
				el("h3", { text: "Call paths" }));
		} else {
			host.append(el("h2", { text: "All code" }), el("p", { class: "where", text: "Choose a method: all views then show its samples alone." }));
		}
		view.flame = drawFlame(host, { ...options, paths: allAccesses(), label: row ? "Call paths of " + methodName(row.method) : "All call paths",
			hint: "width: " + unit() + "; click: zoom", empty: "No sample is below this method in what is chosen." });
		host.scrollTop = 0;
	}

	Object.assign(shared, { WaitList, showWaits, hasOwn, ownId, ownOfId, ownName: shortName });
});
