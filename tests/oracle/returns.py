#!/usr/bin/env python3
"""Reads what the oracle plugin wrote with returns=1: calls and their ends, with the time.
A tail call is no call of its own: it ends with the one that is open.

  returns.py list PREFIX ELF...    the events of these files, one a line:
                                   TID DEPTH call CALLER CALLEE, or tail, TID DEPTH return CALLER TICKS
                                   SELF, TID DEPTH again CALLER, TID DEPTH cut COUNT

  returns.py times PREFIX FOLDER ELF...   a traced run of one process, with LITIFUT_CLOCK=page:
                                   its events have the times of the oracle's calls

DEPTH is the number of calls that stay open, of all files; TICKS are the instructions from the
start of the callee to the return, SELF those of them that are not in calls of its own.
"""

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from elf import Elf  # noqa: E402
from oracle import PATCHED, Oracle, Rewritten, describe, first_difference, report  # noqa: E402
from trace import traces  # noqa: E402

class Call:
    """An open call, of any file."""

    def __init__(self, site, callee, time):
        self.site, self.callee, self.time, self.children = site, callee, time, 0


def events(oracle, thread):
    """Yields (kind, place of the call, callee or None, time, Call or count, open calls)."""
    stack = []
    for kind, site, callee, time, count in oracle.events(thread):
        if kind == "cut":
            del stack[len(stack) - count:]
        elif kind == "call":
            stack.append(Call(site, callee, time))
            count = stack[-1]
        elif kind == "return":
            count = stack.pop()
            if stack:
                stack[-1].children += time - count.time
        yield kind, site, callee, time, count, len(stack)


def show(prefix, elves):
    oracle = Oracle(prefix, elves, with_returns=True)
    for thread in sorted(oracle.threads):
        for kind, site, callee, time, what, depth in events(oracle, thread):
            if kind == "cut":
                print(thread[1], depth, kind, what)
            if not site or site[0] not in oracle.given or site[0].is_linkage(site[1]):
                continue
            if kind in ("call", "tail"):
                print(thread[1], depth, kind, describe(site), describe(callee))
            elif kind == "return":
                print(thread[1], depth, kind, describe(site), time - what.time,
                      time - what.time - what.children)
            else:
                print(thread[1], depth, kind, describe(site))
    return 0


def by_return_address(elf):
    """{what the recorder has of a patched site: its address}."""
    section = elf.section(".litifut.sites")
    _, _, count, record = elf.unpack("4I", section.offset)
    result = {}
    for i in range(count):
        at = section.offset + 16 + i * record
        address, return_address, _, _, _, reason = elf.unpack("IIIIBB", at)
        if reason == PATCHED:
            result[return_address] = address
    return result


def times(prefix, folder, elves):
    """The times of recorded calls, which thunks take outside of the clock, are those at which
    the callees begin; those of the long way are as exact, as the clock stands still there."""
    rewritten = Rewritten(prefix, elves, with_returns=True)
    oracle = rewritten.oracle
    by_return = {elf.name: by_return_address(elf) for elf in rewritten.sites}
    differences, count = [], 0
    for trace in traces(folder):
        for tid, recorded in trace.threads.items():
            expected = []
            for kind, site, callee, time, _ in oracle.events((trace.pid, tid)):
                if kind not in ("call", "tail") or site[0] not in oracle.given or \
                        site[0].is_linkage(site[1]):
                    continue
                call = rewritten.call(*site, callee)
                if call and call[2] == PATCHED:
                    expected.append((call[0].name, hex(call[1]), time))
            got = []
            for _, address, _, time in recorded:
                module = trace.module_at(address)
                sites = by_return.get(module.name, {})
                if address - module.bias in sites:
                    got.append((module.name, hex(sites[address - module.bias]), time))
            count += len(got)
            differences += first_difference(expected, got, f"thread {tid}")
    return report(f"{count} events with their times",
                  differences or ([] if count else ["no events"]))


def main(arguments):
    if len(arguments) > 2 and arguments[0] == "times":
        return times(arguments[1], arguments[2], [Elf(path) for path in arguments[3:]])
    if len(arguments) > 1 and arguments[0] == "list":
        return show(arguments[1], [Elf(path) for path in arguments[2:]])
    sys.exit(__doc__)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
