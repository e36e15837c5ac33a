#!/usr/bin/env python3
"""What the oracle plugin wrote with returns=1, as sums for each call site.

  table.py PREFIX CSV ELF...   a traced run with LITIFUT_CLOCK=page and LITIFUT_MODE=table or spans:
                               what `litifut-post -f csv` says of it is what the oracle saw:
                               calls of each site, those of them whose return is recorded, and
                               of these the time in all, without the calls that they made, the
                               shortest and the longest
  table.py calls PREFIX CSV ELF...   the same of the calls and of how many are timed
  table.py killed PREFIX CSV ELF...  the same of a program that was killed: of each thread one call
                                     may be missing, and the last one be made or not. The clock
                                     counts the instructions of all threads, so times are
                                     compared where there is one

A call has the time at which its callee begins, its end that of the code for its return. What
ends without a return that is recorded has no time: what it took stays with the call below.
"""

import csv
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from elf import Elf  # noqa: E402
from calls import PATCHED, Rewritten, by_return_address, exits, report  # noqa: E402
from returns import steps_to_exit  # noqa: E402

# Of a static program, they call functions of the tracer as well, which litifut-post hides: their
# returns take an instruction or two.
CALL_OWN = ("call_init", "call_fini")

COLUMNS = ("calls", "timed_calls", "total_ns", "self_ns", "min_ns", "max_ns")


class Sum:
    def __init__(self):
        self.calls = self.timed = self.total = self.own = self.most = 0
        self.least = None
        self.calls_own = False

    def add(self, took, own, least=None, most=None, timed=1):
        self.timed += timed
        self.total += took
        self.own += own
        least = took if least is None else least
        self.least = least if self.least is None else min(self.least, least)
        self.most = max(self.most, took if most is None else most)

    def values(self):
        if not self.timed:
            return (self.calls, 0, None, None, None, None)
        return (self.calls, self.timed, self.total, self.own, self.least, self.most)


class Open:
    def __init__(self, key, time, tail, late=None):
        self.key, self.time, self.tail, self.late = key, time, tail, late
        self.children = 0


def ended(stack, sums, end):
    """The uppermost call, and the tail calls that it has made; `end`: None if not known."""
    count = 1
    while stack[-count].tail:
        count += 1
    for _ in range(count):
        call = stack.pop()
        took = None if end is None or not call.key else end - call.time
        if took is not None:
            sums[call.key].add(took, took - call.children)
        if stack:
            stack[-1].children += call.children if took is None else took


def truth(rewritten):
    by_return = {elf: by_return_address(elf) for elf in rewritten.sites}
    by_exit = {elf: exits(elf) for elf in rewritten.sites}
    late = {}
    for elf, found in by_exit.items():
        words = {site: word for word, site in by_return[elf].items()}
        for site in set(found.values()):
            late[elf, site] = steps_to_exit(elf, site, words)
    sums, keys = {}, {}

    def key_of(site, callee):
        """(the key of a call, or None, and when it is timed)."""
        call = rewritten.known_call(site, callee)
        if not call or call[2] != PATCHED:
            return None, None
        return (call[0].name, call[1]), late.get((call[0], call[1]))

    for thread in sorted(rewritten.oracle.threads):
        stack = []
        for kind, site, callee, time, count in rewritten.oracle.events(thread):
            # A forked child ends calls that its parent had made: those have no time.
            if kind == "cut":
                for _ in range(count):
                    if stack:
                        ended(stack, sums, None)
            elif kind == "return":
                if stack:
                    base = next(call for call in reversed(stack) if not call.tail)
                    ended(stack, sums, None if base.late is None else time + base.late)
            elif kind in ("call", "tail"):
                if (site, callee) not in keys:
                    keys[site, callee] = key_of(site, callee)
                key, when = keys[site, callee]
                if key:
                    if key not in sums:
                        sums[key] = Sum()
                    sums[key].calls += 1
                if kind == "call":
                    stack.append(Open(key, time, False, when))
                elif key and stack:
                    stack.append(Open(key, time, True))
    return sums


def recorded(path):
    sums = {}
    with open(path, encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            found = sums.setdefault((row["caller_module"], int(row["site"], 16)), Sum())
            values = [int(row[name] or 0) for name in COLUMNS]
            found.calls += values[0]
            found.calls_own |= row["callee"] in CALL_OWN
            if values[1]:
                found.add(values[2], values[3], values[4], values[5], values[1])
    return sums


def differs_by_killing(want, have, times):
    """How many calls and returns are missing or too many; None: times are wrong."""
    extra = have.timed - want.timed
    if not times:
        return abs(have.calls - want.calls) + abs(extra)
    if extra <= 0 and have.timed and (have.total > want.total or have.least < want.least or
                                      have.most > want.most):
        return None
    if extra == 0 and have.values()[2:] != want.values()[2:]:
        # Killed between two writes of one call. They come in this order: that it has ended, the
        # sum, its own time, the shortest, the longest; those that were not made are missing.
        lacks_total = want.total - have.total
        lacks_own = want.own - have.own
        if lacks_total and not want.least <= lacks_total <= want.most:
            return None
        if not 0 <= lacks_own <= (lacks_total or want.most):
            return None
        return 1 + abs(have.calls - want.calls)
    return abs(have.calls - want.calls) + abs(extra)


def compare_killed(expected, got, threads):
    differences = []
    off = 0
    for key in sorted(set(expected) | set(got)):
        want, have = (each.get(key, Sum()) for each in (expected, got))
        by = differs_by_killing(want, have, threads == 1)
        if by is None:
            differences.append(f"{key[0]} {key[1]:#x}: {dict(zip(COLUMNS, have.values()))}, "
                               f"the oracle has {dict(zip(COLUMNS, want.values()))}")
        off += by or 0
    # the call that was being summed up, its return, and the event that one of both has not seen
    if off > 3 * threads:
        differences.append(f"{off} calls and returns are missing or too many in {threads} threads")
    timed = sum(each.timed for each in got.values())
    return report(f"{timed} timed calls, {off} calls and returns missing or too many", differences)


def main(arguments):
    how = arguments[0] if arguments[:1] in (["calls"], ["killed"]) else None
    arguments = arguments[how is not None:]
    if len(arguments) < 3:
        sys.exit(__doc__)
    rewritten = Rewritten(arguments[0], [Elf(path) for path in arguments[2:]], with_returns=True)
    expected = truth(rewritten)
    got = recorded(arguments[1])
    if how == "killed":
        return compare_killed(expected, got, len(rewritten.oracle.threads))
    calls_only = how == "calls"
    differences = []
    timed = 0
    for key in sorted(set(expected) | set(got)):
        columns = 3 if got.get(key, Sum()).calls_own else len(COLUMNS)
        want, have = (each.get(key, Sum()).values()[:2 if calls_only else columns]
                      for each in (expected, got))
        timed += want[1]
        if want != have:
            differences.append(f"{key[0]} {key[1]:#x}: {dict(zip(COLUMNS, have))}, "
                               f"the oracle has {dict(zip(COLUMNS, want))}")
    if not timed:
        differences.append("no timed calls")
    return report(f"{len(expected)} call sites, {timed} timed calls", differences)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
