#!/usr/bin/env python3
"""Reads what the oracle plugin wrote with returns=1: calls and their ends, with the time.
A tail call does not count as a call: it ends with the one that is open.

  returns.py list PREFIX ELF...    the events of these files, one a line:
                                   TID DEPTH call CALLER CALLEE, or tail, TID DEPTH return CALLER TICKS
                                   SELF, TID DEPTH again CALLER, TID DEPTH cut COUNT

  returns.py times PREFIX FOLDER ELF...   a traced run with LITIFUT_CLOCK=page and LITIFUT_COMPACT=0:
                                   its events, calls and returns, are those of the oracle, in
                                   order, and have their times
  returns.py times-side-by-side PREFIX FOLDER ELF...   the same of threads that may run at the same
                                   time, whose times are between those of the events around them
  returns.py any-order PREFIX FOLDER ELF...   the same, in whatever order and without the times

DEPTH is the number of calls that stay open, of all files; TICKS are the instructions from the
start of the callee to the return, SELF those of them that are not in calls of its own.
"""

import collections
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from elf import EM_ARM, Elf  # noqa: E402
from calls import (PATCHED, Oracle, Rewritten, by_return_address, describe,  # noqa: E402
                   exits, first_difference, report)
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
            if not oracle.is_from_given(site):
                continue
            if kind in ("call", "tail"):
                print(thread[1], depth, kind, describe(site), describe(callee))
            elif kind == "return":
                print(thread[1], depth, kind, describe(site), time - what.time,
                      time - what.time - what.children)
            else:
                print(thread[1], depth, kind, describe(site))
    return 0


def steps_to_exit(elf, site, by_return):
    """Instructions from a return point to the code for returns, outside of that."""
    if elf.machine != EM_ARM:
        return 2  # a branch and its delay slot
    word = by_return[site]
    # a 16-bit branch leads to another one
    thumb = word & 1 and elf.unpack("H", elf.offset_of(word & ~1))[0] >> 11 == 0x1C
    return 2 if thumb else 1


def expected_of(rewritten, exits, thread, again=True, executed=None):
    """`again`: with what comes to a return point without a call that returns there, which a
    signal at that very block looks like as well. `executed` counts the returns that are executed,
    and those of them that are to be recorded. Yields (kind, name of the file, site, time) of what a thread is to have recorded."""
    oracle = rewritten.oracle
    for kind, site, callee, time, _ in oracle.events(thread):
        if not rewritten.is_from_given(site):
            continue
        elf = site[0]
        if kind == "again" and not again:
            continue
        if kind in ("return", "again"):
            entries = rewritten.moved[elf][0]
            address = entries.get(site[1], site[1])
            if executed is not None and kind == "return":
                executed.update(("all", "recorded") if address in exits[elf.name] else ("all",))
            if address in exits[elf.name]:
                yield "return", elf.name, hex(address), time
            continue
        call = rewritten.known_call(site, callee)
        if call and call[2] == PATCHED:
            yield "call", call[0].name, hex(call[1]), time


def is_own(elves, module, callee):
    """Is the callee a function of the tracer's?"""
    elf = next((elf for elf in elves if module and elf.name == module.name), None)
    return elf and elf.function_at(callee - module.bias & ~1)[0].startswith("litifut_")


def without_own(got, expected):
    """Functions of the tracer that libc calls when a module starts and ends are not recorded,
    but that they return is: at most two of a module."""
    opened, result, left = collections.Counter(), [], 4
    for event in got:
        kind, place = event[0], event[1:3]
        opened[place] += 1 if kind == "call" else -1
        if kind == "return" and opened[place] < 0:
            opened[place] = 0
            there = expected[len(result)] if len(result) < len(expected) else None
            if left and (not there or there[:3] != event[:3]):
                left -= 1
                continue
        result.append(event)
    return result


def at_their_times(expected, got):
    """What was recorded of a thread beside which others run. All have one clock: it advances where
    another thread runs between the event and the instruction that reads the clock, which is before the
    start of a callee and behind a return. So a time is right between the events before and behind."""
    for i, (event, (*where, time)) in enumerate(zip(expected, got)):
        before = expected[i - 1][3] if i else 0
        behind = expected[i + 1][3] if i + 1 < len(expected) else time
        yield event if [*event[:3]] == where and before <= time <= behind else got[i]
    yield from got[len(expected):]


def compare(prefix, folder, elves, in_order=True, side_by_side=False):
    """The thunks are outside of the clock: a call has the time at which its callee begins, a
    return that of its return point and of the branch there."""
    rewritten = Rewritten(prefix, elves, with_returns=True)
    by_return = {elf.name: by_return_address(elf) for elf in rewritten.sites}
    by_exit = {elf.name: exits(elf) for elf in rewritten.sites}
    sites = {name: set(found.values()) for name, found in by_exit.items()}
    late = {}
    for elf in rewritten.sites:
        words = {site: word for word, site in by_return[elf.name].items()}
        late.update({(elf.name, site): steps_to_exit(elf, site, words)
                     for site in sites[elf.name]})
    differences, count, executed = [], {"call": 0, "return": 0}, collections.Counter()
    threads = set(rewritten.oracle.threads)
    for trace in traces(folder):
        for tid, recorded in trace.threads.items():
            threads.discard((trace.pid, tid))
            got = []
            for _, address, callee, time in recorded:
                module = trace.module_at(address)
                name = module.name if module else "?"
                if callee and is_own(elves, trace.module_at(callee), callee):
                    continue
                where = address - module.bias if module else 0
                if where in by_exit.get(name, {}):
                    site = by_exit[name][where]
                    got.append(("return", name, hex(site), time - late[name, site]))
                elif where in by_return.get(name, {}):
                    got.append(("call", name, hex(by_return[name][where]), time))
                elif name in by_return:
                    differences.append(f"{name}: {where:#x} is nothing that is recorded")
            expected = list(expected_of(rewritten, sites, (trace.pid, tid), in_order, executed))
            if in_order:
                got = without_own(got, expected)
                if side_by_side and len(trace.threads) > 1:
                    got = list(at_their_times(expected, got))
            for kind, *_ in got:
                count[kind] += 1
            if not in_order:
                expected = sorted(event[:3] for event in expected)
                got = sorted(event[:3] for event in got)
            differences += first_difference(expected, got, f"thread {tid}")
    for thread in threads:
        if list(expected_of(rewritten, sites, thread)):
            differences.append(f"thread {thread}: nothing was recorded")
    if not count["call"]:
        differences.append("no events")
    return report(f"{count['call']} calls and {count['return']} returns with their times; "
                  f"{executed['recorded']} of {executed['all']} executed returns are recorded", differences)


def main(arguments):
    if len(arguments) > 2 and arguments[0] in ("times", "times-side-by-side", "any-order"):
        return compare(arguments[1], arguments[2], [Elf(path) for path in arguments[3:]],
                       in_order=arguments[0] != "any-order",
                       side_by_side=arguments[0] == "times-side-by-side")
    if len(arguments) > 1 and arguments[0] == "list":
        return show(arguments[1], [Elf(path) for path in arguments[2:]])
    sys.exit(__doc__)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
