"use strict";
/*
 * Flame graphs: frames as boxes whose width is the value counted below them. They show the leaf
 * first (callers below callees), the root first, or the callers and callees of one method.
 *
 * The tree is built as far as it is drawn: a node keeps the paths below it. When the node is wide
 * enough to be seen, the next frame divides the paths.
 */
page.add((shared) => {
	const { el, methodOf, methodName, className, packageOf, frameOf, pathsOf, recursionOf, recursionText, frameText, frameShort, sourceOf } = shared;
	const LEAST_PX = 2, TEXT_PX = 26, MOST_NODES = 6000, MOST_PATHS = 100000;

	/* ---- trees ---- */

	/* Items are [paths, value, index of the next one], a path for each frame; they divide into nodes of one frame each. */
	function divide(node) {
		if (node.children)
			return node.children;
		const of = new Map();
		for (const [paths, value, at] of node.items) {
			if (at >= paths.length)
				continue;
			const frame = frameOf(paths[at]);
			const child = of.get(frame);
			if (child) {
				child.value += value;
				child.recursion = Math.max(child.recursion, recursionOf(paths[at]));
				child.items.push([paths, value, at + 1]);
			} else {
				of.set(frame, { frame, value, recursion: recursionOf(paths[at]), items: [[paths, value, at + 1]], parent: node, children: null });
			}
		}
		node.items = null;
		node.children = [...of.values()].sort((a, b) => b.value - a.value || a.frame - b.frame);
		return node.children;
	}

	const root = (items) => ({ frame: -1, items, children: null, parent: null,
		value: items.reduce((sum, [, value]) => sum + value, 0) });

	/* Leaf first or root first. */
	function treeOf(paths, rootFirst) {
		return root(paths.map(([path, value]) => {
			const all = pathsOf(path);
			return [rootFirst ? all.reverse() : all, value, 0];
		}));
	}

	/* Callers and callees of a method; with recursion, of the call nearest to the leaf. */
	function sandwichOf(paths, method) {
		const up = [], down = [];
		for (const [path, value] of paths) {
			const all = pathsOf(path);
			const at = all.findIndex((p) => methodOf(frameOf(p)) === method);
			if (at < 0)
				continue;
			up.push([all, value, at]);
			down.push([all.slice(0, at).reverse(), value, 0]);
		}
		return [root(up), root(down)];
	}

	/* ---- the picture ---- */

	/* A colour for the package, so that frames of one package look alike. */
	function hue(frame) {
		const name = packageOf(className(methodOf(frame))) || className(methodOf(frame));
		let h = 7;
		for (let i = 0; i < name.length; i++)
			h = (h * 31 + name.charCodeAt(i)) % 360;
		return h;
	}

	/*
	 * Draw what `options` say into `host`: paths ([path, value] each), total (what 100% is), unit (text of a
	 * value), first ("accessed at"), empty (text), search (words), rootFirst, onturn (called when it is turned).
	 */
	function draw(host, options) {
		const state = { rootFirst: !!options.rootFirst, zoom: null, method: null, focus: null };
		const box = el("div", { class: "flame", role: "tree", tabindex: "0", "aria-label": options.label });
		const detail = el("p", { class: "flame-detail", "aria-live": "polite" });
		const turn = el("button", { type: "button", class: "small", title: "turn the graph (i)", onclick: () => invert() });
		const back = el("button", { type: "button", class: "small", text: "reset zoom", title: "show all (0 or Esc)", onclick: () => reset() });
		const sandwich = el("button", { type: "button", class: "small", text: "callers and callees",
			title: "of the chosen method, wherever it is (s)", onclick: () => sandwiched() });
		const bar = el("div", { class: "flame-bar" }, turn, sandwich, back, el("span", { class: "where", text: options.hint || "" }));
		let nodes = [], tree = null;

		const unknown = options.paths.filter(([path]) => path <= 0).reduce((sum, [, value]) => sum + value, 0);
		const known = options.paths.filter(([path]) => path > 0).sort((a, b) => b[1] - a[1]).slice(0, MOST_PATHS);

		function words(node) {
			const part = options.total ? (100 * node.value / options.total).toFixed(1) + "% of all" : "";
			const whole = tree && tree.value ? (100 * node.value / tree.value).toFixed(1) + "% of this graph" : "";
			return frameText(node.frame) + recursionText(node.recursion) + ": " + [options.unit(node.value), part, whole].filter(Boolean).join(", ") +
				(shared.differenceWords ? shared.differenceWords(node) : "");
		}

		const matches = (node) => options.search && options.search.length &&
			options.search.every((w) => frameText(node.frame).toLowerCase().includes(w));

		function put(node, x, y, width) {
			const text = width >= TEXT_PX ? frameShort(node.frame) : "";
			const difference = shared.frameDifference ? shared.frameDifference(node) : null;
			const e = el("div", { class: "frame" + (matches(node) ? " match" : "") + (y < 0 ? " up" : ""), role: "treeitem", title: words(node),
				text, style: "left:" + x.toFixed(2) + "px;top:" + 20 * Math.abs(y) + "px;width:" + Math.max(1, width - 1).toFixed(2) + "px;" +
					(difference === null ? "--hue:" + hue(node.frame) :
						"--hue:" + (difference > 0 ? 4 : 220) + ";--strength:" + Math.round(70 * Math.min(1, Math.abs(difference))) + "%") });
			node.element = e;
			node.box = { x, y, width };
			e.node = node;
			nodes.push(node);
			return e;
		}

		/* The widest first: a limit then leaves out the least visible. */
		function layout(top, width, line, scale) {
			const out = [], queue = [[top, 0, line, width]];
			let deepest = line;
			for (let k = 0; k < queue.length && nodes.length < MOST_NODES; k++) {
				const [node, x, y, w] = queue[k];
				let at = x;
				for (const child of divide(node)) {
					const cw = node.value ? w * child.value / node.value : 0;
					if (cw < LEAST_PX)
						break; /* they are sorted */
					out.push(put(child, at, y, cw));
					deepest = Math.max(deepest, y);
					queue.push([child, at, y + scale, cw]);
					at += cw;
				}
			}
			return [out, deepest];
		}

		function render() {
			const width = Math.max(120, box.clientWidth);
			nodes = [];
			turn.textContent = state.rootFirst ? "leaf first" : "root first";
			back.hidden = !state.zoom && state.method === null;
			turn.hidden = state.method !== null;
			if (state.method !== null) {
				const [up, down] = sandwichOf(known, state.method);
				tree = up;
				/*
				 * Callers of the method, from far to near, then the method, then
				 * its callees.
				 */
				const [above, deepest] = layout(up, width, 0, 1);
				const height = deepest + 1;
				for (const e of above)
					e.style.top = 20 * (height - 1 - e.node.box.y) + "px";
				const [below, last] = layout(down, width, height, 1);
				box.replaceChildren(...above, ...below);
				box.style.height = 20 * (Math.max(last, height) + 1) + "px";
				detail.textContent = "Callers above, callees below: " + methodName(state.method);
				return;
			}
			tree = treeOf(known, state.rootFirst);
			if (state.zoom) {
				/*
				 * The ancestors of the chosen node, as wide as the node, and its
				 * descendants.
				 */
				let node = tree;
				const chain = [];
				for (const frame of state.zoom) {
					node = divide(node).find((n) => n.frame === frame);
					if (!node)
						break;
					chain.push(node);
				}
				if (node) {
					const first = chain.map((n, y) => put(n, 0, y, width));
					first.forEach((e) => e.classList.add("way"));
					const [rest, deepest] = layout(node, width, chain.length, 1);
					box.replaceChildren(...first, ...rest);
					box.style.height = 20 * (Math.max(deepest, chain.length) + 1) + "px";
					detail.textContent = words(node);
					return;
				}
				state.zoom = null;
			}
			const [all, deepest] = layout(tree, width, 0, 1);
			box.replaceChildren(...all);
			box.style.height = 20 * (deepest + 1) + "px";
			detail.textContent = all.length ? "" : options.empty || "";
			if (unknown && options.total)
				detail.textContent = options.unit(unknown) + " have no call path";
		}

		const chain = (node) => (node && node.frame >= 0 ? [...chain(node.parent), node.frame] : []);

		function zoom(node) {
			if (state.method !== null)
				return;
			state.zoom = chain(node);
			render();
			focus(nodes[state.zoom.length - 1]);
		}

		function reset() {
			state.zoom = null;
			state.method = null;
			render();
		}

		function invert() {
			state.rootFirst = !state.rootFirst;
			state.zoom = null;
			state.method = null;
			if (options.onturn)
				options.onturn(state.rootFirst);
			render();
		}

		function sandwiched() {
			const node = state.focus || nodes[0];
			if (!node)
				return;
			state.method = methodOf(node.frame);
			state.zoom = null;
			render();
		}

		function focus(node) {
			if (!node)
				return;
			if (state.focus && state.focus.element)
				state.focus.element.classList.remove("focus");
			state.focus = node;
			node.element.classList.add("focus");
			detail.replaceChildren(words(node), ...[sourceOf(node.frame)].filter(Boolean));
		}

		/* Arrows go to the frames beside and below. */
		function key(event) {
			const at = state.focus && nodes.includes(state.focus) ? state.focus : null;
			const beside = (step) => {
				const line = nodes.filter((n) => n.box.y === (at ? at.box.y : 0)).sort((a, b) => a.box.x - b.box.x);
				return line[at ? line.indexOf(at) + step : 0];
			};
			const near = (step) => nodes.filter((n) => at && n.box.y === at.box.y + step)
				.sort((a, b) => Math.abs(a.box.x - at.box.x) - Math.abs(b.box.x - at.box.x))[0];
			const to = { ArrowRight: () => beside(1), ArrowLeft: () => beside(-1),
				ArrowDown: () => (at ? near(1) : nodes[0]), ArrowUp: () => near(-1) }[event.key];
			if (to) {
				focus(to());
			} else if (event.key === "Enter" && at) {
				zoom(at);
			} else if (event.key === "s" && !event.ctrlKey && !event.metaKey) {
				sandwiched();
			} else {
				return;
			}
			event.preventDefault();
			event.stopPropagation();
		}

		box.addEventListener("click", (event) => event.target.node && (focus(event.target.node), zoom(event.target.node)));
		box.addEventListener("mousemove", (event) => event.target.node && focus(event.target.node));
		box.addEventListener("keydown", key);
		host.append(bar, box, detail);
		let width = -1;
		const watch = new ResizeObserver(() => {
			if (!box.isConnected)
				watch.disconnect();
			else if (box.clientWidth !== width) {
				width = box.clientWidth;
				render();
			}
		});
		watch.observe(box);
		render();
		return { invert, reset, zoomed: () => !!state.zoom || state.method !== null };
	}

	Object.assign(shared, { drawFlame: draw });
});
