# SPDX-License-Identifier: Apache-2.0
"""Reads a heap dump, and follows the chains of references that `locus holders` writes in it.

The format is HPROF 1.0.2 as HotSpot writes it. Only references are kept, and no values.
"""

import collections
import mmap
import re
import struct

SIZES = {4: 1, 5: 2, 6: 4, 7: 8, 8: 1, 9: 2, 10: 4, 11: 8}  # of primitive types
OBJECT = 2
# Roots in the dump: the tag, and bytes behind the object's ID.
ROOTS = {0xFF: ("unknown", 0), 0x01: ("JNI global reference", 8), 0x02: ("JNI local reference", 8), 0x03: ("local variable", 8),
         0x04: ("local variable", 4), 0x05: ("system class", 0), 0x06: ("local variable", 4), 0x07: ("locked monitor", 0),
         0x08: ("thread", 8)}
Class = collections.namedtuple("Class", "name super loader statics fields")
PARTS = re.compile(r"^(?P<name>.+?)(?P<arrays>(\[\])*)(?P<repeated> \(repeated\))?$")


class HeapDump:
    def __init__(self, path):
        self.classes, self.by_name = {}, collections.defaultdict(list)  # ID: Class; name: IDs
        self.objects, self.arrays = {}, {}  # ID: (class ID, offset of the fields); ID: IDs of elements
        self.of_class = collections.defaultdict(set)  # name: IDs
        self.roots = collections.defaultdict(set)  # kind: IDs
        self.texts, self.names = {}, {}  # ID: text; class ID: name
        self.layouts = {}
        with open(path, "rb") as f, mmap.mmap(f.fileno(), 0, access=mmap.ACCESS_READ) as data:
            self.data = data[:]
        at = self.data.index(b"\0") + 1
        assert struct.unpack_from(">I", self.data, at) == (8,)
        at += 12
        while at < len(self.data):
            tag, _, length = struct.unpack_from(">BII", self.data, at)
            at += 9
            if tag == 1:
                self.texts[self.id(at)] = self.data[at + 8:at + length].decode(errors="replace")
            elif tag == 2:
                self.names[self.id(at + 4)] = self.texts[self.id(at + 16)].replace("/", ".")
            elif tag in (0x0C, 0x1C):
                self.read_heap(at, at + length)
            at += length
        for number, c in self.classes.items():
            self.by_name[c.name].append(number)

    def id(self, at):
        return struct.unpack_from(">Q", self.data, at)[0]

    def read_heap(self, at, end):
        while at < end:
            tag, number = self.data[at], self.id(at + 1)
            at += 9
            if tag in ROOTS:
                kind, more = ROOTS[tag]
                self.roots[kind].add(number)
                at += more
            elif tag == 0x20:
                at = self.read_class(number, at)
            elif tag == 0x21:
                _, kind, length = struct.unpack_from(">IQI", self.data, at)
                self.objects[number] = kind, at + 16
                self.of_class[self.class_name(kind)].add(number)
                at += 16 + length
            elif tag == 0x22:
                _, length, kind = struct.unpack_from(">IIQ", self.data, at)
                self.arrays[number] = [i for i in struct.unpack_from(">%dQ" % length, self.data, at + 16) if i]
                self.of_class[self.class_name(kind)].add(number)
                at += 16 + 8 * length
            elif tag == 0x23:
                _, length, kind = struct.unpack_from(">IIB", self.data, at)
                self.of_class[{4: "boolean", 5: "char", 6: "float", 7: "double", 8: "byte", 9: "short", 10: "int", 11: "long"}[kind] + "[]"].add(number)
                at += 9 + length * SIZES[kind]
            else:
                raise ValueError("record %#x of a heap dump" % tag)

    def class_name(self, number):
        """The name as Locus writes it: "java.lang.Object[]" of "[Ljava.lang.Object;"."""
        name = self.names[number]
        depth = len(name) - len(name.lstrip("["))
        if depth:
            name = {"Z": "boolean", "B": "byte", "C": "char", "S": "short", "I": "int", "J": "long", "F": "float",
                    "D": "double"}.get(name[depth:], name[depth + 1:-1])
        return name + "[]" * depth

    def read_class(self, number, at):
        base, loader = self.id(at + 4), self.id(at + 12)
        at += 4 + 8 * 6 + 4
        (constants,) = struct.unpack_from(">H", self.data, at)
        at += 2
        for _ in range(constants):
            kind = self.data[at + 2]
            at += 3 + (8 if kind == OBJECT else SIZES[kind])
        (count,) = struct.unpack_from(">H", self.data, at)
        at += 2
        statics, fields = {}, []
        for _ in range(count):
            kind = self.data[at + 8]
            if kind == OBJECT:
                statics[self.texts[self.id(at)]] = self.id(at + 9)
            at += 9 + (8 if kind == OBJECT else SIZES[kind])
        (count,) = struct.unpack_from(">H", self.data, at)
        at += 2
        for _ in range(count):
            fields.append((self.texts[self.id(at)], self.data[at + 8]))
            at += 9
        self.classes[number] = Class(self.class_name(number), base, loader, statics, fields)
        return at

    # ---- references ----

    def layout(self, kind):
        """{(declaring class, field): offset} of the references in an object of the class."""
        if kind not in self.layouts:
            out, at, c = {}, 0, self.classes.get(kind)
            while c:
                for name, what in c.fields:
                    if what == OBJECT:
                        out.setdefault((c.name, name), at)
                    at += 8 if what == OBJECT else SIZES[what]
                c = self.classes.get(c.super)
            self.layouts[kind] = out
        return self.layouts[kind]

    def field(self, objects, name):
        declarer, _, field = name.rpartition(".")
        out = set()
        for number in objects:
            if number in self.objects:
                kind, at = self.objects[number]
                offset = self.layout(kind).get((declarer, field))
                if offset is not None:
                    out.add(self.id(at + offset))
        return out - {0}

    def elements(self, objects):
        return {e for number in objects for e in self.arrays.get(number, ())}

    def everything(self):
        return self.classes.keys() | set().union(*self.of_class.values())

    def root(self, text):
        """The objects that a chain's first part may mean; None: a dump does not tell."""
        if text.startswith("static "):
            declarer, _, field = text[7:].rpartition(".")
            return {self.classes[c].statics.get(field, 0) for c in self.by_name[declarer]} - {0}
        kind, _, of = text.partition(" (class ")
        if kind == "system class":  # the dump names some of them only
            return set(self.by_name[of[:-1]])
        for name, ids in self.roots.items():
            if kind.startswith(name):
                return ids & set(self.by_name[of[:-1]]) if of else ids
        return None

    def follow(self, chain):
        """The objects to which the chain leads, and whether its root is one that a dump has."""
        first, *parts = chain.split(" -> ")
        part = PARTS.match(first)
        objects = self.root(part["name"])
        known = objects is not None
        objects = objects if known else self.everything()
        for _ in range(part["arrays"].count("[")):
            objects = self.elements(objects)
        for text in parts:
            part = PARTS.match(text)
            what = part["name"].rpartition(".")[2]
            if part["name"] == "..." or what.startswith("("):  # the middle of a long chain, or a class's own references
                objects, known = self.everything(), known and part["name"] == "..."
                continue
            reached = self.field(objects, part["name"])
            new = reached if part["repeated"] else set()
            while new:
                new = self.field(new, part["name"]) - reached
                reached |= new
            objects = reached
            for _ in range(part["arrays"].count("[")):
                objects = self.elements(objects)
        return objects, known
