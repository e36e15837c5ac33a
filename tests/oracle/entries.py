#!/usr/bin/env python3
"""Are functions entered as often as events lead to them? Which of the jumps are tail
calls need not be known for that: QEMU logs each block that it executes, and a function
is entered by a block at its start.

  entries.py LOG TSV MAPS ELF [NAME...]

LOG is of `qemu -d exec,nochain`, of the traced run that made TSV and MAPS. Names are
of functions that code outside of the file enters. Prints what differs; exit 1 then."""

import collections
import re
import sys

from elf import Elf
from calls import read_tsv

# Entered by the dynamic linker, the kernel or a start-up file of no function.
OUTSIDE = {"_start", "__start", "_init", "_fini", "main", "frame_dummy", "call_weak_fn",
           "__do_global_dtors_aux", "register_tm_clones", "deregister_tm_clones"}


def load_base(elf, maps):
    with open(maps, encoding="utf-8") as file:
        starts = [int(line.split("-")[0], 16) for line in file
                  if line.rstrip().endswith("/" + elf.name)]
    return min(starts) - (min(address for _, address, _, _ in elf.segments) & ~0xfff)


def main(log, tsv, maps, path, *names):
    elf = Elf(path)
    base = load_base(elf, maps)
    entered, events = collections.Counter(), collections.Counter()
    block = re.compile(r"^Trace \d+: \S+ \[[0-9a-f]+/([0-9a-f]+)/")
    with open(log, encoding="utf-8", errors="replace") as file:
        for line in file:
            found = block.match(line)
            if found:
                entered[int(found[1], 16) - base] += 1
    for rows in read_tsv(tsv).values():
        for row in rows:
            if row["callee_module"] == elf.name and row["callee_offset"]:
                events[int(row["callee_offset"], 16) & ~1] += 1
    differ = 0
    for address in elf.starts:
        name = elf.functions[address][1]
        if (entered[address] != events[address] and not name.startswith("litifut_")
                and not elf.is_linkage(address)
                and not ({name} | elf.aliases.get(address, set())) & (OUTSIDE | set(names))):
            print(f"{name}: entered {entered[address]} times, {events[address]} events")
            differ += 1
    print(f"{sum(events.values())} events, {differ} functions differ")
    return 1 if differ or not events else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]) if len(sys.argv) > 4 else __doc__)
