// SPDX-License-Identifier: Apache-2.0
/*
 * browser.mjs - opens pages in Chromium and does there what a user does, as tests/e2e/browser.py asks.
 *
 * browser.mjs CHROMIUM MODULE: MODULE is the directory of playwright-core. Each line of the input is an array,
 * [operation, argument...]; each line of the output {"ok": result} or {"error": text}.
 */
import { createInterface } from "node:readline";
import { createRequire } from "node:module";

const [chromium, module] = process.argv.slice(2);
const { chromium: engine } = createRequire(import.meta.url)(module);
const browser = await engine.launch({ executablePath: chromium, args: ["--no-sandbox", "--disable-dev-shm-usage"] });
let page = null, messages = [];

/* What a user sees of it: a size that changes is noticed when the next picture is drawn. */
const drawn = () => page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(null)))));

const operations = {
	/* What the console says and what the page loads beside itself are kept. */
	async open(url, { width, height, scheme }) {
		if (page)
			await page.close();
		messages = [];
		page = await browser.newPage({ viewport: { width, height }, colorScheme: scheme });
		page.on("console", (m) => messages.push(m.text()));
		page.on("pageerror", (e) => messages.push(String(e)));
		page.on("request", (r) => r.url() !== url.replace(/#.*/, "") && messages.push("loads " + r.url().slice(0, 80)));
		await page.goto(url);
		await page.waitForSelector("html[data-ready]", { timeout: 30000 });
		await drawn();
	},
	evaluate: (script) => page.evaluate(script),
	async press(...keys) {
		for (const key of keys)
			await page.keyboard.press(key);
		await drawn();
	},
	type: (text) => page.keyboard.type(text),
	click: (selector) => page.click(selector, { timeout: 5000 }).then(drawn),
	choose: (selector, value) => page.selectOption(selector, value, { timeout: 5000 }).then(drawn),
	async drag(selector, from, to) {
		const box = await page.locator(selector).boundingBox();
		await page.mouse.move(box.x + from * box.width, box.y + box.height / 2);
		await page.mouse.down();
		await page.mouse.move(box.x + (from + to) / 2 * box.width, box.y + box.height / 2);
		await page.mouse.move(box.x + to * box.width, box.y + box.height / 2);
		await page.mouse.up();
		await drawn();
	},
	media: (media) => page.emulateMedia(media),
	print: async () => (await page.pdf()).length,
	shot: (path) => page.screenshot({ path }).then(() => null),
	messages: () => messages,
	url: () => page.url(),
};

for await (const line of createInterface({ input: process.stdin })) {
	const [name, ...args] = JSON.parse(line);
	let answer;
	try {
		answer = { ok: (await operations[name](...args)) ?? null };
	} catch (e) {
		answer = { error: String(e) };
	}
	process.stdout.write(JSON.stringify(answer) + "\n");
}
await browser.close();
