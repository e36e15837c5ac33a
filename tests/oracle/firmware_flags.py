#!/usr/bin/env python3
"""Flags of a firmware (LITIFUT_MODE=coverage): what QEMU executed, and what they say.

  firmware_flags.py sites ELF SITES
        the branches and the blocks with a flag, for tests/oracle/system with the program without
        patches (edges.py plain)
  firmware_flags.py compare ELF COUNTS FLAGS [LEAST]
        COUNTS is the oracle's `out', FLAGS is what `litifut-post -f branches' makes of a dump or a
        capture. Each flag is set if and only if control went there; LEAST branches at least have a
        flag. In _exit() results are dumped or sent, so its own flags are not compared."""

import os
import sys

from edges import CONDITIONAL, blocks_of, read_flags
from elf import Elf


def flagged(path):
    """[(kind, address, where a branch leads to, the end of its block)]"""
    result = []
    for start, end, branch, target, entered, taken, _, _, bits, _, _ in blocks_of(Elf(path))[1]:
        if entered:
            result.append(("entered", start, 0, end))
        if bits & CONDITIONAL and taken:
            result.append(("branch", branch, target & ~1, end))
    return result


def write_sites(path, sites):
    with open(sites, "w") as file:
        for address in sorted({address for _, address, _, _ in flagged(path)}):
            file.write(f"{address:x}\n")
    return 0


def compare(path, counts, flags, least):
    executed = {}
    with open(counts) as file:
        for line in file:
            words = line.split()
            if words[0] != "instructions":
                executed[int(words[0], 16)] = int(words[1]), int(words[2])
    says = read_flags(flags, os.path.basename(path))
    ends = next((value & ~1, (value & ~1) + size)
                for name, value, size, kind, _ in Elf(path).symbols if name == "_exit" and kind == 2)
    problems, branches, both, entries, never = [], 0, 0, 0, 0
    for kind, address, target, end in flagged(path):
        if ends[0] <= address < ends[1]:
            continue
        times, taken = executed.get(address, (0, 0))
        never += not times
        if kind == "entered":
            entries += 1
            was = ("1" if times else "0",)
        else:
            if target == end:  # it is never taken for the oracle
                continue
            branches += 1
            was = ("1" if taken else "0", "1" if times > taken else "0")
            both += was == ("1", "1")
        if was != says[kind, address][:len(was)]:
            problems.append(f"{kind} {address:#x}: executed {was}, flags {says[kind, address]}")
    for problem in problems[:20]:
        print(problem)
    print(f"{branches} branches compared, {both} of them went both ways; {entries} blocks; "
          f"{never} were not executed; {len(problems)} differ")
    return 1 if problems or not both or not never or branches < least else 0


if __name__ == "__main__":
    if sys.argv[1] == "sites":
        sys.exit(write_sites(*sys.argv[2:4]))
    sys.exit(compare(*sys.argv[2:5], int(sys.argv[5]) if len(sys.argv) > 5 else 0))
