# SPDX-License-Identifier: Apache-2.0
"""Profiles with spans, written from docs/FORMAT.md alone: what merging keeps of them, and damage."""

import json
import shutil

import pytest
from conftest import ROOT
from synthetic import (ALL, PAUSES, SPANS, TASKS, TIMELINE, TIMELINE_NS, TRACE, Block, Profile, frame,
                       spans, varint)

GOLDEN = ROOT / "tests" / "data" / "golden-v1-spans" / "profile"
MAIN = frame("com.acme.Main", "main", 10)
PARTIAL = 3  # exit status: damaged, what could be read is used


def merge(locus, out, *args, status=0):
    done = locus("merge", "-o", out, *args)
    assert done.returncode == status, done.stderr
    return out


def manifest(path):
    return json.loads((path / "manifest.json").read_text())


def some_spans():
    return (Block()
            .span("anonymous", (MAIN,), [100, 200], intervals=[(10, 20)])
            .made("com.acme.Job", (MAIN,), 3)
            .slice(3 * TIMELINE_NS, 7)
            .pause(100, 5)
            .trace(1, "anonymous", (MAIN,), 10, 10, 100))


def test_merging_keeps_every_row(locus, tmp_path):
    """Merging once more, by threads or not, gives the same to the byte."""
    once = merge(locus, tmp_path / "once", GOLDEN)
    expected = (once / "merged.lcb").read_bytes()
    assert (merge(locus, tmp_path / "twice", once) / "merged.lcb").read_bytes() == expected
    threads = merge(locus, tmp_path / "threads", "--keep-threads", GOLDEN)
    assert json.loads((threads / "manifest.json").read_text())["blocks"] == 2
    assert (merge(locus, tmp_path / "again", threads) / "merged.lcb").read_bytes() == expected
    for path in (once, threads):
        assert manifest(path)["processes"][0]["spans"] == manifest(GOLDEN)["processes"][0]["spans"]


def test_spans_alone_are_worth_a_merge(locus, tmp_path):
    path = Profile(tmp_path / "p", spans=spans()).append(some_spans()).close()
    merge(locus, tmp_path / "m", path)
    assert (tmp_path / "m" / "merged.lcb").stat().st_size > 100


def test_spans_change_no_report_of_samples(locus, tmp_path):
    sampled = Block().access("jvm", (MAIN,), 5)
    plain = Profile(tmp_path / "plain").append(sampled).close()
    block = some_spans().access("jvm", (MAIN,), 5)
    with_spans = Profile(tmp_path / "spans").append(block).close()
    outputs = [json.loads(locus("report", "--format=json", path).stdout) for path in (plain, with_spans)]
    assert outputs[0]["samples"] == outputs[1]["samples"]
    assert outputs[0]["samples"]["total"] == 5


def test_rows_of_all_threads_are_read(locus, tmp_path):
    """A block of all threads, each row with its process and thread; merging it keeps them."""
    block = some_spans().count("jvm", 1)
    for kind in (SPANS, TASKS, TIMELINE, PAUSES, TRACE):
        block.rows[kind] = [varint(0) + varint(7) + row for row in block.rows[kind]]
    profile = Profile(tmp_path / "p")
    payload = block.payload
    block.payload = lambda name, extra: payload("x", extra)  # THREAD is of no meaning here
    profile.append(block, index=ALL, tid=0, begin=0, end=0, process=ALL)
    path = profile.close()
    once = merge(locus, tmp_path / "once", path)
    twice = merge(locus, tmp_path / "twice", once)
    assert (once / "merged.lcb").read_bytes() == (twice / "merged.lcb").read_bytes()


@pytest.mark.parametrize("kind", [SPANS, TASKS, TIMELINE, PAUSES, TRACE])
def test_a_damaged_row_costs_its_block_and_no_other(locus, tmp_path, kind):
    """A row is cut: nothing of the block counts, also none of its samples."""
    bad = some_spans().count("jvm", 1000)
    bad.rows[kind][-1] = bad.rows[kind][-1][:-1]
    profile = Profile(tmp_path / "p").append(some_spans().count("jvm", 7)).append(bad)
    path = profile.append(some_spans().count("jvm", 20)).close()
    done = locus("report", "--format=json", path)
    assert done.returncode == PARTIAL
    assert "1 blocks lost" in done.stderr
    assert json.loads(done.stdout)["samples"]["total"] == 27


def test_a_reader_that_knows_no_such_section_skips_it(locus, tmp_path):
    """An old reader does the same with spans: the type is one that none knows yet."""
    extra = varint(99) + varint(3) + b"\xff\xff\xff"
    path = Profile(tmp_path / "p").append(Block().count("jvm", 3), extra=extra).close()
    done = locus("report", "--format=json", path)
    assert done.returncode == 0
    assert json.loads(done.stdout)["samples"]["total"] == 3
    copy = shutil.copytree(GOLDEN, tmp_path / "golden")
    assert json.loads(locus("report", "--format=json", copy).stdout)["samples"]["total"] == 16
