#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Check the model of docs/design/merge.md: how long a merge by many ranks takes, by the shape of their tree.

scale_model.py [--profiles N] [--ranks N,N] [--fan-ins N,N,flat] [--rounds N] [--inputs DIR] [--json FILE]

The model is made of runs of locus-mpi with two ranks, and with four on few profiles, on a 32nd of the profiles up to all of them: CPU seconds of
reading a profile, how large a partial result of so many profiles is, and CPU seconds of serialising, adding and writing
one of that size. It then says how long each tree of --ranks and --fan-ins takes if each rank has a core of its own. Each
tree is run, too, as many ranks as there are on the cores that there are, and `locus-mpi --timings` tells the CPU seconds of each
phase of each rank. From these the critical path follows: what the run would take with a core for each rank. The
table sets one beside the other; each number is the median of --rounds runs.

Inputs are as scripts/bench_merge.py makes them: "recorded" have much in common, "invented" little. --inputs: a directory
where both are or are put, and stay. Networks are not part of it: ranks of one machine send by its memory.
"""

import argparse
import json
import math
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile

import bench_merge

BUILD = bench_merge.BUILD
FLAT = 1000000
FLEET_HOSTS, FLEET_THREADS = 10000, 64
NETWORK_BYTES_S = 1.25e9  # 10 Gbit/s


def run(ranks, fan_in, paths, directory, *options):
    """The rows of --timings, by rank."""
    shutil.rmtree(directory / "merged", ignore_errors=True)
    environment = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    command = ["mpirun", "--oversubscribe", "--bind-to", "none", "-n", ranks, BUILD / "locus-mpi", "merge", "--jobs=1",
               "--fan-in=%d" % fan_in, "--timings", directory / "timings.json", "-o", directory / "merged", *options, *paths]
    done = subprocess.run([str(word) for word in command], env=environment, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit("scale_model: locus-mpi ended with %d\n%s" % (done.returncode, done.stderr))
    return json.loads((directory / "timings.json").read_text())["ranks"]


def merged_bytes(directory):
    return (directory / "merged" / "merged.lcb").stat().st_size


# ---- measured ----


def critical_path(ranks):
    """(seconds until the result is written, those of them after rank 0 has read its share and before it writes), if each
    rank had a core."""
    planned = max(row["scan_cpu_s"] for row in ranks) + max(row["plan_cpu_s"] for row in ranks)

    def sent_at(row):
        """When it has sent what it has; for rank 0, when it has all."""
        now = planned + row["read_cpu_s"]
        for message in row["received"]:
            now = max(now, sent_at(ranks[message["from"]])) + message["receive_cpu_s"] + message["merge_cpu_s"]
        return now + row["serialise_cpu_s"] + row["send_cpu_s"]

    all_at = sent_at(ranks[0])
    return all_at + ranks[0]["write_cpu_s"], all_at - planned - ranks[0]["read_cpu_s"]


# ---- the model ----


def line_through(points):
    """(a, b) of y = a + b x, by least squares of relative errors; not below 0."""
    weights = [1 / max(y, 1e-9) ** 2 for _, y in points]
    total = sum(weights)
    x0 = sum(w * x for w, (x, _) in zip(weights, points)) / total
    y0 = sum(w * y for w, (_, y) in zip(weights, points)) / total
    spread = sum(w * (x - x0) ** 2 for w, (x, _) in zip(weights, points))
    slope = sum(w * (x - x0) * (y - y0) for w, (x, y) in zip(weights, points)) / spread if spread else 0
    slope = max(slope, 0)
    return max(y0 - slope * x0, 0), slope


def plane_through(points):
    """(a, b) of y = a x + b z, by least squares of relative errors; neither below 0."""
    xx = sum((x / y) ** 2 for x, _, y in points)
    zz = sum((z / y) ** 2 for _, z, y in points)
    xz = sum(x * z / y ** 2 for x, z, y in points)
    xy, zy = sum(x / y for x, _, y in points), sum(z / y for _, z, y in points)
    whole = xx * zz - xz * xz
    a, b = ((xy * zz - zy * xz) / whole, (zy * xx - xy * xz) / whole) if whole > 1e-9 * xx * zz else (xy / xx, 0)
    if b < 0:
        return xy / xx, 0
    return (0, zy / zz) if a < 0 else (a, b)


class Model:
    def __init__(self):
        self.sizes = {}  # of a partial result, by profiles
        self.points = {name: [] for name in ("read", "scan", "plan", "serialise", "receive", "write", "memory")}
        self.added = []  # profiles below the receiver, and below the sender; CPU seconds

    def measure(self, paths, directory):
        """One round, with two ranks; and with four in a flat tree on few profiles, for small messages that large trees take."""
        for part in (32, 16, 8, 4, 2, 1):
            two = run(2, 2, paths[:len(paths) // part], directory)
            size, message, whole = two[1]["sent_bytes"], two[0]["received"][0], merged_bytes(directory)
            self.sizes[two[1]["files"]] = size
            self.sizes[len(paths) // part] = whole
            for row in two:
                self.points["read"].append((row["files"], row["read_cpu_s"]))
                self.points["scan"].append((row["files"], row["scan_cpu_s"]))
            self.points["plan"].append((len(paths) // part, two[0]["plan_cpu_s"]))
            self.points["serialise"].append((size, two[1]["serialise_cpu_s"]))
            self.added.append((two[0]["files"], two[1]["files"], message["merge_cpu_s"]))
            self.points["receive"].append((size, message["receive_cpu_s"]))
            self.points["write"].append((whole, two[0]["write_cpu_s"]))
            self.points["memory"].append((whole, two[0]["max_rss_bytes"]))
            self.paths_each = two[0]["paths"] / two[0]["files"]
            self.bytes_each = two[0]["bytes"] / two[0]["files"]

        for part in (16, 8, 4):
            four = run(4, FLAT, paths[:len(paths) // part], directory)
            before = four[0]["files"]
            for message in four[0]["received"]:
                sender = four[message["from"]]["files"]
                self.added.append((before, sender, message["merge_cpu_s"]))
                before += sender

    def fit(self):
        by_size = {}
        for before, sender, cpu_s in self.added:
            by_size.setdefault((before, sender), []).append(cpu_s)
        self.merge = plane_through([(self.size(sender), self.growth(before, sender), statistics.median(of))
                                    for (before, sender), of in by_size.items()])
        for name, points in self.points.items():
            by_x = {}
            for x, y in points:
                by_x.setdefault(x, []).append(y)
            setattr(self, name, line_through([(x, statistics.median(of)) for x, of in sorted(by_x.items())]))

    def size(self, profiles):
        """Bytes of a partial result of so many profiles: along straight lines between those measured, both axes logarithmic."""
        known = sorted((math.log(n), math.log(size)) for n, size in self.sizes.items())
        x = math.log(max(profiles, 1))
        at = next((i for i in range(1, len(known)) if x <= known[i][0]), len(known) - 1)
        (x0, y0), (x1, y1) = known[at - 1], known[at]
        slope = (y1 - y0) / (x1 - x0)
        return math.exp(y0 + (max(slope, 0) if x > x1 else slope) * (x - x0))

    def growth(self, before, more):
        """Bytes by which the result of so many profiles grows with so many more."""
        return max(self.size(before + more) - self.size(before), 0)

    def time(self, profiles, ranks, fan_in, manifests, network_bytes_s=math.inf, limit=math.inf):
        """The same as critical_path(); `limit` bounds a partial result, as --prune-each does."""

        def cost(of, x):
            return of[0] + of[1] * x

        def reach(rank, step):
            """Profiles that are added up below this rank when it sends in that step."""
            return profiles * (min(rank + step, ranks) - rank) / ranks

        planned = cost(self.scan, manifests / ranks) + cost(self.plan, manifests)
        ready = {rank: planned + cost(self.read, profiles / ranks) for rank in range(ranks)}
        step = 1
        while step < ranks:
            for rank in range(0, ranks, step * fan_in):
                before = reach(rank, step)
                for other in range(rank + step, min(rank + step * fan_in, ranks), step):
                    size = min(self.size(reach(other, step)), limit)
                    more = min(self.growth(before, reach(other, step)), size)
                    sent = ready[other] + cost(self.serialise, size)
                    ready[rank] = (max(ready[rank], sent) + size / network_bytes_s + cost(self.receive, size) +
                                   self.merge[0] * size + self.merge[1] * more)
                    before += reach(other, step)
            step *= fan_in
        read = planned + cost(self.read, profiles / ranks)
        return ready[0] + cost(self.write, min(self.size(profiles), limit)), ready[0] - read

    def show(self, name):
        print("\n%s: %.0f paths and %.0f bytes a profile. CPU seconds: to read a profile %.3g; to scan a manifest %.3g, and to take what is in it at each rank %.3g; a partial "
              "result of s bytes: to serialise %.3g + %.3g s, to add %.3g s and %.3g for each byte by which the other grows, to receive %.3g + %.3g s, to write %.3g + %.3g s. "
              "Memory of rank 0: %.0f MB + %.3g s.\n" % (
                  name, self.paths_each, self.bytes_each, self.read[1], self.scan[1], self.plan[1], *self.serialise, *self.merge, *self.receive,
                  *self.write, self.memory[0] / 1e6, self.memory[1]))
        print("| profiles | " + " | ".join("%d" % n for n, _ in self.table()) + " |\n|" + " --- |" * (1 + len(self.table())))
        print("| bytes of their result | " + " | ".join("%.3g" % s for _, s in self.table()) + " |", flush=True)

    def table(self):
        return sorted(self.sizes.items())


# ---- tables ----


def measure(model, paths, args, directory):
    """Rounds of the model's runs and of each tree in turn, so that both meet the same neighbours. {(ranks, fan-in): critical paths}"""
    found = {}
    for _ in range(args.rounds):
        model.measure(paths, directory)
        for ranks in args.ranks:
            for fan_in in args.fan_ins:
                if fan_in == FLAT or fan_in < ranks:  # else it is flat
                    found.setdefault((ranks, fan_in), []).append(critical_path(run(ranks, fan_in, paths, directory)))
    model.fit()
    return found


