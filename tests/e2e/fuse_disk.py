# SPDX-License-Identifier: Apache-2.0
"""A file system in memory that hangs, or refuses to write, when it is told to: fuse_disk.py DIRECTORY CONTROL

It is mounted at DIRECTORY until that is unmounted. The file CONTROL says what becomes of a write:
nothing or no file: it is done; "hang": it waits until CONTROL says something else, and CONTROL.held is made; a
number: it fails with that errno. This speaks the kernel's FUSE protocol (linux/fuse.h, 7.31) itself.
"""

import ctypes
import errno
import os
import pathlib
import select
import stat
import struct
import sys

LOOKUP, FORGET, GETATTR, SETATTR, MKDIR, UNLINK, RMDIR, RENAME, OPEN, READ, WRITE = 1, 2, 3, 4, 9, 10, 11, 12, 14, 15, 16
STATFS, RELEASE, FSYNC, FLUSH, INIT, OPENDIR, READDIR, RELEASEDIR = 17, 18, 20, 25, 26, 27, 28, 29
CREATE, INTERRUPT, BATCH_FORGET, RENAME2 = 35, 36, 42, 45
MOST = 128 << 10  # bytes of a write
HEADER = struct.Struct("<IIQQIIIHH")
ENTRY_BYTES = 24


class Node:
    def __init__(self, mode, uid, gid):
        self.mode, self.uid, self.gid = mode, uid, gid
        self.data, self.names = bytearray(), {}


