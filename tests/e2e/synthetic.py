# SPDX-License-Identifier: Apache-2.0
"""A second writer of profiles, made from docs/FORMAT.md alone, and a reader for tests.

Shares no code with the C writers: checksums are computed here, and payloads are zstd frames of
uncompressed blocks, which need no library. (Payloads that are really compressed come from the
C writers' own tests.)
"""

import itertools
import json
import shutil
import struct
from pathlib import Path

MAGIC = bytes.fromhex("894c43420d0a1a0a")
ALL = 0xFFFFFFFF
BUCKETS = ["object", "heap_class", "heap_unknown", "jvm", "native", "no_address", "lost"]
(STRINGS, THREAD, METHODS, FRAMES, PATHS, SITES, ALLOCATIONS, ACCESSES, BUCKET_ROWS, DETAILS, THREADS,
 FIELDS, METRICS, LINES, ESTIMATES, SPLITS, MERGED_LINES, PLACEMENTS, NODES, HOMES, SPANS, TASKS,
 SPAN_ACCESSES, TIMELINE, PAUSES, TRACE, SPREADS, LOOKS, RUNNING, RECURSIONS) = range(1, 31)
SITE_NAMES, COPIES, STEPS, WEIGHTS, LAYOUTS, REACHES, OFFHEAP, LIVE, OFFHEAP_BEFORE, CONTENTS, HOLDERS, AGES, HELD = 31, 32, 33, 36, 34, 38, 39, 40, 42, 46, 48, 49, 52
NESTED, RUNNING_NESTED = 50, 51
SOURCES = ["unknown", "l1", "fill_buffer", "l2", "l3", "local_dram", "remote_dram", "remote_cache",
           "other"]
REFERENCES = ["unknown", "field", "static", "parameter", "result", "new", "constant", "class", "caught", "several"]
WHYS = ["no_header", "unknown", "virtual_call", "interface_call", "type_check", "store_check", "length", "bounds_check",
        "monitor", "identity_hash", "null_check", "allocation"]
HITM, TLB_MISS, LOCKED, STORED = 1, 2, 4, 8  # flags of METRICS
LOAD, STORE = 1, 2  # access of FIELDS and LINES
METHOD = {"live": 0, "hits": 1, "live-whole": 2, "hits-whole": 3}
KINDS = ["anonymous", "primordial", "support", "pulled", "foreign", "task", "thread"]
SUBMITS = ["none", "execute", "submit", "fork", "fork_join_pool", "invoke_all", "schedule", "async", "start"]
FOLDED, SUBMITTED, SAME_THREAD, FORK_JOIN, VIRTUAL = 1, 2, 4, 8, 16  # flags of TRACE
TIMELINE_NS = 100_000_000
SPAN_BUCKETS = 192

_P = [11400714785074694791, 14029467366897019727, 1609587929392839161, 9650029242287828579,
      2870177450012600261]
_M = (1 << 64) - 1


def _rotate(x, n):
    return (x << n | x >> (64 - n)) & _M


def xxh64(data):
    """XXH64 with seed 0."""

    def step(acc, lane):
        return _rotate((acc + lane * _P[1]) & _M, 31) * _P[0] & _M

    at = 0
    if len(data) >= 32:
        v = [(_P[0] + _P[1]) & _M, _P[1], 0, -_P[0] & _M]
        stripes = len(data) // 32
        for lanes in struct.iter_unpack("<4Q", data[:32 * stripes]):
            v = [step(acc, lane) for acc, lane in zip(v, lanes)]
        h = sum(_rotate(x, n) for x, n in zip(v, (1, 7, 12, 18))) & _M
        for x in v:
            h = ((h ^ step(0, x)) * _P[0] + _P[3]) & _M
        at = 32 * stripes
    else:
        h = _P[4]
    h = (h + len(data)) & _M
    while at + 8 <= len(data):
        h = (_rotate(h ^ step(0, struct.unpack_from("<Q", data, at)[0]), 27) * _P[0] + _P[3]) & _M
        at += 8
    if at + 4 <= len(data):
        h = (_rotate(h ^ struct.unpack_from("<I", data, at)[0] * _P[0] & _M, 23) * _P[1] + _P[2]) & _M
        at += 4
    for byte in data[at:]:
        h = _rotate(h ^ byte * _P[4] & _M, 11) * _P[0] & _M
    h = (h ^ h >> 33) * _P[1] & _M
    h = (h ^ h >> 29) * _P[2] & _M
    return h ^ h >> 32


