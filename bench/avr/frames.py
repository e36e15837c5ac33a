#!/usr/bin/env python3
"""usage: frames.py ELF WORDS CAPTURE

Puts words of a ring (<litifut/paths_format.h>), as a node has kept them one behind the other, into frames
(<litifut/frames_format.h>), as it would have sent them, so that litifut-post reads them."""

import os
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../tests/oracle"))
from elf import Elf  # noqa: E402
from spans import crc_of  # noqa: E402

VERSION, PATHS = 1, 32
FRAME_WORDS = 5
ROUND_WORDS = 1000


def number(value):
    """LEB128"""
    encoded = bytearray()
    while value > 0x7f:
        encoded.append(value & 0x7f | 0x80)
        value >>= 7
    encoded.append(value)
    return bytes(encoded)


class Line:
    def __init__(self):
        self.sent, self.sequence = bytearray(b"\0"), 0

    def frame(self, kind, payload):
        data = bytes([ord(kind), self.sequence]) + payload
        data += struct.pack("<H", crc_of(data))
        for piece in data.split(b"\0"):
            self.sent += bytes([len(piece) + 1]) + piece
        self.sent.append(0)
        self.sequence = (self.sequence + 1) % 256


def main():
    elf = Elf(sys.argv[1])
    identity = elf.offset_of(elf.address_of_name("litifut_identity"))
    with open(sys.argv[2], "rb") as file:
        words = file.read()
    line, count = Line(), len(words) // 4
    for turn, first in enumerate(range(0, count, ROUND_WORDS)):
        end = min(first + ROUND_WORDS, count)
        line.frame("H", bytes([VERSION, PATHS]) + elf.data[identity + 4:identity + 12] + bytes(3) + number(turn % 256))
        line.frame("B", number(first) + number(end) + number(0))
        frames = 1
        for position in range(first, end, FRAME_WORDS):
            line.frame("W", number(position) + words[4 * position:4 * min(position + FRAME_WORDS, end)])
            frames += 1
        line.frame("E", number(turn % 256) + number(frames % 256))
    with open(sys.argv[3], "wb") as file:
        file.write(line.sent)


if __name__ == "__main__":
    main()
