"use strict";
/*
 * Tables that sort by a column when its head is pressed. A column has the members title, value (of
 * a row, to sort by), and draw(td, row), or text(row), which returns text or an element; without
 * either, the cell shows the value. Members number, extra (left out on narrow screens) and where
 * (code) choose the style; width and help are optional.
 */
page.add((shared) => {
	const { el, number } = shared;

	const styleOf = (column, ...names) => names.filter((name) => column[name]).join(" ") || null;

	class SortedTable {
		constructor(host, label, columns, rows) {
			this.host = host;
			this.columns = columns;
			this.all = this.rows = rows;
			this.sort = -1; /* a column; -1: as the rows were given */
			this.down = true;
			this.test = null;
			this.body = el("tbody");
			this.heads = columns.map((c, i) => el("th", { scope: "col", class: styleOf(c, "number", "extra"),
				style: c.width ? "width:" + c.width : null },
				el("button", { type: "button", text: c.title, tabindex: this.tabIndexOfHeads(), title: c.help || null,
					onclick: () => this.sortBy(i) })));
			host.append(el("table", { "aria-label": label },
				el("thead", null, el("tr", null, ...this.heads)), this.body));
		}

		tabIndexOfHeads() {
			return null;
		}

		sortBy(i) {
			this.down = this.sort === i ? !this.down : !!this.columns[i].number;
			this.sort = i;
			this.order();
		}

		/* Rows of equal value stay in the order in which they were given. */
		order() {
			this.rows = this.test ? this.all.filter(this.test) : this.all.slice();
			if (this.sort >= 0) {
				const value = this.columns[this.sort].value;
				const sign = this.down ? -1 : 1;
				this.rows.sort((a, b) => {
					const x = value(a), y = value(b);
					return x < y ? -sign : x > y ? sign : 0;
				});
			}
			this.heads.forEach((h, i) => h.setAttribute("aria-sort",
				i !== this.sort ? "none" : this.down ? "descending" : "ascending"));
			this.ordered();
		}

		filter(test) {
			this.test = test;
			this.order();
		}

		cells(row) {
			return this.columns.map((c) => {
				const td = el("td", { class: styleOf(c, "number", "extra", "where") });
				if (c.draw)
					c.draw(td, row);
				else
					td.append(c.text ? c.text(row) : String(c.value(row)));
				return td;
			});
		}
	}

	/* A table that shows its first rows, and the rest on request. */
	class ShortTable extends SortedTable {
		constructor(host, label, columns, rows, most) {
			super(host, label, columns, rows);
			this.most = most;
			this.more = el("button", { type: "button", class: "link", onclick: () => {
				this.most = Infinity;
				this.ordered();
			} });
			host.append(this.more);
			this.order();
		}

		ordered() {
			this.body.replaceChildren(...this.rows.slice(0, this.most).map((row) =>
				el("tr", null, ...this.cells(row))));
			this.more.hidden = this.rows.length <= this.most;
			this.more.textContent = "show all " + number(this.rows.length);
		}
	}

	const ROW_PX = 40;

	/* A table of any length. Only the rows in sight are drawn, and one may be chosen. */
	class ListTable extends SortedTable {
		constructor(host, label, columns, rows, { sort, choose }) {
			super(host, label, columns, rows);
			this.sort = sort;
			this.chooses = choose;
			this.chosen = null;
			host.tabIndex = 0;
			host.addEventListener("scroll", () => this.draw(false));
			host.addEventListener("keydown", (event) => this.key(event));
			new ResizeObserver(() => this.draw(false)).observe(host);
			this.order();
		}

		tabIndexOfHeads() {
			return "-1"; /* the list has the focus, and keys of its own */
		}

		ordered() {
			this.host.scrollTop = 0;
			this.draw(true);
		}

		draw(force) {
			const height = this.host.clientHeight || 600;
			const first = Math.max(0, Math.floor(this.host.scrollTop / ROW_PX) - 10);
			const end = Math.min(this.rows.length, first + Math.ceil(height / ROW_PX) + 20);
			if (!force && first === this.first && end === this.end)
				return;
			this.first = first;
			this.end = end;
			/* A cell of all columns would give room to those that a narrow screen leaves out. */
			const gap = (rows) => el("tr", { class: "gap", "aria-hidden": true },
				el("td", { style: "height:" + rows * ROW_PX + "px" }));
			const drawn = this.rows.slice(first, end).map((row) => el("tr", { class: "row",
				"aria-selected": String(row === this.chosen), onclick: () => this.choose(row) },
				...this.cells(row)));
			this.body.replaceChildren(gap(first), ...drawn, gap(this.rows.length - end));
			if (!this.rows.length)
				this.body.replaceChildren(el("tr", null,
					el("td", { class: "empty", colspan: this.columns.length, text: "Nothing found." })));
		}

		choose(row) {
			this.chosen = row;
			this.draw(true);
			if (this.chooses)
				this.chooses(row);
		}

		show(row) {
			const at = this.rows.indexOf(row);
			if (at < 0)
				return;
			const head = this.host.querySelector("thead").offsetHeight;
			const top = at * ROW_PX, bottom = top + ROW_PX + head;
			if (top < this.host.scrollTop)
				this.host.scrollTop = top;
			else if (bottom > this.host.scrollTop + this.host.clientHeight)
				this.host.scrollTop = bottom - this.host.clientHeight;
			this.choose(row);
		}

		key(event) {
			const page = Math.max(1, Math.floor(this.host.clientHeight / ROW_PX) - 2);
			const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page,
				Home: -Infinity, End: Infinity };
			const step = steps[event.key];
			if (step === undefined || !this.rows.length || event.ctrlKey || event.altKey)
				return;
			event.preventDefault();
			const at = this.rows.indexOf(this.chosen);
			const next = at < 0 ? 0 : Math.min(this.rows.length - 1, Math.max(0, at + step));
			this.show(this.rows[next]);
		}
	}

	shared.ShortTable = ShortTable;
	shared.ListTable = ListTable;
});
