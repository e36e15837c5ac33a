#!/usr/bin/env python3
"""LITIFUT_MODE=paths: how many blocks are recorded by their address in the traces of a folder.

  records.py FOLDER
"""

import glob
import os
import struct
import sys

METADATA, HEADER_BYTES, FIRST_CHUNKS_AT, FIRST_CHUNKS = 2, 64, 192, 4
RECORD, FIRST_ADDRESS = 0x80000000, 0x10000


def records_in(words):
    count = at = 0
    while at < len(words):
        word = words[at]
        if word & RECORD:
            word &= ~RECORD
            if word >= FIRST_ADDRESS // 2:
                count += 1
            else:
                at += word >> 8 & 127
        at += 1
    return count


def records(path):
    with open(path, "rb") as file:
        data = file.read()
    order = "<" if data[8:12] == b"\4\3\2\1" else ">"
    first, size = struct.unpack_from(order + "II", data, 16)
    chunks = [(at, size) for at in range(first, len(data) - size + 1, size)]
    for i in range(FIRST_CHUNKS):
        at, bytes_of = struct.unpack_from(order + "II", data, FIRST_CHUNKS_AT + 8 * i)
        if bytes_of:
            chunks.append((at, bytes_of))
    count = 0
    for at, bytes_of in chunks:
        kind = struct.unpack_from(order + "H", data, at + 4)[0]
        if kind and kind != METADATA:
            words = (bytes_of - HEADER_BYTES) // 4
            count += records_in(struct.unpack_from(f"{order}{words}I", data, at + HEADER_BYTES))
    return count


print(sum(records(path) for path in glob.glob(os.path.join(sys.argv[1], "trace", "*.trace"))))
