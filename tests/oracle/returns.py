#!/usr/bin/env python3
"""Reads what the oracle plugin wrote with returns=1: calls and their ends, with the time.
A tail call is no call of its own: it ends with the one that is open.

  returns.py list PREFIX ELF...    the events of these files, one a line:
                                   TID DEPTH call CALLER CALLEE, or tail, TID DEPTH return CALLER TICKS
                                   SELF, TID DEPTH again CALLER, TID DEPTH cut COUNT

DEPTH is the number of calls that stay open, of all files; TICKS are the instructions from the
start of the callee to the return, SELF those of them that are not in calls of its own.
"""

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from elf import Elf  # noqa: E402
from oracle import Oracle, describe  # noqa: E402

RETURNED, AGAIN, CUT = 0xFFFFFFFF, 0xFFFFFFFE, 0xFFFFFFFD


class Call:
    """An open call, of any file."""

    def __init__(self, site, callee, time):
        self.site, self.callee, self.time, self.children = site, callee, time, 0


def events(oracle, thread):
    """Yields (kind, place of the call, callee or None, time, Call or count, open calls)."""
    lookup = oracle.looker(thread)
    stack = []
    for first, second, low, high in oracle.words(thread):
        tail, time = high >> 31, (high & 0x7FFFFFFF) << 32 | low
        if second == CUT:
            count = min(first, len(stack))
            del stack[len(stack) - count:]
            yield "cut", None, None, time, count, len(stack)
        elif second == AGAIN:
            yield "again", lookup(first), None, time, None, len(stack)
        elif second == RETURNED:
            call = stack.pop()
            if stack:
                stack[-1].children += time - call.time
            yield "return", lookup(first), call.callee, time, call, len(stack)
        elif tail:
            yield "tail", lookup(first), lookup(second), time, None, len(stack)
        else:
            stack.append(Call(first, lookup(second), time))
            yield "call", lookup(first), lookup(second), time, stack[-1], len(stack)


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


def main(arguments):
    if len(arguments) > 1 and arguments[0] == "list":
        return show(arguments[1], [Elf(path) for path in arguments[2:]])
    sys.exit(__doc__)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