def check(name, model, paths, found):
    rows = []
    print("\n| %s, %d profiles | fan-in | model, s | measured, s | differs | tree alone: model, s | measured, s | differs |"
          "\n|" % (name, len(paths)) + " ---: |" * 8)
    for (ranks, fan_in), runs in found.items():
        took = [statistics.median(of) for of in zip(*runs)]
        said = model.time(len(paths), ranks, fan_in, len(paths))
        rows.append({"inputs": name, "ranks": ranks, "fan_in": fan_in, "model_s": said[0], "measured_s": took[0],
                     "model_tree_s": said[1], "measured_tree_s": took[1], "runs": runs})
        print("| %d ranks | %s | %.3f | %.3f | %+.0f%% | %.3f | %.3f | %+.0f%% |" % (
            ranks, "flat" if fan_in == FLAT else fan_in, said[0], took[0], 100 * (said[0] / took[0] - 1), said[1], took[1],
            100 * (said[1] / took[1] - 1)), flush=True)
    return rows


def fleet(name, model, directory, paths):
    """On paper: one hour of the fleet. A profile of the model is a thread here, and a host has one manifest."""
    profiles = FLEET_HOSTS * FLEET_THREADS
    pruned = max(row["sent_bytes"] for row in run(8, 2, paths, directory, "--prune=0.01%", "--prune-each"))
    print("\n%s: %d hosts x %d threads: %.3g bytes, %.3g call paths; one core reads them in %.0f s. The result of all, by the last two points: "
          "%.3g bytes. With --prune=0.01%% --prune-each no message was larger than %.3g bytes.\n" % (
              name, FLEET_HOSTS, FLEET_THREADS, profiles * model.bytes_each, profiles * model.paths_each, profiles * model.read[1],
              model.size(profiles), pruned))
    print("| %s, ranks | fan-in | all, s | tree alone, s | messages to rank 0, bytes | memory of rank 0, MB | with --prune-each, s |\n|" % name +
          " ---: |" * 7)
    rows = []
    for ranks in 16, 64, 256, 1024:
        for fan_in in 2, 8, FLAT:
            took, tree = model.time(profiles, ranks, fan_in, FLEET_HOSTS, NETWORK_BYTES_S)
            short, _ = model.time(profiles, ranks, fan_in, FLEET_HOSTS, NETWORK_BYTES_S, pruned)
            received, step = 0, 1
            while step < ranks:
                for other in range(step, min(step * fan_in, ranks), step):
                    received += model.size(profiles * min(step, ranks - other) / ranks)
                step *= fan_in
            memory = (model.memory[0] + model.memory[1] * model.size(profiles)) / 1e6
            rows.append({"inputs": name, "ranks": ranks, "fan_in": fan_in, "s": took, "tree_s": tree, "root_bytes": received,
                         "root_memory_mb": memory, "pruned_s": short})
            print("| %d | %s | %.1f | %.2f | %.3g | %.0f | %.1f |" % (
                ranks, "flat" if fan_in == FLAT else fan_in, took, tree, received, memory, short), flush=True)
    return rows


