#!/usr/bin/env python3
"""Errors of `litifut-post energy` on boards that are drawn at random.

usage: BUILD=build tests/energy/boards.py [--boards N] [--first N] [--worst PERCENT] [--three-quarters PERCENT]
       [--seed N]
Each board has currents of instructions, noise, drift, lost samples, and a delay of the analyser's pins
of its own (rig -s model=N); all but the first are drawn by --seed where that is given. The firmware is
the one with the real recorder. Prints the quantiles of the errors of functions
with 1 % of the energy or more. Fails when one is above --worst and is more than two of the standard errors
that are stated for it, as they are for functions that consist mostly of hooks; when the third quartile is
above --three-quarters; when two standard errors cover less than 90 % of the functions with 0.1 % or more;
or, of ten boards or more, less than 80 % for one of these functions."""
import argparse
import os
import random
import re
import subprocess
import sys
import tempfile


def rows(text):
    lines = [l.split("\t") for l in text.splitlines() if "\t" in l]
    return {f[0]: dict(zip(lines[0], f)) for f in lines[1:]}


def output(command):
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return done.stdout, done.stderr


def board(number, seed, folder):
    build = os.environ.get("BUILD", "build") + "/"
    rig, energy = build + "tests/energy/rig", build + "tests/energy/"
    seed = number if seed is None else seed
    draw = random.Random(seed)
    settings = {"model": number, "seed": seed, "noise": draw.uniform(0.05, 0.2),
                "drift": draw.gauss(0, 5e-5), "lost": draw.choice([0, 1e-4]),
                "lead": draw.uniform(0.02, 0.0201), "delay": draw.uniform(0, 1e-5)}
    power, serial = folder + "/p.csv", folder + "/serial"
    words = sum((["-s", "%s=%.9g" % item] for item in settings.items()), [])
    truth = rows(output([rig] + words + ["truth", energy + "firmware-60.elf"])[0])
    output([rig, "-p", power, "-u", serial] + words + ["recorded", energy + "recorded-60.elf"])
    found, said = output([build + "bin/litifut-post", "energy", "-f", "tsv", "--power", power, "--volts",
                          "3.3", "--machine", os.path.join(os.path.dirname(__file__), "radio.machine"),
                          serial, energy + "recorded-60.elf"])
    return truth, rows(found), float(re.search(r"shift ([-+.0-9]+) us", said).group(1))


def quantile(values, part):
    return sorted(values)[min(len(values) - 1, int(part * len(values)))]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--boards", type=int, default=30)
    parser.add_argument("--first", type=int, default=1000)
    parser.add_argument("--worst", type=float, default=3)
    parser.add_argument("--three-quarters", type=float, default=2)
    parser.add_argument("--seed", type=int)
    given = parser.parse_args()
    errors, inside, shifts, covered, counted, wrong = {}, {}, [], 0, 0, 0
    with tempfile.TemporaryDirectory() as folder:
        for number in range(given.first, given.first + given.boards):
            truth, found, shift = board(number, given.seed, folder)
            shifts.append(shift)
            total = sum(float(t["self_j"]) + float(t["later_j"]) for t in truth.values())
            for name, t in truth.items():
                true = float(t["self_j"])
                if true < 0.001 * total or name in ("(outside)", "main"):
                    continue
                off = float(found[name]["self_j"]) - true
                is_covered = abs(off) <= 2 * float(found[name]["uncertainty_j"])
                counted += 1
                covered += is_covered
                inside.setdefault(name, []).append(is_covered)
                if true >= 0.01 * total:
                    errors.setdefault(name, []).append(100 * off / true)
                    if abs(off) > given.worst / 100 * true and not is_covered:
                        print("board %d: %s is %+.2f %% off, its standard error %.2f %%" % (
                            number, name, 100 * off / true,
                            100 * float(found[name]["uncertainty_j"]) / true))
                        wrong += 1
    for name, values in errors.items():
        print("%-12s %3d boards, mean %+.2f %%, of the amounts: median %.2f %%, third quartile %.2f %%, "
              "nine tenths %.2f %%, largest %.2f %%" % ((name, len(values), sum(values) / len(values)) + tuple(
                  quantile([abs(v) for v in values], part) for part in (0.5, 0.75, 0.9, 1))))
    print("within two standard errors: " + ", ".join(
        "%s %d of %d" % (name, sum(values), len(values)) for name, values in inside.items()))
    seldom = any(len(values) >= 10 and sum(values) < 0.8 * len(values) for values in inside.values())
    every = [abs(v) for values in errors.values() for v in values]
    within = sum(v <= 1 for v in every)
    print("all: %d of %d within 1 %%, third quartile %.2f %%, largest %.2f %%; shift %.2f to %.2f us; "
          "within two standard errors: %d of %d" % (within, len(every), quantile(every, 0.75), max(every),
                                                    min(shifts), max(shifts), covered, counted))
    return int(wrong > 0 or seldom or quantile(every, 0.75) > given.three_quarters or
               covered < 0.9 * counted)


sys.exit(main())
