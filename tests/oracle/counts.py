#!/usr/bin/env python3
"""Compares the counts of call sites (LITIFUT_MODE=counts) with what the oracle saw.

  counts.py PREFIX CSV ELF...   a traced run, or several: of each patched site, what
                                `litifut-post -f csv` says of its calls is how often the oracle saw
                                it call, all threads together
  counts.py least PREFIX CSV ELF...   the same of a program that was killed: a call of each
                                thread may be counted and not yet made

A static program's libc calls functions of the tracer at its start and end, and at each fork, which
the oracle does not take for calls.
"""

import collections
import csv
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from elf import Elf  # noqa: E402
from calls import PATCHED, Rewritten, report  # noqa: E402

CALL_OWN = ("call_init", "call_fini", "__libc_start_main")
CALL_OWN_FORK = ("__run_prefork_handlers", "__run_postfork_handlers")


def main(arguments):
    killed = arguments[:1] == ["least"]
    arguments = arguments[killed:]
    if len(arguments) < 3:
        sys.exit(__doc__)
    rewritten = Rewritten(arguments[0], [Elf(path) for path in arguments[2:]])
    expected, got = collections.Counter(), collections.Counter()
    own, own_fork = set(), set()
    threads = sorted(rewritten.oracle.threads)
    for thread in threads:
        for elf, site, reason, _ in rewritten.calls(thread):
            if reason == PATCHED:
                expected[elf.name, site] += 1
    with open(arguments[1], encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            key = row["caller_module"], int(row["site"], 16)
            got[key] += int(row["calls"])
            own.update([key] if row["caller"].startswith(CALL_OWN) else [])
            own_fork.update([key] if row["caller"].startswith(CALL_OWN_FORK) else [])
    differences = []
    over, processes = 0, len({pid for pid, _ in threads})
    for key in sorted(set(expected) | set(got)):
        if got[key] == expected[key] + 1 and killed and over < len(threads):
            over += 1
        elif key in own and 0 < got[key] - expected[key] <= processes:
            continue
        elif key in own_fork and 0 < got[key] - expected[key] <= 2 * len(threads):
            continue  # in the parent and in the child, at one place or at two
        elif got[key] != expected[key]:
            differences.append(f"{key[0]} {key[1]:#x}: counted {got[key]}, "
                               f"the oracle has {expected[key]}")
    if not expected:
        differences.append("no calls")
    return report(f"{len(expected)} call sites, {sum(expected.values())} calls", differences)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