def inputs(args, directory):
    """{name: directory of profiles}"""
    found = {}
    recorded = None
    for name in "recorded", "invented":
        found[name] = directory / name
        if not (found[name] / str(args.profiles - 1) / "manifest.json").exists():
            if name == "recorded":
                recorded = bench_merge.record(directory)
            bench_merge.run([BUILD / "bench" / "merge_inputs", found[name], args.profiles, args.nodes, 1,
                             *(recorded if name == "recorded" else [])])
    return found


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--profiles", type=int, default=512)
    options.add_argument("--nodes", type=int, default=20000, help="call paths of each profile")
    options.add_argument("--ranks", default="4,8,16,32")
    options.add_argument("--fan-ins", default="2,4,8,flat")
    options.add_argument("--rounds", type=int, default=3)
    options.add_argument("--inputs", type=pathlib.Path)
    options.add_argument("--json")
    args = options.parse_args()
    args.ranks = [int(word) for word in args.ranks.split(",")]
    args.fan_ins = [FLAT if word == "flat" else int(word) for word in args.fan_ins.split(",")]
    if not (BUILD / "locus-mpi").exists():
        sys.exit("scale_model: no %s: scripts/install-deps mpi, then make" % (BUILD / "locus-mpi"))
    every = []
    with tempfile.TemporaryDirectory(prefix="locus-scale-") as temporary:
        directory = pathlib.Path(temporary)
        for name, of in inputs(args, args.inputs or directory).items():
            paths = [of / str(i) for i in range(args.profiles)]
            model = Model()
            found = measure(model, paths, args, directory)
            model.show(name)
            every += check(name, model, paths, found)
            every += fleet(name, model, directory, paths)
    checked = [row for row in every if "measured_s" in row]
    for what in "", "tree_":
        errors = sorted(abs(row["model_%ss" % what] / row["measured_%ss" % what] - 1) for row in checked)
        print("\n%s: the model differs by %.0f%% in the median, by %.0f%% at most; within 20%% in %d of %d trees" % (
            "tree alone" if what else "all", 100 * statistics.median(errors), 100 * errors[-1],
            sum(error <= 0.2 for error in errors), len(errors)))
    if args.json:
        pathlib.Path(args.json).write_text(json.dumps(every, indent=1) + "\n")


if __name__ == "__main__":
    main()
