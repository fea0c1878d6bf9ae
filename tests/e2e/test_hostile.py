# SPDX-License-Identifier: Apache-2.0
"""A profile that somebody made to harm its reader: nothing of it reaches the terminal as a control, hangs or fills the machine."""

import copy
import json
import os
import resource
import struct
import subprocess

import pytest
import synthetic
from conftest import BUILD
from synthetic import MAGIC, Block, Profile, frame, header, section, varint, xxh64, zstd_frame
from test_golden_reports import numa, samples, span_profile

# ESC and C1 sequences that rename the window, clear the screen, and turn the direction of text.
EVIL = "\x1b]0;owned\x07\x1b[2J\u009b2J\u202e\r"
COMMANDS = [
    ("report", "--full"), ("report", "--format=markdown"), ("report", "--format=csv"), ("report", "--format=json"),
    ("report", "--format=collapsed"), ("numa",), ("spans",), ("spans", "--format=csv"), ("spans", "--format=json"),
    ("list",), ("list", "--json"), ("report", "--group=by"),
]
CONTROLS = [*map(chr, range(0x20)), *map(chr, range(0x7F, 0xA0)), "\u202e"]
ALLOWED = "\n\t"


def strings_in(value, path=()):
    """The path of each string in a JSON value, keys of objects included."""
    if isinstance(value, str):
        yield path
    elif isinstance(value, dict):
        for key in value:
            yield from strings_in(value[key], (*path, key))
    elif isinstance(value, list):
        for i, element in enumerate(value):
            yield from strings_in(element, (*path, i))


def with_string(value, path, text):
    out = copy.deepcopy(value)
    at = out
    for key in path[:-1]:
        at = at[key]
    at[path[-1]] += text
    return out


def shown(directory, *command, limit=20):
    done = subprocess.run([BUILD / "locus", command[0], directory, *command[1:]], capture_output=True, timeout=limit, check=False)
    assert done.returncode in (0, 1, 2, 3), (command, done)
    return done.stdout.decode("utf-8", "surrogateescape") + done.stderr.decode("utf-8", "surrogateescape")


def check_harmless(text, what):
    assert not [c for c in text if c in CONTROLS and c not in ALLOWED], (what, text)


def rich(path):
    """A profile with all that a manifest can hold."""
    span_profile(path)
    manifest = json.loads((path / "manifest.json").read_text())
    numa(path.with_name("numa"))
    more = json.loads((path.with_name("numa") / "manifest.json").read_text())
    process = manifest["processes"][0]
    process["numa"] = {**more["processes"][0]["numa"], "error": "no move_pages"}
    process["counters"] = {"samples_lost": 3}
    process["host"], process["labels"], manifest["by"] = "web1", {"team": "core"}, ["host"]
    return manifest


def test_no_string_of_a_manifest_reaches_the_terminal_raw(tmp_path):
    manifest = rich(tmp_path / "p")
    places = list(strings_in(manifest))
    assert len(places) > 20
    for i, place in enumerate(places):
        (tmp_path / "p" / "manifest.json").write_text(json.dumps(with_string(manifest, place, EVIL)))
        for command in COMMANDS[i % 2::2] if i % 3 else COMMANDS:
            check_harmless(shown(tmp_path / "p", *command), (place, command))


def test_no_key_of_a_manifest_reaches_the_terminal_raw(tmp_path):
    manifest = rich(tmp_path / "p")
    process = manifest["processes"][0]
    process["counters"][EVIL] = 5
    process["options"][EVIL] = EVIL
    process["labels"][EVIL] = EVIL
    (tmp_path / "p" / "manifest.json").write_text(json.dumps(manifest))
    for command in [*COMMANDS, ("report", "-v")]:
        check_harmless(shown(tmp_path / "p", *command), command)


