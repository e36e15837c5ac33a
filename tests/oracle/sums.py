#!/usr/bin/env python3
"""Whether what litifut-post says of one run agrees with itself.

  sums.py CSV JSON    what `litifut-post -f csv' and `-f json' make of the same recording: no call
                      site has more timed calls than calls, self <= total, min <= max, and their sums
                      lie between calls * min and calls * max; both formats have the same number of
                      calls."""

import csv
import json
import sys


def number(row, column):
    return int(row[column]) if row[column] else None


def wrong(row):
    """What is wrong with a row, in words, or None."""
    calls, timed = number(row, "calls"), number(row, "timed_calls") or 0
    total, own = number(row, "total_ns"), number(row, "self_ns")
    least, most = number(row, "min_ns"), number(row, "max_ns")
    if timed > calls:
        return "more timed calls than calls"
    if not timed or total is None:
        return None
    if own > total:
        return "self above total"
    if least > most:
        return "min above max"
    if not least * timed <= total <= most * timed:
        return "a total that its calls can't have"
    return None


def main(arguments):
    if len(arguments) != 2:
        sys.exit(__doc__)
    with open(arguments[0], encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    with open(arguments[1], encoding="utf-8") as file:
        document = json.load(file)
    bad = [(wrong(row), row) for row in rows if wrong(row)]
    for what, row in bad[:10]:
        print(what, row)
    calls = sum(number(row, "calls") for row in rows)
    said = sum(edge["calls"] for edge in document["edges"])
    print(f"{len(rows)} rows, {calls} calls in csv, {said} in json")
    return 1 if bad or calls != said or not calls else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
