"use strict";
/*
 * The tables of a profile that the page on objects is fed with: strings, methods, frames and paths by
 * their numbers (see report_html.c), and how a frame and a path are shown.
 */
const profilePaths = (() => {
	const { el, visible, data } = common;

	const strings = data.strings.map(visible);
	const methodOf = (frame) => data.frames.method[frame];
	const lineOf = (frame) => data.frames.line[frame];
	const frameOf = (path) => data.paths.frame[path];
	const methodName = (method) => strings[data.methods.class[method]] + "." + strings[data.methods.name[method]];

	function place(method, line) {
		const file = strings[data.methods.file[method]] || "Unknown Source";
		return file + (line >= 0 ? ":" + line : "");
	}

	const placeOf = (frame) => "(" + place(methodOf(frame), lineOf(frame)) + ")";
	const frameText = (frame) => methodName(methodOf(frame)) + " " + placeOf(frame);

	/* For lists: the class without its package. */
	const frameShort = (frame) =>
		methodName(methodOf(frame)).replace(/^.*\.(?=[^.]*\.[^.]*$)/, "") + " " + placeOf(frame);

	/* The leaf of a path, for lists. */
	const leafShort = (path) => (path > 0 ? frameShort(frameOf(path)) : "(path unknown)");

	/* A path and those of its callers: one for each frame, leaf first. */
	function pathsOf(path) {
		const paths = [];
		for (; path > 0; path = data.paths.parent[path])
			paths.push(path);
		return paths;
	}

	const framesOf = (path) => pathsOf(path).map(frameOf);

	/* Frames of the cycle that was folded at the end of the path, 0 for none. */
	const recursionOf = (path) => (data.paths.recursion || {})[path] || 0;

	function sourceOf(frame) {
		const found = data.source[frame];
		if (!found)
			return null;
		return el("div", { class: "source" }, ...found.lines.map((text, i) =>
			el("span", { class: found.first + i === lineOf(frame) ? "hit" : null,
				text: String(found.first + i).padStart(5) + "  " + visible(text.replace(/\t/g, "    ")) })));
	}

	/* `recursion` as of recursionOf(). */
	function frameLine(frame, recursion) {
		const folded = recursion === 1 ? ", recursive" :
			recursion > 1 ? ", recursive over " + recursion + " frames" : "";
		return [methodName(methodOf(frame)) + " ", el("span", { class: "where", text: placeOf(frame) + folded })];
	}

	const pathLine = (path) => frameLine(frameOf(path), recursionOf(path));

	/* A whole path below a title; `kind` is "alloc" or "access". */
	function pathSection(path, title, kind) {
		const paths = pathsOf(path);
		return el("section", { class: kind }, el("h3", { text: title }),
			el("ul", { class: kind === "alloc" ? "path" : "tree" }, ...(paths.length ?
				paths.map((p) => el("li", { class: kind === "alloc" ? null : "leaf" }, ...pathLine(p))) :
				[el("li", { class: "leaf", text: "(path unknown)" })])));
	}

	return { strings, methodOf, lineOf, frameOf, methodName, place, frameText, leafShort, pathsOf, framesOf,
		recursionOf, sourceOf, frameLine, pathLine, pathSection };
})();
