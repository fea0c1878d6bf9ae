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

	/* Frames of a path, leaf first. */
	function framesOf(path) {
		const frames = [];
		for (; path > 0; path = data.paths.parent[path])
			frames.push(frameOf(path));
		return frames;
	}

	function sourceOf(frame) {
		const found = data.source[frame];
		if (!found)
			return null;
		return el("div", { class: "source" }, ...found.lines.map((text, i) =>
			el("span", { class: found.first + i === lineOf(frame) ? "hit" : null,
				text: String(found.first + i).padStart(5) + "  " + visible(text.replace(/\t/g, "    ")) })));
	}

	function frameLine(frame) {
		return [methodName(methodOf(frame)) + " ", el("span", { class: "where", text: placeOf(frame) })];
	}

	/* A whole path below a title; `kind` is "alloc" or "access". */
	function pathSection(path, title, kind) {
		const frames = framesOf(path);
		return el("section", { class: kind }, el("h3", { text: title }),
			el("ul", { class: kind === "alloc" ? "path" : "tree" }, ...(frames.length ?
				frames.map((f) => el("li", { class: kind === "alloc" ? null : "leaf" }, ...frameLine(f))) :
				[el("li", { class: "leaf", text: "(path unknown)" })])));
	}

	return { strings, methodOf, lineOf, frameOf, methodName, place, frameText, leafShort, framesOf, sourceOf,
		frameLine, pathSection };
})();
