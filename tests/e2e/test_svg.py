# SPDX-License-Identifier: Apache-2.0
"""--format=svg: each frame of the flame graph has the samples of the collapsed stacks that go through it."""

import collections
import re
import xml.etree.ElementTree as ET

import pytest
from test_golden_reports import PROFILES

SVG = "{http://www.w3.org/2000/svg}"


def prefixes(locus, *arguments):
    """How often each (depth, frame, samples) stands in the tree of the collapsed stacks."""
    samples = collections.Counter()
    for line in locus("report", "--format=collapsed", "--stacks=objects", *arguments).stdout.splitlines():
        stack, count = line.rsplit(" ", 1)
        frames = stack.split(";")
        for i in range(len(frames) + 1):
            samples[tuple(frames[:i])] += int(count)
    return samples


@pytest.mark.parametrize("name, options", [
    ("objects", []), ("objects", ["--exclude=Streamer"]), ("numa", []), ("spans", []), ("damaged", []),
])
def test_frames_have_the_samples_of_the_collapsed_stacks(locus, tmp_path, name, options):
    path = PROFILES[name](tmp_path / name)
    done = locus("report", "--format=svg", *options, path)
    root = ET.fromstring(done.stdout)
    height = int(root.get("height"))
    drawn = collections.Counter()
    for group in root.iter(SVG + "g"):
        frame, count = re.fullmatch(r"(.*): (\d+) samples, [\d.]+%", group.find(SVG + "title").text, re.S).groups()
        rect = group.find(SVG + "rect")
        depth = (height - 10 - int(rect.get("y"))) // 17 - 1
        drawn[depth, frame.replace(";", "_"), int(count)] += 1
    wanted = prefixes(locus, *options, path)
    total = wanted[()]
    assert drawn == collections.Counter(
        (len(stack), stack[-1] if stack else "all", n) for stack, n in wanted.items())
    for group in root.iter(SVG + "g"):
        count = int(re.search(r": (\d+) samples, [\d.]+%$", group.find(SVG + "title").text).group(1))
        assert float(group.find(SVG + "rect").get("width")) == pytest.approx(1200 * count / total, abs=0.01)
    assert root.find(SVG + "script") is None
