# SPDX-License-Identifier: Apache-2.0
"""A browser that tests can use as a user does: keys, clicks, dragging; by playwright-core and Chromium."""

import json
import pathlib
import shutil
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
DRIVER = ROOT / "tests" / "tools" / "browser.mjs"
MODULE = ROOT / "build" / "node" / "node_modules" / "playwright-core"


class Browser:
    def __init__(self, chromium):
        if not shutil.which("node"):
            pytest.skip("no Node.js on this machine")
        if not (MODULE / "package.json").exists():
            pytest.skip("no playwright-core; scripts/install-deps test fetches it")
        self.process = subprocess.Popen(["node", DRIVER, chromium, MODULE], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True)

    def __getattr__(self, operation):
        def call(*args):
            self.process.stdin.write(json.dumps([operation, *args]) + "\n")
            self.process.stdin.flush()
            line = self.process.stdout.readline()
            assert line, "the browser has ended"
            answer = json.loads(line)
            assert "error" not in answer, "%s%s: %s" % (operation, args, answer["error"])
            return answer["ok"]

        return call

    def page(self, path, state="", width=1280, height=800, scheme="light"):
        """Open a page; `state` is what stands behind the # of its address."""
        url = pathlib.Path(path).resolve().as_uri()
        self.open(url + ("#" + state if state else ""), {"width": width, "height": height, "scheme": scheme})
        return self

    def document(self):
        """The document as its script has left it, as text."""
        return self.evaluate("document.documentElement.outerHTML")

    def text(self, selector):
        """The visible part of the first element."""
        return self.evaluate("document.querySelector(%s).innerText" % json.dumps(selector))

    def texts(self, selector):
        return self.evaluate("Array.from(document.querySelectorAll(%s), (e) => e.innerText)" % json.dumps(selector))

    def close(self):
        self.process.stdin.close()
        self.process.wait(300)
