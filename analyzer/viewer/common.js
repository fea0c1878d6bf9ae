"use strict";
/* What the scripts of all pages share. Text only ever becomes textContent. */
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

	return { el, svg, id, number, visible, data: JSON.parse(id("data").textContent) };
})();