@pytest.mark.parametrize("text", ['{"format": 1, \u009b2J', '{"\x1b[2J": 1', "\x1b[2J", '{"format": "\x1b[2J"}'])
def test_no_damaged_manifest_reaches_the_terminal_raw(tmp_path, text):
    Profile(tmp_path / "p").append(samples(0)).close()
    (tmp_path / "p" / "manifest.json").write_text(text)
    for command in [("report",), ("spans",), ("merge", "-o", tmp_path / "merged"), ("diff", tmp_path / "p")]:
        check_harmless(shown(tmp_path / "p", *command), command)


def test_no_name_of_a_file_reaches_the_terminal_raw(tmp_path):
    path = Profile(tmp_path / "p").append(samples(0)).close()
    os.mkfifo(path / ("\x1b]0;owned\x07\x1b[2J.lcb"))
    odd = path.rename(tmp_path / "\x1b[31mq\u009b")
    for command in [("report",), ("report", "--source-path=" + EVIL), ("report", "--format=html", "-f", "/dev/null/" + EVIL)]:
        check_harmless(shown(odd, *command), command)


# Files that are no profile


@pytest.mark.parametrize("name", ["thread-7.lcb", "manifest.json"])
@pytest.mark.parametrize("kind", ["pipe", "zero", "directory", "loop"])
def test_what_is_no_file_is_not_waited_for(tmp_path, name, kind):
    path = Profile(tmp_path / "p").append(samples(0)).close()
    (path / name).unlink(missing_ok=True)
    if kind == "pipe":
        os.mkfifo(path / name)
    elif kind == "directory":
        (path / name).mkdir()
    else:
        (path / name).symlink_to("/dev/zero" if kind == "zero" else name)
    said = shown(path, "report")
    assert "locus: " in said and (name in said or "manifest" in said)
    if name == "manifest.json":
        assert "670 samples" in said  # what can be read is shown


def test_a_file_of_headers_that_each_claim_the_rest_is_read_in_time(tmp_path):
    """Each was checked to the end of the file: hours for 100 MB."""
    path = Profile(tmp_path / "p").append(samples(0)).close()
    size = 8 << 20
    (path / "thread-9.lcb").write_bytes(b"".join(header_only(size - at) for at in range(72, size, 72)))
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    said = shown(path, "report", limit=60)
    assert resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before < 20  # it took minutes
    assert "damaged" in said and "670 samples" in said


def header_only(claimed):
    """A good header of a block of so many bytes, whose checksum is not theirs."""
    head = MAGIC + struct.pack("<HHIIIQQQIIQ", 1, 72, 0, 1, 9, 0, 0, 0, min(claimed, 1 << 24), min(claimed, 1 << 24), 1)
    return head + struct.pack("<Q", xxh64(head))


def one_path(frames):
    """A block whose one path is so many frames long, of one method."""
    block = Block().access("object", (frame("A", "m", 1),), 1, ("B", (frame("A", "m", 1),)))
    sections = {synthetic.PATHS: section(synthetic.PATHS, [varint(1) + varint(0)] * frames)}
    payload = block.payload("main")
    at, out = 0, b""
    while at < len(payload):  # a section here is a kind, a length below 128, and so many bytes
        end = at + 2 + payload[at + 1]
        out += sections.get(payload[at], payload[at:end])
        at = end
    return out


@pytest.mark.parametrize("frames, status", [(4000, 0), (5000, 3), (2_000_000, 3)])
def test_a_path_of_millions_of_frames_is_damage(tmp_path, frames, status):
    path = tmp_path / "p"
    Profile(path).append(samples(0)).close()
    stored = zstd_frame(one_path(frames))
    data = header(one_path(frames), stored, tid=5, index=5, sequence=0, begin=1_000_000_000, end=2_000_000_000) + stored
    (path / "thread-5.lcb").write_bytes(data)
    done = subprocess.run([BUILD / "locus", "report", path], capture_output=True, timeout=300, check=False)
    assert done.returncode == status, done.stderr
    assert (b"damaged: 1 blocks lost" in done.stderr) == (status == 3)
