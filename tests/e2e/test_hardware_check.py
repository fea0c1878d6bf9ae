# SPDX-License-Identifier: Apache-2.0
"""scripts/hardware-check: its rows here, and what it says of hardware by reports that are made up."""

import importlib.machinery
import importlib.util
import json
import sys

import oracles
import pytest
from conftest import ROOT, run_command

SCRIPT = ROOT / "scripts/hardware-check"


@pytest.fixture
def check(monkeypatch):
    """The script as a module."""
    monkeypatch.setattr(sys, "path", list(sys.path))
    loader = importlib.machinery.SourceFileLoader("hardware_check", str(SCRIPT))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("hardware_check", loader))
    loader.exec_module(module)
    return module


def test_each_row_is_measured_or_says_what_the_machine_lacks(tmp_path):
    """The timer works everywhere; of PEBS and IBS a CPU has one at most."""
    out = tmp_path / "rows.json"
    events = ("timer", "pebs:latency", "ibs:ops")
    done = run_command([SCRIPT, "--seconds", "0.5", "--json", out, *("--only=" + e for e in events)])
    rows = {r["event"]: r for r in json.loads(out.read_text())}
    assert tuple(rows) == events and rows["timer"]["verdict"] in ("right", "too few"), done.stdout
    lacking = [r for r in rows.values() if r["verdict"] == "not here"]
    assert lacking and all(r["found"] and not r["expected"] for r in lacking), rows
    assert "| timer | " in done.stdout and "| kernel | " in done.stdout


def report_of(**samples):
    """A report whose samples are of phases, "phase_site": number."""
    sites = {}
    for name, count in samples.items():
        phase, site = name.split("_")
        sites.setdefault(site, []).append({"samples": count, "path": [{"method": phase}]})
    return {"metrics": {"sources": {"local_dram": 7}, "latency_mean": 301.4},
            "sites": [{"allocation_path": [{"method": site}], "accesses": accesses} for site, accesses in sites.items()]}


@pytest.mark.parametrize("event, samples, told", (
    ("pebs:l3-miss", {"far_newFar": 950, "near_newNear": 50}, "right"),
    ("pebs:l3-miss", {"far_newFar": 500, "near_newNear": 500}, "WRONG"),  # near is in the first cache
    ("pebs:stores", {"far_newFar": 950, "store_newStore": 50}, "WRONG"),
    ("ibs:ops", {"far_newFar": 500, "near_newNear": 495, "store_newStore": 5}, "right"),
    ("ibs:ops", {"far_newFar": 500, "near_newFar": 495, "store_newStore": 5}, "WRONG"),  # not its own array
    ("timer", {"far_newFar": 500, "near_newNear": 250, "store_newStore": 250}, "right"),
    ("timer", {"far_newFar": 600, "near_newNear": 200, "store_newStore": 200}, "WRONG"),
    ("pebs:latency", {"far_newFar": 50}, "too few"),
))
def test_a_verdict_holds_samples_against_the_programs_truth(check, monkeypatch, tmp_path, event, samples, told):
    truth = {"far": {"cpu_ns": 2}, "near": {"cpu_ns": 1}, "store": {"cpu_ns": 1}}
    monkeypatch.setattr(check, "run", lambda *_: "")
    monkeypatch.setattr(check, "recorded", lambda *_: (truth, report_of(**samples)))
    _, found, verdict = check.of_event(event, ["java", "HardwareTruth", 1], tmp_path)
    assert verdict == told and found.endswith(", local_dram 7, 301 cycles on average")


def test_nodes_are_held_against_the_time_of_the_loops(check, monkeypatch, tmp_path, jdk17):
    """Both nodes took as long, and half of that at the other node's pages."""
    (tmp_path / "libnuma_native.so").touch()
    line = check_line("master")
    told = {"phases": [{"cpu_ns": [[1, 0], [1, 0]]}]}

    def verdict(remote, nodes=("node0", "node1")):
        site = {"diagnosis": {"allocation_line": line}, "remote_share": remote, "known": 200}
        monkeypatch.setattr(check, "nodes", lambda: nodes)
        monkeypatch.setattr(check, "recorded", lambda *_: (told, {"numa": {"sites": [site]}}))
        return check.row("numa, master", check.numa, "master", jdk17.home, tmp_path)[1:]

    assert verdict(0.52) == ["50.0% remote", "200 samples, 52.0% remote", "right"]
    assert verdict(0.30)[2] == "WRONG"
    assert verdict(None) == ["", "the site of master is not in the report", "FAILED"]
    assert verdict(0.52, ("node0",)) == ["", "1 NUMA node", "not here"]


def check_line(mode):
    return "NumaPlacement.new(NumaPlacement.java:%d)" % oracles.marked_lines("NumaPlacement", "site")[mode]