class Disk:
    def __init__(self, directory, control):
        self.control, self.waiting = control, []
        self.nodes = {1: Node(stat.S_IFDIR | 0o755, os.geteuid(), os.getegid())}
        self.next = 2
        self.fd = os.open("/dev/fuse", os.O_RDWR)
        libc = ctypes.CDLL(None, use_errno=True)
        options = "fd=%d,rootmode=40000,user_id=0,group_id=0,allow_other" % self.fd
        if libc.mount(b"fuse", os.fsencode(directory), b"fuse", 0, options.encode()):
            raise OSError(ctypes.get_errno(), "mount")

    def attributes(self, number):
        n = self.nodes[number]
        links = 2 if stat.S_ISDIR(n.mode) else 1
        blocks = (len(n.data) + 511) // 512
        return struct.pack("<6Q10I", number, len(n.data), blocks, 0, 0, 0, 0, 0, 0, n.mode, links, n.uid, n.gid, 0, 4096, 0)

    def entry(self, number):
        return struct.pack("<4Q2I", number, 0, 0, 0, 0, 0) + self.attributes(number)

    def make(self, parent, name, node):
        names = self.nodes[parent].names
        if name in names:
            raise FileExistsError(errno.EEXIST, name)
        names[name] = self.next
        self.nodes[self.next] = node
        self.next += 1
        return self.entry(names[name])

    def look_up(self, parent, name):
        number = self.nodes[parent].names.get(name)
        if not number:
            raise FileNotFoundError(errno.ENOENT, name)
        return number

    def list(self, number, offset):
        out = b""
        for i, (name, child) in enumerate(self.nodes[number].names.items()):
            padded = name + bytes(-(ENTRY_BYTES + len(name)) % 8)
            if i >= offset and len(out) < 3000:
                out += struct.pack("<2Q2I", child, i + 1, len(name), self.nodes[child].mode >> 12) + padded
        return out

    def set(self, number, body):
        row = struct.unpack("<2I6Q8I", body[:88])
        valid, size, mode, uid, gid = row[0], row[3], row[11], row[13], row[14]
        n = self.nodes[number]
        if valid & 1:
            n.mode = stat.S_IFMT(n.mode) | mode & 0o7777
        n.uid = uid if valid & 2 else n.uid
        n.gid = gid if valid & 4 else n.gid
        if valid & 8:
            n.data = n.data[:size] + bytes(max(0, size - len(n.data)))

    def write(self, number, body):
        said = self.control.read_text().strip() if self.control.exists() else ""
        if said == "hang":
            self.control.with_name(self.control.name + ".held").touch()
            return None
        if said:
            raise OSError(int(said), "told to")
        offset, size = struct.unpack("<QI", body[8:20])
        data = self.nodes[number].data
        data.extend(bytes(max(0, offset - len(data))))
        data[offset:offset + size] = body[40:40 + size]
        return struct.pack("<2I", size, 0)

    def rename(self, number, body, names_at):
        to = struct.unpack("<Q", body[:8])[0]
        old, new = body[names_at:].split(b"\0")[:2]
        self.nodes[to].names[new] = self.look_up(number, old)
        del self.nodes[number].names[old]

    def answer(self, opcode, number, uid, gid, body):
        """Returns what is answered, or None: it waits."""
        name = body.split(b"\0")[0]
        if opcode == INIT:
            return struct.pack("<4I2H2I2HI", 7, 31, 1 << 16, 0, 8, 8, MOST, 1, 32, 0, 0) + bytes(28)
        if opcode == LOOKUP:
            return self.entry(self.look_up(number, name))
        if opcode in (GETATTR, SETATTR):
            if opcode == SETATTR:
                self.set(number, body)
            return struct.pack("<Q2I", 0, 0, 0) + self.attributes(number)
        if opcode == MKDIR:
            return self.make(number, body[8:-1], Node(stat.S_IFDIR | struct.unpack("<I", body[:4])[0] & 0o7777, uid, gid))
        if opcode == CREATE:
            made = self.make(number, body[16:-1], Node(stat.S_IFREG | struct.unpack("<I", body[4:8])[0] & 0o7777, uid, gid))
            return made + bytes(16)
        if opcode in (UNLINK, RMDIR):
            self.look_up(number, name)
            del self.nodes[number].names[name]
            return b""
        if opcode in (RENAME, RENAME2):
            self.rename(number, body, 8 if opcode == RENAME else 16)
            return b""
        if opcode in (OPEN, OPENDIR):
            return bytes(16)
        if opcode == READ:
            offset, size = struct.unpack("<QI", body[8:20])
            return bytes(self.nodes[number].data[offset:offset + size])
        if opcode == READDIR:
            return self.list(number, struct.unpack("<Q", body[8:16])[0])
        if opcode == WRITE:
            return self.write(number, body)
        if opcode == STATFS:
            return struct.pack("<5Q10I", 4096, 2048, 2048, 1000, 900, 4096, 255, 4096, *[0] * 7)
        if opcode in (RELEASE, RELEASEDIR, FSYNC, FLUSH):
            return b""
        raise OSError(errno.ENOSYS, "call %d" % opcode)

    def serve(self, request):
        """Returns whether it was answered."""
        _len, opcode, unique, number, uid, gid = HEADER.unpack(request[:40])[:6]
        if opcode in (FORGET, BATCH_FORGET, INTERRUPT):  # what hangs does not hear that nobody waits
            return True
        error = 0
        try:
            out = self.answer(opcode, number, uid, gid, request[40:])
        except OSError as e:
            out, error = b"", -e.errno
        if out is None:
            return False
        os.write(self.fd, struct.pack("<IiQ", 16 + len(out), error, unique) + out)
        return True

    def run(self):
        poll = select.poll()
        poll.register(self.fd, select.POLLIN)
        while True:
            self.waiting = [request for request in self.waiting if not self.serve(request)]
            if not poll.poll(20):
                continue
            try:
                request = os.read(self.fd, MOST + 8192)
            except OSError as e:
                if e.errno == errno.ENODEV:
                    return  # unmounted
                continue  # who asked is gone
            if not self.serve(request):
                self.waiting.append(request)


if __name__ == "__main__":
    disk = Disk(sys.argv[1], pathlib.Path(sys.argv[2]))
    print("mounted", flush=True)
    disk.run()
