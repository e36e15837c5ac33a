#!/usr/bin/env python3
"""A gmon.out: `gmon.py GMON` prints how many samples are in its histograms; `gmon.py GMON ELF`
how many of them, in percent, lie in code whose symbol is the tracer's; `gmon.py arcs GMON ELF' prints
"CALLER CALLEE COUNT" of all arcs, by the names of functions."""
import bisect
import collections
import struct
import subprocess
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


def read_arcs(path):
    """[(call site, callee, calls)]"""
    with open(path, "rb") as file:
        data = file.read()
    arcs, at = [], 20
    while at < len(data):
        if data[at] == 1:
            arcs.append(struct.unpack_from("<III", data, at + 1))
            at += 13
        else:
            at += 33 + 2 * struct.unpack_from("<I", data, at + 9)[0]
    return arcs


def read_bins(path):
    """[(lowest address, samples)]"""
    with open(path, "rb") as file:
        data = file.read()
    bins, at = [], 20
    while at < len(data):
        if data[at] == 1:
            at += 13
            continue
        low, high, count = struct.unpack_from("<III", data, at + 1)
        samples = struct.unpack_from("<%dH" % count, data, at + 33)
        bins += [(low + i * (high - low) // count, n) for i, n in enumerate(samples) if n]
        at += 33 + 2 * count
    return bins


def code_symbols(elf):
    text = subprocess.run(["arm-none-eabi-nm", "-n", elf], check=True, capture_output=True,
                          text=True).stdout
    return [line.split() for line in text.splitlines() if line.split()[1] in "tT"]


def print_arcs(gmon, elf):
    symbols = [(int(address, 16) & ~1, name) for address, _, name in code_symbols(elf)]
    addresses = [address for address, _ in symbols]

    def name_of(address):
        at = bisect.bisect_right(addresses, address)
        return symbols[at - 1][1] if at else "?"

    arcs = collections.Counter()
    for site, callee, count in read_arcs(gmon):
        arcs[name_of(site), name_of(callee)] += count
    for (caller, callee), count in sorted(arcs.items()):
        print(caller, callee, count)


def share_of_tracer(gmon, elf):
    symbols = code_symbols(elf)
    total = own = 0
    for low, samples in read_bins(gmon):
        name = [name for address, _, name in symbols if int(address, 16) <= low]
        total += samples
        own += samples * name[-1].startswith("litifut_") if name else 0
    return 100 * own / total, total


if __name__ == "__main__":
    if sys.argv[1] == "arcs":
        print_arcs(*sys.argv[2:])
    elif len(sys.argv) > 2:
        print("%.1f %% of %d" % share_of_tracer(*sys.argv[1:]))
    else:
        print(read_gmon(sys.argv[1])[0])
