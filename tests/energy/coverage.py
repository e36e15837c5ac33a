#!/usr/bin/env python3
"""How often the error bars of `litifut-post energy` cover the truth, over many runs of the rig.

usage: BUILD=build tests/energy/coverage.py [RUNS]
Each run has a noise, a drift and lost samples of its own, and hooks whose cost is known to 1 %,
as a calibration gives it. Counts functions with 0.1 % of the energy or more."""
import os
import random
import subprocess
import sys
import tempfile


def rows(text):
    lines = [l.split("\t") for l in text.splitlines() if "\t" in l]
    return {f[0]: dict(zip(lines[0], f)) for f in lines[1:]}


def main():
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    build = os.environ.get("BUILD", "build")
    rig, firmware = build + "/tests/energy/rig", build + "/tests/energy/firmware-60.elf"
    machine = os.path.join(os.path.dirname(__file__), "radio.machine")
    truth = rows(subprocess.run([rig, "truth", firmware], capture_output=True, text=True,
                                check=True).stdout)
    total = sum(float(t["self_j"]) + float(t["later_j"]) for t in truth.values())
    within, counted, errors = {}, 0, {}
    draw = random.Random(7)
    with tempfile.TemporaryDirectory() as folder:
        power, events = folder + "/p.csv", folder + "/e"
        for seed in range(1, runs + 1):
            settings = {"seed": seed, "noise": draw.uniform(0.05, 0.3), "drift": draw.gauss(0, 5e-5),
                        "lost": draw.choice([0, 1e-4]), "lead": draw.uniform(0.02, 0.0201)}
            subprocess.run([rig, "-p", power, "-e", events] +
                           sum((["-s", "%s=%.9g" % item] for item in settings.items()), []) +
                           ["traced", firmware], stdout=subprocess.DEVNULL, check=True)
            a, b = 3.5 * draw.gauss(1, 0.01), 3.25 * draw.gauss(1, 0.01)
            got = rows(subprocess.run(
                [build + "/bin/litifut-post", "energy", "-q", "-f", "tsv", "--power", power,
                 "--volts", "3.3", "--hook", "%.4f,%.4f,30.36" % (a, b), "--machine", machine,
                 events], capture_output=True, text=True, check=True).stdout)
            for name, t in truth.items():
                true = float(t["self_j"])
                if true / total < 0.001 or name in ("(outside)", "main"):
                    continue
                found, unsure = float(got[name]["self_j"]), float(got[name]["uncertainty_j"])
                counted += 1
                within[name] = within.get(name, 0) + (abs(found - true) <= 2 * unsure)
                errors.setdefault(name, []).append(100 * (found / true - 1))
    for name in within:
        values = errors[name]
        print("%-12s within 2u %3d of %d, mean error %+.2f %%, largest %.2f %%" %
              (name, within[name], runs, sum(values) / runs, max(abs(v) for v in values)))
    print("all: %d of %d, %.1f %%" % (sum(within.values()), counted,
                                     100 * sum(within.values()) / counted))


main()
