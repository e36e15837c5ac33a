#!/usr/bin/env python3
"""Flags of a firmware (LITIFUT_MODE=coverage): what QEMU or simavr executed, and what they say.

  firmware_flags.py sites ELF SITES
        the branches and the blocks with a flag, for tests/oracle/system or tests/oracle/avr with the
        program without patches (edges.py plain)
  firmware_flags.py compare ELF COUNTS FLAGS [LEAST [FUNCTION...]]
        COUNTS is the oracle's `out', FLAGS is what `litifut-post -f branches' makes of a dump or a
        capture. Each flag is set if and only if control went there; LEAST branches at least have a
        flag. In _exit() results are dumped or sent, so its own flags are not compared, and neither are those of
        FUNCTIONs, where branches depend on the time.
  firmware_flags.py marks ELF
        of code for AVR: prints CALL CALLEE RETURN (tests/oracle/avr -k) for each piece of code that
        sets a flag, from its first instruction to behind its last one; with LITIFUT_MODE=paths and balllarus for
        each call of the code that records"""

import os
import sys

from edges import CONDITIONAL, blocks_of, read_flags, seen_at
from elf import Elf


# of LITIFUT_MODE=paths
RECORDERS = ("litifut_bit_zero", "litifut_bit_one", "litifut_bits_enter", "litifut_paths_interrupt",
             "litifut_paths_returned")
# of LITIFUT_MODE=balllarus, and how many bytes stand behind a call of each
NUMBERS = {"litifut_path_add": 4, "litifut_path_end": 4, "litifut_path_next": 8, "litifut_path_begin": 4,
           "litifut_path_whole": 4,
           "litifut_token": 4}  # of a recorder of tokens (rewriter/tokens.h)


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
    elf = Elf(path)
    with open(sites, "w") as file:
        for address in sorted({seen_at(elf, address) for _, address, _, _ in flagged(path)}):
            file.write(f"{address:x}\n")
    return 0


def compare(path, counts, flags, least, functions):
    executed = {}
    with open(counts) as file:
        for line in file:
            words = line.split()
            if words[0] not in ("instructions", "cycles"):
                executed[int(words[0], 16)] = int(words[1]), int(words[2])
    says = read_flags(flags, os.path.basename(path))
    elf = Elf(path)
    left = [(value & ~1, (value & ~1) + size) for name, value, size, kind, _ in elf.symbols
            if (name == "_exit" or name in functions) and kind == 2]
    problems, branches, both, entries, never = [], 0, 0, 0, 0
    for kind, address, target, end in flagged(path):
        if any(start <= address < stop for start, stop in left):
            continue
        times, taken = executed.get(seen_at(elf, address), (0, 0))
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


def print_marks(path):
    elf = Elf(path)
    stubs = next(elf.offset_of(value) for name, value, *_ in elf.symbols if name == "litifut_stubs")
    size = next(size for name, _, size, *_ in elf.symbols if name == "litifut_stubs")
    start = elf.address_of_name("litifut_stubs")
    recorders = {elf.address_of_name(name): NUMBERS.get(name, 0) for name in (*RECORDERS, *NUMBERS)}
    recorders.pop(None, None)
    for at in range(start, start + size, 2) if recorders else ():
        first, second = elf.unpack("2H", stubs + at - start)
        target = ((first & 0x1f0) << 13 | (first & 1) << 16 | second) * 2
        if first & 0xfe0e == 0x940e and target in recorders:
            print(f"{at:x} {at + 4 + recorders[target]:x} 0")
            continue
        target = at + 2 + 2 * ((first & 0xfff ^ 0x800) - 0x800) & 0x1fff
        if first >> 12 == 13 and target in recorders:
            print(f"{at:x} {at + 2 + recorders[target]:x} 0")
    for at in range(stubs, stubs + size - 8, 2):
        words = elf.unpack("5H", at)
        if words[:3] == (0x938f, 0xe081, 0x9380) and words[4] == 0x918f:
            print(f"{start + at - stubs:x} {start + at - stubs + 10:x} 0")
    return 0


if __name__ == "__main__":
    if sys.argv[1] == "marks":
        sys.exit(print_marks(sys.argv[2]))
    if sys.argv[1] == "sites":
        sys.exit(write_sites(*sys.argv[2:4]))
    sys.exit(compare(*sys.argv[2:5], int(sys.argv[5]) if len(sys.argv) > 5 else 0, sys.argv[6:]))