def zstd_frame(data):
    """A frame that states its content size and holds `data` in blocks of type raw."""
    out = struct.pack("<IBQ", 0xFD2FB528, 0xE0, len(data))  # single segment, 8 bytes of size
    chunks = [data[i:i + 65536] for i in range(0, len(data), 65536)] or [b""]
    for i, chunk in enumerate(chunks):
        out += (len(chunk) << 3 | (i == len(chunks) - 1)).to_bytes(3, "little") + chunk
    return out


def varint(value):
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def signed(value):
    """The unsigned number that stands for one with a sign."""
    return -2 * value - 1 if value < 0 else 2 * value


def span_bucket(cycles):
    """The bucket of a histogram that so many cycles go to."""
    if cycles < 4:
        return max(cycles, 0)
    n = cycles.bit_length() - 1
    return min(4 * (n - 1) + (cycles >> (n - 2)) - 4, SPAN_BUCKETS - 1)


def section(kind, rows, counted=True):
    body = (varint(len(rows)) if counted else b"") + b"".join(rows)
    return varint(kind) + varint(len(body)) + body


def header(payload, stored, *, tid, index, sequence, begin=0, end=0, process=0, version=1,
           extra=b""):
    head = MAGIC + struct.pack("<HHIIIQQQIIQ", version, 72 + len(extra), process, tid, index,
                               sequence, begin, end, len(payload), len(stored), xxh64(stored))
    head += extra
    return head + struct.pack("<Q", xxh64(head))


def _node(number):
    return 0 if number is None else number + 1


_begun, _copied = itertools.count(), itertools.count(1)  # no two profiles are of one process


def another(path, target, copy=shutil.copy2):
    """A copy of a recorded profile as if another process had been recorded; with os.link() its blocks are the same."""
    number = next(_copied)
    shutil.copytree(path, target, copy_function=copy)
    for file in target.rglob("manifest.json"):
        manifest = json.loads(file.read_text())
        for process in manifest["processes"]:
            process["start_wall_ns"] += number
        file.unlink()
        file.write_text(json.dumps(manifest))
    return target


