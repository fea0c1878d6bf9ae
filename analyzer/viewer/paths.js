"use strict";
/* Names and call paths of the data's tables, as text and as elements. */
page.add((shared) => {
	const { el, visible, data } = shared;
	const strings = data.strings.map(visible);
	const methodOf = (frame) => data.frames.method[frame];
	const lineOf = (frame) => data.frames.line[frame];
	const frameOf = (path) => data.paths.frame[path];
	const parentOf = (path) => data.paths.parent[path];
	const className = (method) => strings[data.methods.class[method]];
	/* A frame that is no method has a class, which says what it is, but no name. */
	const ownName = (method) => strings[data.methods.name[method]];
	const methodName = (method) => className(method) + (ownName(method) && "." + ownName(method));

	/* "Main.java:12"; a line below 0 is unknown. */
	function place(method, line) {
		const file = strings[data.methods.file[method]] || "Unknown Source";
		return file + (line >= 0 ? ":" + line : "");
	}

	/* "com.acme." of "com.acme.Main$Inner[]"; "" where there is none. */
	const packageOf = (name) => name.slice(0, name.lastIndexOf(".") + 1);

	/* "c.a.Main": packages by their first letters. */
	const abbreviated = (name) => packageOf(name).replace(/([^.])[^.]*\./g, "$1.") + name.slice(packageOf(name).length);

	const placeOf = (frame) => (ownName(methodOf(frame)) ? "(" + place(methodOf(frame), lineOf(frame)) + ")" : "");
	const frameText = (frame) => (methodName(methodOf(frame)) + " " + placeOf(frame)).trimEnd();

	/* "Main.run:12", and "Main.run:12-14" up to a last line. */
	function codeShort(method, line, last = line) {
		const name = methodName(method);
		const at = name.lastIndexOf(".", name.lastIndexOf(".") - 1);
		return name.slice(at + 1) + (line >= 0 ? ":" + line + (last > line ? "-" + last : "") : "");
	}

	const frameShort = (frame) => codeShort(methodOf(frame), lineOf(frame));

	/* The leaf of a path, for lists. */
	const leafShort = (path) => (path > 0 ? frameShort(frameOf(path)) : "(path unknown)");

	/* A path and its callers: one for each frame, leaf first. */
	function pathsOf(path) {
		const paths = [];
		for (; path > 0; path = parentOf(path))
			paths.push(path);
		return paths;
	}

	/* Frames of the cycle that was folded at the end of the path; 0: none. */
	const recursionOf = (path) => (data.paths.recursion || {})[path] || 0;

	/* ---- source ---- */

	const files = new Map(data.sources.map((f) => [f.package + "\n" + f.file, f.ranges]));

	/* The range of source lines around a line of a method, or null. */
	function rangeOf(method, line) {
		const name = data.strings[data.methods.class[method]];
		const ranges = files.get(name.slice(0, Math.max(0, name.lastIndexOf("."))) + "\n" + data.strings[data.methods.file[method]]);
		return (ranges || []).find((r) => r.first <= line && line < r.first + r.lines.length) || null;
	}

	const sourceText = (text) => visible(text.replace(/\t/g, "    "));

	/* Some lines around a frame's line; null without source. */
	function sourceOf(frame) {
		const line = lineOf(frame), range = rangeOf(methodOf(frame), line);
		if (!range)
			return null;
		const from = Math.max(range.first, line - 2), to = Math.min(range.first + range.lines.length - 1, line + 2);
		const rows = [];
		for (let at = from; at <= to; at++)
			rows.push(el("span", { class: at === line ? "hit" : null,
				text: String(at).padStart(5) + "  " + sourceText(range.lines[at - range.first]) }));
		return el("div", { class: "source" }, ...rows);
	}

	/* ---- elements ---- */

	/* `recursion` as of recursionOf(). */
	const recursionText = (recursion) => (recursion === 1 ? ", recursive" :
		recursion > 1 ? ", recursive over " + recursion + " frames" : "");

	const frameLine = (frame, recursion) =>
		[methodName(methodOf(frame)) + " ", el("span", { class: "where", text: placeOf(frame) + recursionText(recursion) })];

	const pathLine = (path) => frameLine(frameOf(path), recursionOf(path));

	/* A whole path below a title; `kind` is "alloc" or "access". */
	function pathSection(path, title, kind) {
		const paths = pathsOf(path);
		return el("section", { class: kind }, el("h3", { text: title }),
			el("ul", { class: kind === "alloc" ? "path" : "tree" }, ...(paths.length ?
				paths.map((p) => el("li", { class: kind === "alloc" ? null : "leaf" }, ...pathLine(p))) :
				[el("li", { class: "leaf", text: "(path unknown)" })])));
	}

	Object.assign(shared, { strings, methodOf, lineOf, frameOf, parentOf, className, methodName, place, packageOf, abbreviated,
		frameText, frameShort, codeShort, leafShort, pathsOf, recursionOf, rangeOf, sourceText, sourceOf, frameLine, recursionText, pathLine,
		pathSection });
});
