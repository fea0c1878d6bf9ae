"use strict";
/*
 * What the scripts of all pages share: the data, making of elements, numbers for people. Text from the
 * data becomes textContent and nothing else.
 */
const common = (() => {
	function make(e, attributes, children) {
		for (const [name, value] of Object.entries(attributes || {})) {
			if (name === "text")
				e.textContent = value;
			else if (name.startsWith("on"))
				e.addEventListener(name.slice(2), value);
			else if (value !== null && value !== undefined && value !== false)
				e.setAttribute(name, value === true ? "" : value);
		}
		e.append(...children);
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

	/* A figure and what it is of. */
	const fact = (label, value) => el("span", null, el("b", { text: value }), " " + label);

	const percent = (part) => (100 * part).toFixed(1) + "%";

	function bytes(n) {
		const units = ["B", "KB", "MB", "GB", "TB", "PB", "EB"];
		let unit = 0;
		for (; n >= 1023.95 && unit < 6; unit++)
			n /= 1024;
		return (unit ? n.toFixed(1) : n) + " " + units[unit];
	}

	/* Four digits, in the unit that fits. */
	function duration(ns) {
		if (ns < 1e3)
			return Math.round(ns) + " ns";
		const [size, unit] = ns < 1e6 ? [1e3, "us"] : ns < 1e9 ? [1e6, "ms"] : [1e9, "s"];
		return +(ns / size).toPrecision(4) + " " + unit;
	}

	return { el, svg, id, number, visible, fact, percent, bytes, duration,
		data: JSON.parse(id("data").textContent) };
})();
