#!/usr/bin/env python3
"""Compares the times of a traced run with those of the same program without a tracer.

  untraced.py PREFIX CSV RAW ELF   the oracle of a run of the plain program ELF with returns=1; what
                                   `litifut-post -f csv` says of the traced run, and what --raw says
                                   (or a run with LITIFUT_RAW=1)

Of the call sites of a function, the first executed one in one file is the first in the other, and so on. In
RAW each call is too long by what the tracer took for it and for all calls inside of it; in CSV what is
left of that is at most a 25th of it in all, and at most four instructions for each recorded event, and eight for a site.
"""

import collections
import csv
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from elf import Elf  # noqa: E402
from calls import Oracle, report  # noqa: E402


class Sum:
    def __init__(self):
        self.calls = self.total = self.own = self.inside = self.children = 0


class Open:
    def __init__(self, site, time):
        self.site, self.time = site, time
        self.taken = self.inside = self.children = 0


def recorded(path):
    """{caller: [(site, calls, timed, total, self)]}, in the order of the sites."""
    found = collections.defaultdict(dict)
    with open(path, encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            values = [int(row[name] or 0)
                      for name in ("calls", "timed_calls", "total_ns", "self_ns")]
            sites = found[row["caller"]]
            before = sites.get(int(row["site"], 16), [0] * 4)
            sites[int(row["site"], 16)] = [a + b for a, b in zip(before, values)]
    return {caller: sorted(sites.items()) for caller, sites in found.items()}


def executed(oracle):
    """{caller: {site: calls}} of the given file."""
    found = collections.defaultdict(collections.Counter)
    for thread in oracle.threads:
        for kind, site, _, _, _ in oracle.events(thread):
            if kind == "call" and oracle.is_from_given(site):
                found[site[0].function_at(site[1])[0]][site] += 1
    return found


def timed_sites(oracle, csv_of_caller):
    """{plain site: traced site} of those all of whose calls have times in the trace; and all others that
    are recorded."""
    timed, counted = {}, set()
    for caller, sites in executed(oracle).items():
        rows = csv_of_caller.get(caller, [])
        if len(rows) != len(sites):
            continue
        for (site, calls), (address, row) in zip(sorted(sites.items(), key=lambda item: item[0][1]),
                                                 rows):
            if calls != row[0]:
                raise SystemExit(f"{caller}: {calls} calls at {site[1]:#x}, {row[0]} at {address:#x}")
            if row[1] == calls:
                timed[site] = (caller, address)
            counted.add(site)
    return timed, counted


def truth(oracle, timed, counted):
    sums = collections.defaultdict(Sum)
    for thread in oracle.threads:
        stack = []
        for kind, site, _, time, count in oracle.events(thread):
            if kind == "cut":
                del stack[len(stack) - count:]
            elif kind == "call":
                stack.append(Open(site, time))
            elif kind == "return":
                call = stack.pop()
                took = time - call.time
                known = call.site in timed
                events = (2 if known else 1) if call.site in counted else 0
                if known:
                    sum_ = sums[timed[call.site]]
                    sum_.calls += 1
                    sum_.total += took
                    sum_.own += took - call.taken
                    sum_.inside += 1 + call.inside
                    sum_.children += 1 + call.children
                if stack:
                    stack[-1].taken += took if known else call.taken
                    stack[-1].inside += events + call.inside
                    stack[-1].children += (1 if known else events + call.children)
    return sums


def main(arguments):
    if len(arguments) != 4:
        sys.exit(__doc__)
    oracle = Oracle(arguments[0], [Elf(arguments[3])], with_returns=True)
    own, raw = recorded(arguments[1]), recorded(arguments[2])
    timed, counted = timed_sites(oracle, own)
    differences = []
    left = before = calls = 0
    for (caller, address), want in sorted(truth(oracle, timed, counted).items()):
        have, with_tracer = dict(own[caller])[address], dict(raw[caller])[address]
        calls += want.calls
        for name, column, expected, events in (("total", 2, want.total, want.inside),
                                               ("self", 3, want.own, want.children)):
            error = have[column] - expected
            left += abs(error)
            before += abs(with_tracer[column] - expected)
            if os.environ.get("SHOW"):
                print(caller, hex(address), name, want.calls, expected, "error", error,
                      "raw", with_tracer[column] - expected, "events", events, file=sys.stderr)
            if abs(error) > 4 * events + 8:
                differences.append(f"{caller} {address:#x}: {name} {have[column]}, untraced "
                                   f"{expected}, {events} events inside")
    if not calls:
        differences.append("no timed calls")
    if 25 * left > before:
        differences.append(f"errors of {left} in all; with the tracer's time {before}")
    return report(f"{calls} timed calls, errors of {left} in place of {before}", differences)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
