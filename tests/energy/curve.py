#!/usr/bin/env python3
"""Writes power.csv, what an analyser would have recorded of a run in which each function draws another power
and whose clock is 100 ppm fast, and `truth`, the energy of each function (J) and how long the run took (s).

usage: curve.py [--step NS] [--lead NS] [--pin PIN --late NS] SLICES
SLICES: rows of tests/perfetto.py. The samples are --step apart and begin --lead before the run, and they end twice
that behind it. PIN: lines of a level and a time, by a clock with the same steps, when the program set its pin;
the analyser sees it --late nanoseconds later."""
import argparse

POWER = {"leaf": 0.005, "work": 0.020, "rare": 0.050}  # W
BASE = 0.010
FAST = 1.0001
NEVER = 1 << 62


def run_of(events, start, end):
    """Pieces of constant power, and what each function has drawn."""
    pieces, stack, truth, last = [], [], {}, start
    for time, kind, name in events + [(end, "", "")]:
        top = stack[-1] if stack else ""
        power = POWER.get(top, BASE)
        truth[top] = truth.get(top, 0) + power * (time - last) * 1e-9
        pieces.append((last, time, power))
        last = time
        if kind == "B":
            stack.append(name)
        elif kind:
            stack.pop()
    return pieces, truth


def write(pieces, start, end, step, changes):
    with open("power.csv", "w") as out:
        out.write("Time (s),Power (W)%s\n" % (",D0" if changes else ""))
        changes = changes + [(NEVER, 0)]
        piece = change = level = 0
        for at in range(start, end, step):
            energy, time = 0.0, at
            while time < at + step:
                while pieces[piece][1] <= time:
                    piece += 1
                upto = min(at + step, pieces[piece][1])
                energy += pieces[piece][2] * (upto - time)
                time = upto
            while changes[change][0] < at + step:
                level = changes[change][1]
                change += 1
            out.write("%.9f,%.9f%s\n" % ((at - start) * 1e-9 * FAST, energy / step,
                                         ",%d" % level if len(changes) > 1 else ""))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--step", type=int, default=100)
    parser.add_argument("--lead", type=int, default=250000)
    parser.add_argument("--pin")
    parser.add_argument("--late", type=int, default=0)
    parser.add_argument("slices")
    given = parser.parse_args()
    with open(given.slices) as file:
        rows = [line.rstrip("\n").split("\t") for line in file]
    events = [(int(row[3]), row[2], row[5]) for row in rows if row[2] in "BE"]
    start, end, changes = events[0][0], events[-1][0], []
    if given.pin:
        marks = sorted(int(row[3]) for row in rows if row[2] == "I" and row[5] == "mark 0")
        with open(given.pin) as file:
            pin = [(int(words[0]), int(words[1])) for words in map(str.split, file)]
        # the first call opens the file of the pin, so the second rise relates both clocks
        offset = marks[1] - pin[2][1]
        changes = [(time + offset + given.late, level) for level, time in pin]
        start, end = min(start, marks[0]), max(end, marks[-1])
    pieces, truth = run_of(events, start, end)
    pieces = [(start - given.lead, start, BASE)] + pieces + [(end, end + 3 * given.lead, BASE)]
    write(pieces, start - given.lead, end + 2 * given.lead, given.step, changes)
    with open("truth", "w") as out:
        for name in POWER:
            out.write("%s %.9g\n" % (name, truth[name]))
        out.write("end %.9f\n" % ((end - start) * 1e-9))


if __name__ == "__main__":
    main()