class Block:
    """Counts of one thread. Paths are tuples of frames, leaf first; a frame is
    (class, method, signature, file, bci or None, line or None). With `tells_pairs` the block is of version 3,
    which says of samples how many pairs of them came with one interrupt."""

    def __init__(self, tells_pairs=False):
        self.tells_pairs, self.weights = tells_pairs, {}
        self.strings, self.methods, self.frames, self.paths, self.sites = {}, {}, {}, {}, {}
        self.rows = {kind: [] for kind in (*range(1, RECURSIONS + 1), SITE_NAMES, COPIES, STEPS, REACHES, LAYOUTS, LIVE, OFFHEAP, OFFHEAP_BEFORE, CONTENTS, HOLDERS, AGES, NESTED, RUNNING_NESTED, HELD)}
        self.samples = {}
        self.last_begin = 0  # of TRACE

    def string(self, text):
        data = text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass")
        if not data:
            return 0
        if data not in self.strings:
            self.strings[data] = len(self.strings) + 1
            self.rows[STRINGS].append(varint(len(data)) + data)
        return self.strings[data]

    def _define(self, table, kind, key, first, fields):
        if key not in table:
            row = b"".join(varint(f) for f in fields())
            table[key] = len(table) + first
            self.rows[kind].append(row)
        return table[key]

    def path(self, frames):
        if not frames:
            return 0
        frames = tuple(frames)
        if frames in self.paths:
            return self.paths[frames]
        parent = self.path(frames[1:])
        number = len(self.paths) + 1
        self.rows[PATHS].append(varint(number - parent) + varint(self.frame(frames[0])))
        self.paths[frames] = number
        return number

    def frame(self, frame):
        cls, name, signature, file, bci, line = frame
        method = self._define(self.methods, METHODS, frame[:4], 0, lambda: [
            self.string(cls), self.string(name), self.string(signature), self.string(file)])
        return self._define(self.frames, FRAMES, (method, bci, line), 0, lambda: [
            method, 0 if bci is None else bci + 1, 0 if line is None else line + 1])

    def site(self, cls, frames):
        return self._define(self.sites, SITES, (cls, tuple(frames)), 1, lambda: [
            self.string(cls), self.path(frames)])

    def allocate(self, cls, frames, count, size):
        self.rows[ALLOCATIONS].append(
            varint(self.site(cls, frames)) + varint(count) + varint(size))
        return self

    def spread(self, cls, frames, objects):
        return self._row(SPREADS, [self.site(cls, frames), objects])

    def recursion(self, frames, cycle):
        return self._row(RECURSIONS, [self.path(frames), cycle])

    def copied(self, cls, frames, objects, size, outlived=0, outlived_bytes=0, estimated=0):
        return self._row(COPIES, [self.site(cls, frames), objects, size, outlived, outlived_bytes, estimated])

    def off_heap(self, cls, frames, allocated, allocated_bytes, freed=0, freed_bytes=0):
        return self._row(OFFHEAP, [self.site(cls, frames), allocated, allocated_bytes, freed, freed_bytes])

    def off_heap_before(self, cls, frames, blocks, size):
        return self._row(OFFHEAP_BEFORE, [self.site(cls, frames), blocks, size])

    def live(self, kind, time_ns, site, objects, size, sampled=0, estimated=(0, 0), estimated_bytes=(0, 0)):
        """`kind`: "least", "now" or "young"; no site: the heap. Estimates are pairs of value and variance."""
        return self._row(LIVE, [time_ns, ["least", "now", "young"].index(kind), self.site(*site) if site else 0, objects, size, sampled,
                                1000 * estimated[0], 1000 * estimated[1], estimated_bytes[0], estimated_bytes[1] >> 20])

    def ages(self, time_ns, site, *objects):
        """Five numbers of objects, those that have survived the fewest collections first."""
        return self._row(AGES, [time_ns, self.site(*site), *(1000 * n for n in objects)])

    def held_by(self, time_ns, site, chain, objects):
        """So many of the objects that were looked at; "": by other chains."""
        return self._row(HOLDERS, [time_ns, self.site(*site), self.string(chain), objects])

    def held(self, time_ns, site, known, looked_for, reached):
        """A walk of the heap has looked for so many of the known objects, and reached some."""
        return self._row(HELD, [time_ns, self.site(*site), known, looked_for, reached])

    def content(self, site, dead=0, zero=0, size=0, used=0, parts=(0, 0, 0, 0, 0), outlived=0, same=0, other=0):
        """Arrays looked at; `parts`: dead ones used up to 1/64, 1/16, 1/8, 1/4, 1/2."""
        return self._row(CONTENTS, [self.site(*site), dead, zero, size, used, *parts, outlived, same, other])

    def layout(self, site, offset, size, name):
        """A field of the site's class; without a name and bytes: `offset` is the object's size."""
        return self._row(LAYOUTS, [self.site(*site), offset, size, self.string(name)])

    def named(self, site, name, kind=0):
        """The place where the program stores the site's objects: 0 a field, 1 a local variable, 2 an argument."""
        return self._row(SITE_NAMES, [self.site(*site), kind, self.string(name)])

    def step(self, bucket, site, step, end, samples, engine=0, weight=1):
        return self._row(STEPS, [engine, BUCKETS.index(bucket), self.site(*site), step, end, samples,
                                 *self._pairs(samples, weight)])

    def reach(self, bucket, site, frames, samples, name="", kind="unknown", why="no_header", engine=0, weight=1):
        return self._row(REACHES, [*self._place(bucket, site, frames, engine), WHYS.index(why), REFERENCES.index(kind), self.string(name),
                                   samples, *self._pairs(samples, weight)])

    def _pairs(self, samples, weight):
        return [samples // weight * (weight * (weight - 1) // 2)] if self.tells_pairs else []

    def access(self, bucket, frames, samples, site=None, engine=0, weight=1):
        """`weight`: how many samples each interrupt counted as."""
        kind = BUCKETS.index(bucket)
        number = self.site(*site) if site else 0
        self._row(ACCESSES, [engine, kind, number, self.path(frames), samples, *self._pairs(samples, weight)])
        if self.tells_pairs:
            self.weights[engine, weight] = self.weights.get((engine, weight), 0) + samples // weight
        return self.count(bucket, samples, engine)

    def count(self, bucket, samples, engine=0):
        key = engine, BUCKETS.index(bucket)
        self.samples[key] = self.samples.get(key, 0) + samples
        return self

    def detail(self, where, how, samples, engine=0):
        self.rows[DETAILS].append(b"".join(varint(v) for v in (engine, where, how, samples)))
        return self

    def _place(self, bucket, site, frames, engine):
        return [engine, BUCKETS.index(bucket), self.site(*site) if site else 0, self.path(frames)]

    def _row(self, kind, fields):
        self.rows[kind].append(b"".join(varint(f) for f in fields))
        return self

    def field(self, bucket, site, frames, samples, name="", first=0, last=0, access=0, engine=0,
              weight=1):
        return self._row(FIELDS, [*self._place(bucket, site, frames, engine), self.string(name),
                                  first, last, access, samples, *self._pairs(samples, weight)])

    def metric(self, bucket, site, frames, samples, source="unknown", flags=0, latency=0,
               latency_max=0, engine=0):
        return self._row(METRICS, [*self._place(bucket, site, frames, engine),
                                   SOURCES.index(source), flags, samples, latency, latency_max])

    def line(self, number, bucket, site, frames, samples, byte, width=8, access=0, name="", first=0,
             hitm=0, engine=0, weight=1):
        return self._row(LINES, [number, *self._place(bucket, site, frames, engine), byte, width,
                                 access, self.string(name), first, samples, hitm, *self._pairs(samples, weight)])

    def estimate(self, site, sampled, objects, objects_variance, size, size_variance, outlived):
        """Variances of objects and of bytes; `outlived`: five numbers of objects."""
        return self._row(ESTIMATES, [self.site(*site), sampled, 1000 * objects,
                                     1000 * objects_variance, size, size_variance >> 20,
                                     *(1000 * n for n in outlived)])

    def split(self, method, class_site, site, samples, variance, engine=0):
        return self._row(SPLITS, [engine, METHOD[method], self.site(*class_site), self.site(*site),
                                  round(1000 * samples), round(1000 * variance)])

    def place(self, bucket, site, frames, samples, accessing, owning, source="unknown", engine=0, weight=1):
        """Nodes are numbers; None is unknown, here and below."""
        return self._row(PLACEMENTS, [*self._place(bucket, site, frames, engine), _node(accessing),
                                      _node(owning), SOURCES.index(source), samples,
                                      *self._pairs(samples, weight)])

    def ran(self, node, samples, migrations=0, engine=0):
        return self._row(NODES, [engine, _node(node), samples, migrations])

    def home(self, site, node, objects, size):
        return self._row(HOMES, [self.site(*site), _node(node), objects, size])

    def _span(self, kind, where, type, level, submit, submitted):
        """kind; level; submit kind; site; path of the submission; path. `where` is a stream's location or
        where a task was created; both and `submitted` are tuples of frames, leaf first."""
        task = KINDS.index(kind) >= KINDS.index("task")
        return [KINDS.index(kind), level, SUBMITS.index(submit),
                self.site(type, where) if task and type else 0, self.path(submitted),
                0 if task else self.path(where)]

    def span(self, kind, where, cycles, *, type="", level=0, submit="none", submitted=(), overhead=0,
             executions=None, folded=0, switches=0, gc=(0, 0), wait=(0, 0), wall_ns=None,
             nested=(0, 0, 0, 0), inside=0, intervals=()):
        """Executions in one row: `cycles` is a list, one number for each; compensated ones are less by
        `overhead` each. `gc` and `wait`: number and ns. `inside`: compensated cycles of spans inside.
        `intervals`: pairs of first and last ns."""
        compensated = [c - overhead for c in cycles]
        counts, row = {}, self._span(kind, where, type, level, submit, submitted)
        if inside:
            self._row(NESTED, [*row, inside])
        for c in compensated:
            counts[span_bucket(c)] = counts.get(span_bucket(c), 0) + 1
        row += [len(cycles) if executions is None else executions, folded, sum(cycles),
                signed(sum(compensated)), sum(c < 0 for c in compensated), switches, *gc, wait[1],
                wait[0], sum(cycles) if wall_ns is None else wall_ns, *nested, len(intervals)]
        end = 0
        for first, last in intervals:
            row += [first - end, last - first]
            end = last
        row.append(len(counts))
        after = 0
        for bucket, count in sorted(counts.items()):
            row += [bucket - after, count]
            after = bucket + 1
        return self._row(SPANS, row)

    def made(self, type, created, count, submit="none", submitted=()):
        return self._row(TASKS, [self.site(type, created) if type else 0, SUBMITS.index(submit),
                                 self.path(submitted), count])

    def span_access(self, kind, where, bucket, site, frames, samples, *, type="", engine=0):
        """Samples of an access inside a span; the access as in access()."""
        row = self._span(kind, where, type, 0, "none", ())
        return self._row(SPAN_ACCESSES, [row[0], row[3], row[5],
                                         *self._place(bucket, site, frames, engine), samples])

    def look(self, where, looked, comparable, repeated=0, changed=0, plain=0):
        """Streams of a place whose source and result were looked at."""
        return self._row(LOOKS, [self.path(where), looked, comparable, repeated, changed, plain])

    def running(self, number, kind, where, begin_ns, cycles, *, compensated=None, type="", level=0,
                submit="none", submitted=(), folded=0, ended=0, inside=0):
        """A span that was open when the block was written; `ended`: it has ended since then."""
        if inside:
            self._row(RUNNING_NESTED, [number, inside])
        names = self._span(kind, where, type, level, submit, submitted)
        return self._row(RUNNING, [number, names[0], names[1], names[2], names[3], names[4], names[5], begin_ns,
                                   cycles, cycles if compensated is None else compensated, folded, ended])

    def slice(self, start_ns, cpu_ns, voluntary=0, involuntary=0):
        assert start_ns % TIMELINE_NS == 0
        return self._row(TIMELINE, [start_ns // TIMELINE_NS, cpu_ns, voluntary, involuntary])

    def pause(self, begin_ns, duration_ns):
        return self._row(PAUSES, [begin_ns, duration_ns])

    def trace(self, number, kind, where, begin_ns, duration_ns, cycles, *, outer=0, logical=0, type="",
              level=0, submit="none", submitted=(), flags=0, creator=None, overhead=0, switches=0,
              wait_ns=0):
        """`creator`: index of a thread, None where it is unknown."""
        names = self._span(kind, where, type, level, submit, submitted)
        begin, self.last_begin = begin_ns - self.last_begin, begin_ns
        return self._row(TRACE, [signed(begin), number, outer, logical, *names[:3], flags, *names[3:],
                                 0 if creator is None else creator + 1, duration_ns, cycles,
                                 signed(cycles - overhead), switches, wait_ns])

    def payload(self, name, extra=b""):
        number = self.string(name)
        rows = dict(self.rows)
        rows[BUCKET_ROWS] = [varint(e) + varint(b) + varint(n)
                             for (e, b), n in sorted(self.samples.items())]
        rows[THREAD] = [varint(number)]
        rows[WEIGHTS] = [varint(e) + varint(w) + varint(n) for (e, w), n in sorted(self.weights.items())]
        return b"".join(section(kind, rows[kind], kind != THREAD)
                        for kind in sorted(rows) if rows[kind]) + extra


class Profile:
    def __init__(self, path, *, command="java -cp app.jar Main", pid=4711, jdk="17.0.15",
                 gc="G1", engines=None, complete=True, counters=None, options=None, spans=None):
        self.path = Path(path)
        self.path.mkdir(parents=True, exist_ok=True)
        self.blocks, self.sequences, self.end = 0, {}, 0
        self.manifest = {
            "format": 1,
            "engines": engines if engines is not None else [engine()],
            "processes": [{
                "pid": pid, "complete": complete, "command": command, "jdk": jdk, "gc": gc,
                "start_wall_ns": 1_750_000_000_000_000_000 + 10**6 * next(_begun),
                "start_monotonic_ns": 1_000_000_000,
                "end_wall_ns": 1_750_000_010_000_000_000, "end_monotonic_ns": 11_000_000_000,
                "options": options or {"interval": "5ms"}, "counters": counters or {}}]}
        if spans is not None:
            self.manifest["processes"][0]["spans"] = spans

    def append(self, block, *, index=0, tid=None, name="main", begin=1_000_000_000,
               end=2_000_000_000, extra=b"", **more):
        payload = block.payload(name, extra)
        stored = zstd_frame(payload)
        sequence = self.sequences.get(index, 0)
        data = header(payload, stored, tid=4711 + index if tid is None else tid, index=index,
                      sequence=sequence, begin=begin, end=end,
                      **({"version": 3 if block.tells_pairs else 1} | more)) + stored
        with open(self.file(index), "ab") as f:
            f.write(data)
        self.sequences[index] = sequence + 1
        self.blocks += 1
        return self

    def file(self, index=0):
        return self.path / f"thread-{index}.lcb"

    def close(self):
        self.manifest["blocks"] = self.blocks
        (self.path / "manifest.json").write_text(json.dumps(self.manifest, indent=1))
        return self.path


def engine(name="timer", event="thread-cpu-time", interval_ns=5_000_000,
           unit="ns of thread CPU time", **more):
    return {"name": name, "event": event, "interval_ns": interval_ns, "unit": unit, **more}


def spans(**more):
    """The manifest's member `spans`."""
    return {"streams": True, "tasks": True, "nested": True, "streams_error": None, "tasks_error": None,
            "clock": "tsc_switches", "clock_reason": "no rdpmc", "clock_hz": 2_500_000_000,
            "calibration": "cached", "calibration_warning": None,
            "costs": [{"name": name, "mean_cycles": mean, "variation": 0.01} for name, mean in (
                ("inner", 37.5), ("anonymous", 44.0), ("primordial", 60.0), ("support", 70.0),
                ("task", 50.0), ("task_inner", 40.0))], **more}


def frame(cls, method, line, bci=None, signature="()V", file=None):
    if file is None:
        file = cls.rsplit(".", 1)[-1].split("$")[0] + ".java"
    return cls, method, signature, file, 3 * line if bci is None else bci, line
