#!/usr/bin/env python3
"""Reads what the oracle plugin wrote, and compares it with LITIFUT's own trace.

  oracle.py ranges ELF...                  the `through` file for traced programs
  oracle.py calls PREFIX ELF...            the calls from these files, by name
  oracle.py sites ELF...                   how many call sites, patched, left and why
  oracle.py compare PREFIX TSV ELF...      a traced run: its oracle and its events
  oracle.py compare-any-order PREFIX TSV ELF...  the same, in whatever order
  oracle.py compare-exact PREFIX TSV ELF...  `compare' lets MIPS programs name the callee of a
                                           call through the GOT by its lazy stub, this does not
  oracle.py compare-killed PREFIX TSV ELF...  the same of a program that was killed: a call
                                           of each thread may be recorded and not yet made
  oracle.py same PREFIX TSV ELF... -- ELF...  a plain run's oracle, the events of a
                                           traced run; traced files -- plain files

`compare` and `same` print one line of counts, and on a difference the first
places where the two part; exit 1 then.

The work is done in calls.py: Python compiles what is imported once, and a program at each start.
"""

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import islands  # noqa: E402
from calls import (PATCHED, TAIL_KINDS, Oracle, by_return_address, compare, count_sites,  # noqa: E402
                   describe, exit_branches, moved_sites, read_sites, same, stubs_within)
from elf import Elf  # noqa: E402


def main(arguments):
    if len(arguments) < 2:
        sys.exit(__doc__)
    verb, rest = arguments[0], arguments[1:]
    if verb == "ranges":
        for path in rest:
            elf = Elf(path)
            sites = read_sites(elf)
            patched = {at for at, (reason, _) in sites.items() if reason == PATCHED}
            ours = elf.ranges("litifut_")
            of_exits = set(exit_branches(elf))
            branches, stones = moved_sites(elf)
            for address in [*stones, *sorted(of_exits)]:
                print(f"plain {elf.offset_of(address):x} {elf.offset_of(address) + 2:x} {elf.path}")
            back = {site: word & ~1 for word, site in by_return_address(elf).items()}
            for branch, site in branches.items():
                # moved branches and starts of blocks are not calls
                if site in back and sites[site][1] not in TAIL_KINDS:
                    print(f"moved {elf.offset_of(branch):x} {elf.offset_of(back[site]):x} "
                          f"{elf.path}")
            for start, end in ours + list(stubs_within(elf, ours)) + islands.ranges(
                    elf, patched, of_exits):
                print(f"{start:x} {end:x} {elf.path}")
        return 0
    if verb == "calls":
        oracle = Oracle(rest[0], [Elf(path) for path in rest[1:]])
        for thread in sorted(oracle.threads):
            for site, callee in oracle.calls(thread):
                print(thread[1], describe(site), "->", describe(callee))
        return 0
    if verb == "sites":
        print(count_sites([Elf(path) for path in rest]))
        return 0
    if verb == "compare":
        return compare(rest[0], rest[1], [Elf(path) for path in rest[2:]])
    if verb == "compare-any-order":
        return compare(rest[0], rest[1], [Elf(path) for path in rest[2:]], in_order=False)
    if verb == "compare-exact":
        return compare(rest[0], rest[1], [Elf(path) for path in rest[2:]], exact=True)
    if verb == "compare-killed":
        return compare(rest[0], rest[1], [Elf(path) for path in rest[2:]], killed=True)
    if verb == "same":
        split = rest.index("--")
        return same(rest[0], rest[1], [Elf(path) for path in rest[2:split]],
                    [Elf(path) for path in rest[split + 1:]])
    sys.exit(__doc__)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
