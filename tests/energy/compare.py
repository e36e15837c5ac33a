#!/usr/bin/env python3
"""Compares `litifut-post energy -f tsv` with the rig's truth.

usage: compare.py [--direct 1.0] [--small 5.0] [--later 1.0] [--table] TRUTH RESULT
Fails when a function with 1 % of the energy or more is off by more than --direct percent, one
with 0.1 % by more than --small unless its own standard error says so (4 %), what peripherals
drew by more than --later, or when the parts do not add up to the total."""
import argparse
import sys


def rows(path):
    with open(path) as file:
        head = file.readline().rstrip("\n").split("\t")
        return {f[0]: dict(zip(head, f)) for f in (l.rstrip("\n").split("\t") for l in file)}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--direct", type=float, default=1.0)
    parser.add_argument("--small", type=float, default=5.0)
    parser.add_argument("--later", type=float, default=1.0)
    parser.add_argument("--table", action="store_true")
    parser.add_argument("truth")
    parser.add_argument("result")
    given = parser.parse_args()
    with open(given.truth) as file:
        lines = [l for l in file if "\t" in l]
    head = lines[0].rstrip("\n").split("\t")
    truth = {f[0]: dict(zip(head, f)) for f in (l.rstrip("\n").split("\t") for l in lines[1:])}
    result = rows(given.result)
    total = sum(float(t["self_j"]) + float(t["later_j"]) for t in truth.values())
    wrong, marked, covered, counted = [], 0.0, 0, 0
    if given.table:
        print("%-12s %8s %7s %12s %12s %9s %9s" % ("function", "calls", "share", "truth", "measured",
                                                   "error", "2u"))
    for name, t in sorted(truth.items(), key=lambda item: -float(item[1]["self_j"])):
        if name in ("(outside)", "main") or name not in result:
            continue  # main does not end: it idles after the last mark
        r = result[name]
        for key, limit in (("self_j", None), ("later_j", given.later)):
            true, found = float(t[key]), float(r[key])
            share = true / total
            if share < 0.001:
                continue
            error = 100 * (found / true - 1)
            unsure = 100 * float(r["uncertainty_j"]) / true
            if key == "self_j":
                limit = given.direct if share >= 0.01 else given.small
                counted += 1
                covered += abs(found - true) <= 2 * float(r["uncertainty_j"])
                if share < 0.01 and unsure > 4:
                    marked += share
                    limit = 1e9
            if given.table:
                print("%-12s %8s %6.2f%% %9.2f uJ %9.2f uJ %+8.2f%% %8.2f%%%s" %
                      (name, t["calls"], 100 * share, true * 1e6, found * 1e6, error, 2 * unsure,
                       "  (peripheral)" if key == "later_j" else ""))
            if abs(error) > limit:
                wrong.append("%s: %s is off by %+.2f %%" % (name, key, error))
        if int(t["calls"]) != int(r["calls"]):
            wrong.append("%s: %s calls, not %s" % (name, r["calls"], t["calls"]))
    parts = sum(float(r["self_j"]) + float(r["later_j"]) for n, r in result.items()
                if n != "(total)")
    whole = float(result["(total)"]["self_j"])
    if abs(parts - whole) > 1e-9 * whole:
        wrong.append("the parts are %.12g J, the total is %.12g J" % (parts, whole))
    if marked > 0.02:
        wrong.append("%.1f %% of the energy is marked as unsure" % (100 * marked))
    if given.table:
        print("within 2u: %d of %d" % (covered, counted))
    for line in wrong:
        print(line, file=sys.stderr)
    return 1 if wrong else 0


sys.exit(main())
