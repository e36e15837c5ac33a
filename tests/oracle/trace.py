"""As much of the trace file as the tests need, read anew and apart from the product: the words
of chunks that are not compact (LITIFUT_COMPACT=0), with their times."""

import glob
import os
import struct

EVENTS, METADATA = 1, 2
WORDS = 1
TIMED, CLOSED = 1, 2
CALL, INDIRECT, TAIL, EXIT, ENTER = 1, 2, 3, 4, 5
THREAD, TIME, CUT, MODULE = 17, 18, 22, 32
MARKED = 2
CHUNK_HEADER_BYTES = {1: 32, 2: 64}
FIRST_CHUNKS_AT, FIRST_CHUNKS = 192, 4


class Module:
    def __init__(self, order, words):
        data = struct.pack(f"{order}{len(words)}I", *words)
        self.serial, self.epoch, self.bias, self.start, self.end, self.flags = words[:6]
        self.name = data[48:112].split(b"\0")[0].decode()


class Trace:
    """One process. `threads` is {tid: [(kind, address, callee or sp, time)]}."""

    def __init__(self, path):
        with open(path, "rb") as file:
            self.data = file.read()
        self.order = "<" if self.data[8:12] == b"\4\3\2\1" else ">"
        self.major, self.minor, self.header_bytes, self.chunk_bytes = self.unpack("HHII", 12)
        self.machine = self.unpack("I", 24)[0]
        self.pid, self.clock, self.flags = (self.unpack("I", at)[0] for at in (32, 40, 44))
        self.modules, self.threads = [], {}
        chunks = []
        places = [(at, self.chunk_bytes) for at in range(
            self.header_bytes, len(self.data) - self.chunk_bytes + 1, self.chunk_bytes)]
        for i in range(FIRST_CHUNKS if self.major > 1 else 0):
            at, size = self.unpack("II", FIRST_CHUNKS_AT + 8 * i)
            if size:
                places.append((at, size))
        for at, size in places:
            magic, kind, encoding, flags, thread, number, used = self.unpack("IHHIIII", at)
            start = self.unpack("Q", at + 24)[0]
            if kind in (EVENTS, METADATA) and encoding == WORDS:
                chunks.append((kind != METADATA, thread, number, at, size, flags, used, start))
            elif kind:
                raise ValueError(f"{path}: chunk of kind {kind}, encoding {encoding}")
        for _, thread, _, at, size, flags, used, start in sorted(chunks):
            size -= CHUNK_HEADER_BYTES[self.major]
            count = (used if flags & CLOSED else size) // 4
            words = self.unpack(f"{count}I", at + CHUNK_HEADER_BYTES[self.major])
            self.read(thread, words, flags & TIMED, start)

    def unpack(self, form, offset):
        return struct.unpack_from(self.order + form, self.data, offset)

    def read(self, thread, words, timed, now):
        at = 0
        while at < len(words):
            word = words[at]
            following = 0
            event = None
            if word >= 0x10000 and word & 3 and self.flags & MARKED and not timed:
                event, following = (INDIRECT if word & 3 == 1 else TAIL, word & ~3), 1
            elif word >= 0x10000:
                event, following = (CALL, word, 0), 1 if timed else 0
            elif word & 0xFF == MODULE:
                following = word >> 8
                self.modules.append(Module(self.order, words[at + 1:at + 1 + following]))
            elif word & 0xFF == THREAD:
                thread, following = words[at + 1], word >> 8
            elif word & 0xFF == TIME:
                now, following = words[at + 1] | words[at + 2] << 32, word >> 8
            elif word:
                following = word >> 8
                if word & 0xFF in (CALL, INDIRECT, TAIL, EXIT, ENTER):
                    event = (word & 0xFF, words[at + 1], words[at + 2])
            if event and at + following < len(words):
                if timed:
                    low = words[at + following]
                    step = (low - now) & 0xFFFFFFFF
                    now += step - (1 << 32 if step >> 31 else 0)
                if len(event) == 2:
                    event += (words[at + 1],)
                self.threads.setdefault(thread, []).append(event + (now,))
            at += 1 + following

    def module_at(self, address):
        """The last one that was loaded there."""
        found = [m for m in self.modules if m.start <= address < m.end]
        return found[-1] if found else None


def traces(folder):
    return [Trace(path) for path in sorted(glob.glob(os.path.join(folder, "trace", "*.trace")))]
