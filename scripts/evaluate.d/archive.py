# SPDX-License-Identifier: Apache-2.0
"""Keep what an evaluation measured beside its page, so that another machine can write the page again, and go on with it.

The archive has a directory for each build. All results but the profiles are there for the page's own build, and for later ones that have no
page yet; for earlier builds the runs of the programs alone and of Locus's peers, which count beside this build. The same results give
the same bytes.
"""

import io
import json
import tarfile

import costs

NAME = "evaluation-data.tar.xz"
KINDS = (".json", ".jsonl", ".txt")


def directories(evaluation):
    return sorted(d for d in evaluation.glob("results-*") if d.is_dir())


def of_peers(path):
    """The lines of a file of runs that are of no Locus; "" where no peer was run."""
    lines = path.read_text(encoding="utf-8").splitlines()
    entries = [json.loads(line) for line in lines]
    if not any(e.get("variant") in costs.PEERS for e in entries):
        return ""
    kept = [line for line, e in zip(lines, entries) if "fact" in e or e["variant"] not in costs.LOCUS_OPTIONS]
    return "".join(line + "\n" for line in kept)


def date_of(directory):
    """The day of the last run with a build, as text that sorts; "" without a run."""
    lines = [json.loads(line) for path in directory.glob("costs-*") for line in path.read_text(encoding="utf-8").splitlines()]
    return max((e["is"] for e in lines if e.get("fact") == "date"), default="")


def texts(evaluation, own):
    """(name in the archive, text) of all files; `own` is the directory of the page's build."""
    for directory in directories(evaluation):
        whole = directory == own or date_of(directory) > date_of(own)
        for path in sorted(p for p in directory.iterdir() if p.suffix in KINDS):
            name = "%s/%s" % (directory.name, path.name)
            if whole:
                yield name, path.read_text(encoding="utf-8")
            elif path.name.startswith("costs-"):
                runs = of_peers(path)
                if runs:
                    yield name, runs


def pack(evaluation, own, target):
    """Writes the archive of what lies in build/evaluation; returns its path."""
    path = target / NAME
    with tarfile.open(path, "w:xz") as archive:
        for name, text in texts(evaluation, own):
            data = text.encode()
            entry = tarfile.TarInfo(name)
            entry.size = len(data)
            archive.addfile(entry, io.BytesIO(data))
    return path


def key_of(line):
    """The subject of a line of a file of runs: a fact, or a run."""
    entry = json.loads(line)
    return entry.get("fact") or (entry["program"], entry["round"], entry["variant"])


def add_runs(path, told):
    """Adds the runs of other machines to a file of runs; what was run here stays."""
    have = {key_of(line) for line in path.read_text(encoding="utf-8").splitlines()}
    with open(path, "a", encoding="utf-8") as file:
        file.writelines(line + "\n" for line in told.splitlines() if key_of(line) not in have)


def unpack(path, evaluation):
    """Puts what is not there into build/evaluation: files, and of the files of runs the runs."""
    if not path.exists():
        return
    with tarfile.open(path) as archive:
        for entry in archive:
            directory, _, name = entry.name.partition("/")
            if not entry.isfile() or not directory.startswith("results-") or "/" in name:
                continue
            (evaluation / directory).mkdir(parents=True, exist_ok=True)
            here, data = evaluation / directory / name, archive.extractfile(entry).read()
            if not here.exists():
                here.write_bytes(data)
            elif name.startswith("costs-"):
                add_runs(here, data.decode())
