#!/usr/bin/env python3
"""A gmon.out: `gmon.py GMON` prints how many samples are in its histograms."""
import struct
import sys


def read_gmon(path):
    """(samples, {call site: calls})"""
    samples, counts = 0, {}
    with open(path, "rb") as file:
        data = file.read()
    if data[:8] != b"gmon\1\0\0\0":
        sys.exit("%s: not a gmon.out" % path)
    at = 20
    while at < len(data):
        if data[at] == 0:  # a histogram
            bins = struct.unpack_from("<I", data, at + 9)[0]
            samples += sum(struct.unpack_from("<%dH" % bins, data, at + 33))
            at += 33 + 2 * bins
            continue
        if data[at] != 1:
            sys.exit("%s: unknown record" % path)
        site, _, count = struct.unpack_from("<III", data, at + 1)
        counts[site] = counts.get(site, 0) + count
        at += 13
    return samples, counts


if __name__ == "__main__":
    print(read_gmon(sys.argv[1])[0])
