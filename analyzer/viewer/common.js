"use strict";
/*
 * Functions that the scripts of all pages share: the data, elements, and numbers for people. Text
 * from the data becomes textContent and nothing else.
 *
 * A script passes its function to page.add(). When the data are there, page.start() calls the
 * functions in the order of the scripts. It passes one object, on which each script leaves its
 * functions for the others.
 */
const page = (() => {
	const parts = [];

	function make(e, attributes, children) {
		for (const [name, value] of Object.entries(attributes || {})) {
			if (name === "text")
				e.textContent = value;
			else if (name.startsWith("on"))
				e.addEventListener(name.slice(2), value);
			else if (value !== null && value !== undefined && value !== false)
				e.setAttribute(name, value === true ? "" : value);
		}
		e.append(...children.filter((c) => c !== null && c !== undefined));
		return e;
	}

	const SVG = "http://www.w3.org/2000/svg";
	const el = (tag, attributes, ...children) => make(document.createElement(tag), attributes, children);
	const svg = (tag, attributes, ...children) =>
		make(document.createElementNS(SVG, tag), attributes, children);
	const id = (name) => document.getElementById(name);
	const number = (n) => n.toLocaleString("en-US");

	/* Control characters would vanish or reorder the text around them. */
	const hiddenCharacters = /[\u0000-\u001f\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g;
	const visible = (s) =>
		s.replace(hiddenCharacters, (c) => "\\u" + c.charCodeAt(0).toString(16).padStart(4, "0"));

	/* A figure and its whole. */
	const fact = (label, value) => el("span", null, el("b", { text: value }), " " + label);

	const percent = (part) => (100 * part).toFixed(1) + "%";

	function bytes(n) {
		const units = ["B", "KB", "MB", "GB", "TB", "PB", "EB"];
		let unit = 0;
		for (; n >= 1023.95 && unit < 6; unit++)
			n /= 1024;
		return (unit ? n.toFixed(1) : Math.round(n)) + " " + units[unit];
	}

	/* Four digits, in the unit that fits. */
	function duration(ns) {
		if (ns < 1e3)
			return Math.round(ns) + " ns";
		const [size, unit] = ns < 1e6 ? [1e3, "us"] : ns < 1e9 ? [1e6, "ms"] : [1e9, "s"];
		return +(ns / size).toPrecision(4) + " " + unit;
	}

	/* The data: JSON, compressed (zlib, RFC 1950), as text (base64). */
	async function read() {
		if (typeof DecompressionStream === "undefined")
			throw new Error("This browser cannot decompress the data of the page: " +
				"it needs Chromium 80, Firefox 113, Safari 16.4, or a later one.");
		const text = atob(id("data").textContent), packed = new Uint8Array(text.length);
		for (let i = 0; i < text.length; i++)
			packed[i] = text.charCodeAt(i);
		const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
		return JSON.parse(await new Response(stream).text());
	}

	async function start() {
		try {
			const shared = { el, svg, id, number, visible, fact, percent, bytes, duration, data: await read() };
			for (const part of parts)
				part(shared);
		} catch (e) {
			document.body.prepend(el("p", { class: "empty", role: "alert", text: e.message }));
			throw e;
		}
	}

	return { add: (part) => parts.push(part), start };
})();
