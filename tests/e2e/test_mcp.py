# SPDX-License-Identifier: Apache-2.0
"""`locus mcp`: a client of PyPI asks for profiles, and what is no client does no harm."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time

import pytest
from conftest import BUILD, ROOT
from helpers import command

PROFILES = ROOT / "tests/data/profiles"
CLIENT = """
import asyncio, json, sys
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

async def main(program, directory, calls):
    async with stdio_client(StdioServerParameters(command=program, args=["mcp", directory])) as streams:
        async with ClientSession(*streams) as session:
            version = (await session.initialize()).protocol_version
            await session.send_ping()
            tools = [tool.name for tool in (await session.list_tools()).tools]
            results = [await session.call_tool(*call) for call in calls]
            print(json.dumps([version, tools, [[r.is_error, r.content[0].text, r.structured_content] for r in results]]))

asyncio.run(main(*sys.argv[1:3], json.loads(sys.argv[3])))
"""


def ask(text, *words, status=0):
    """The answers to these bytes."""
    done = subprocess.run([BUILD / "locus", "mcp", *words], input=text, capture_output=True, timeout=300)
    assert done.returncode == status, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def request(method, number=1, **params):
    return json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params}).encode() + b"\n"


def called(tool, *words, **arguments):
    answer, = ask(request("tools/call", name=tool, arguments=arguments), *words)
    return answer["result"]


def test_a_client_finds_what_the_report_finds(locus):
    if not (BUILD / "mcp/mcp").is_dir():
        pytest.skip("no client: scripts/fetch-mcp has fetched none")
    calls = [("list_profiles", {}), ("findings", {"profile": "h2"}), ("row", {"profile": "h2", "row": 2}),
             ("objects", {"profile": "h2", "limit": 3, "group": "class"}), ("source_lines", {"profile": "h2", "limit": 3}),
             ("report", {"profile": "h2", "view": "threads"}), ("diff", {"before": "h2", "after": "h2", "limit": 3}),
             ("next_recording", {"profile": "h2"}), ("findings", {"profile": "../reports"})]
    done = subprocess.run([sys.executable, "-c", CLIENT, BUILD / "locus", PROFILES, json.dumps(calls)], capture_output=True, text=True,
                          timeout=300, check=False, env={"PYTHONPATH": str(BUILD / "mcp"), "PATH": os.environ["PATH"]})
    assert done.returncode == 0, done.stderr
    version, tools, results = json.loads(done.stdout)
    assert version == "2025-11-25" and tools == ["list_profiles", "findings", "report", "objects", "row", "source_lines", "diff",
                                                 "next_recording"]
    assert [error for error, _, _ in results] == [False] * 8 + [True]
    listed, findings, row, objects, lines, threads, diff, following = (data for _, _, data in results[:8])
    whole = json.loads(locus("report", "--format=json", PROFILES / "h2").stdout)
    by_class = json.loads(locus("report", "--format=json", "--group=class", PROFILES / "h2").stdout)["ranking"]["rows"]
    assert sorted(p["path"] for p in listed["profiles"]) == sorted(str(p) for p in PROFILES.iterdir())
    assert [f["id"] for f in findings["findings"]] == [f["id"] for f in whole["findings"]]
    assert row["row"]["class"] == whole["ranking"]["rows"][1]["class"] and "accessed_at" in row["row"]
    assert [(r["class"], r["samples"]) for r in objects["rows"]] == [(r["class"], r["samples"]) for r in by_class[:3]]
    assert [(n["line"], n["samples"]) for n in lines["lines"]] == [(n["line"], n["samples"]) for n in whole["code"]["lines"][:3]]
    assert threads["text"] == locus("report", "--view=threads", "--top=10", PROFILES / "h2").stdout
    assert len(diff["profiles"]) == 2 and {s["option"].partition("=")[0] for s in following["suggestions"]} == {"--track-from", "--interval"}


def test_garbage_long_lines_and_links_do_no_harm(tmp_path):
    shutil.copytree(PROFILES / "spectrum", tmp_path / "outside")
    inside = tmp_path / "inside"
    inside.mkdir()
    (inside / "link").symlink_to(tmp_path / "outside")
    (inside / "made").mkdir()
    (inside / "made/manifest.json").symlink_to(tmp_path / "outside/manifest.json")
    assert called("list_profiles", inside)["structuredContent"]["profiles"] == []
    for name in ("link", "made", "../outside", str(tmp_path / "outside")):
        refused = called("findings", inside, profile=name)
        assert refused["isError"] and "there is no such profile" in refused["content"][0]["text"]
    text = b"\xff\x00garbage\n" + b"[" * 100_000 + b"\n" + b'"' + b"x" * (3 << 20) + b'"\n\r\n' + request("ping", 7)
    assert [(a["id"], a.get("error", {}).get("code")) for a in ask(text)] == [(None, -32700), (None, -32700), (None, -32600), (7, None)]
    # A last line without its end; a client that is gone.
    assert [a["id"] for a in ask(request("ping", 8)[:-1])] == [8]
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run([BUILD / "locus", "mcp"], input=request("ping") * 2, stdout=writer, stderr=subprocess.PIPE, timeout=300, check=False)
    os.close(writer)
    assert done.returncode in (1, -signal.SIGPIPE)
    assert ask(b"", tmp_path / "nothing", status=1) == []


@pytest.mark.slow
def test_a_recording_ends_by_itself(workload, jdk, tmp_path, locus):
    with open(tmp_path / "stderr", "w", encoding="utf-8") as error:
        jvm = subprocess.Popen(command(workload, jdk, "Attach", 1, "none"), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=error)
        assert jvm.stdout.readline() == b"ready\n"
        found = called("record", "--allow-record", tmp_path, pid=jvm.pid, seconds=2)
        assert not found["isError"], found
        directory, = tmp_path.glob("locus-%d-*" % jvm.pid)
        deadline = time.monotonic() + 180
        while time.monotonic() < deadline and not json.loads((directory / "manifest.json").read_text())["processes"][0]["complete"]:
            time.sleep(0.2)
        jvm.communicate(b"end\n", timeout=300)
    assert called("findings", tmp_path, profile=directory.name)["structuredContent"]["samples"]["total"] > 0
    assert locus("report", directory).returncode == 0
