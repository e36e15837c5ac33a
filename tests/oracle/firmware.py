#!/usr/bin/env python3
"""Holds the counts of a traced firmware against what QEMU's plugin has seen.

  firmware.py sites ELF            prints the addresses that the plugin is to watch
  firmware.py check ELF ORACLE GMON [--missing N]
        compares each patched site of ELF: how often it was taken (ORACLE, written by
        tests/oracle/system) and how often it was counted (GMON, written by litifut-post).
        N calls may have been made after the results were sent.
  firmware.py times ELF ORACLE CSV INSTRUCTIONS
        compares the times of the calls of each site with the instructions that were executed
        until they returned: the tracer adds at most so many to a call. Two sites may differ: an
        interrupt in the tracer's own part of a call is not in its time.
  firmware.py tasks ELF STAMPS JSON INSTRUCTIONS
        compares the calls and times of the tasks of JSON, written by litifut-post, with STAMPS, written by the plugin with
        stamps=: tests/firmware/kernel.c goes round its tasks at each call of choose_next(). Calls are the same; of times
        each change may shift so many instructions from a task to another.
  firmware.py entries ELF          the same as sites, with the functions and the vectors
  firmware.py order ELF ORDER TSV [--first]
        compares the calls of TSV, written by litifut-post, with ORDER, written by the plugin with
        order=: the same calls, to the same functions, in the same order. An interrupt may come
        between a call and its recording. With --first the last calls of ORDER may be missing.

The branch that stands at a site now is found in the code itself: the site of a 16-bit call
may begin with the instruction before it."""
import csv
import json
import os
import struct
import subprocess
import sys

import order
from gmon import read_gmon

NM = "arm-none-eabi-nm"


def load(path):
    """Sites, and a function that reads a halfword of the image."""
    info = os.path.join(os.environ["BUILD"], "bin", "litifut")
    text = subprocess.run([info, "info", "--json", "--sites", path], check=True,
                          stdout=subprocess.PIPE).stdout
    # a function that is left as a whole has no instruction
    sites = [site for site in json.loads(text)[0]["sites"] if "instruction" in site]
    with open(path, "rb") as file:
        data = file.read()
    offset, size, count = struct.unpack_from("<I", data, 28)[0], *struct.unpack_from(
        "<HH", data, 42)
    segments = [struct.unpack_from("<8I", data, offset + i * size) for i in range(count)]

    def half(address):
        for kind, at, virtual, _, file_bytes, _, _, _ in segments:
            if kind == 1 and virtual <= address < virtual + file_bytes:
                return struct.unpack_from("<H", data, at + address - virtual)[0]
        sys.exit("no code at 0x%x" % address)

    return sites, half


def stub_of(address, half):
    """Where the b.w or bl at this address leads."""
    first, second = half(address), half(address + 2)
    s, j1, j2 = first >> 10 & 1, second >> 13 & 1, second >> 11 & 1
    offset = (j1 ^ s ^ 1) << 23 | (j2 ^ s ^ 1) << 22 | (first & 0x3ff) << 12 | (second & 0x7ff) << 1
    return address + 4 + offset - (s << 24)


def watched(site, half):
    """What to watch of a site, and whether it is a branch that may not be taken. Mostly the
    branch to the stub. If a conditional branch stood before the call, or is the call (b<cond>.w),
    and has moved to the stub, the start of the counting there."""
    address = branch_of(site, half)
    wide_condition = site["instruction"] >> 27 == 0x1e and site["instruction"] & 0xd000 == 0x8000
    if site["reason"] != "patched" or site["kind"] == "vector" or \
            ((site["length"] == 4 or address == site["address"]) and not wide_condition):
        return address, True
    stub = stub_of(address, half)
    if half(stub) >> 12 != 0xd and half(stub) & 0xf500 != 0xb100:
        return address, True
    for at in range(stub, stub + 16, 2):
        if half(at) in (0xb500, 0xb501, 0xb407):  # push {lr}, {r0, lr}, {r0, r1, r2}
            return at, False
    sys.exit("0x%x: a stub of unknown form" % address)


def branch_of(site, half):
    """Where the branch to the stub of a patched site stands."""
    address = site["address"]
    if site["reason"] != "patched" or site["length"] == 4:
        return address
    if half(address) != site["instruction"] and (half(address) >> 11 == 0x1c or \
            half(address) >> 12 == site["instruction"] >> 12 in (0xb, 0xd)):
        return address  # a short branch to other code that makes room
    if half(address - 2) >> 11 == 0x1e and half(address) & 0xc000 in (0x8000, 0xc000):
        return address - 2
    return address - 4


def read_oracle(path):
    taken = {}
    with open(path, encoding="ascii") as file:
        for line in file:
            words = line.split()
            if words[0] != "instructions":
                taken[int(words[0], 16)] = (int(words[1]), int(words[2]))
    return taken


def read_spans(path):
    """By address: calls that returned, their instructions, least, most."""
    with open(path, encoding="ascii") as file:
        return {int(words[0], 16): [int(word) for word in words[3:]]
                for words in map(str.split, file) if words[0] != "instructions"}


def check_times(sites, half, spans, rows, cost):
    """All times in ticks of the device's clock; what a tick is follows from the longest call."""
    real, ours = {}, {}
    for site in sites:
        real[site["address"]] = spans.get(watched(site, half)[0], [0, 0, 0, 0])
    for row in rows:
        if row["timed_calls"] not in ("", "0"):
            ours.setdefault(int(row["site"], 16), []).append(
                [int(row[name]) for name in ("timed_calls", "total_ns", "min_ns", "max_ns")])
    both = {at: rows[0] for at, rows in ours.items()
            if len(rows) == 1 and real.get(at, [0])[0] == rows[0][0]}
    longest = max(both, key=lambda at: both[at][1])
    tick = real[longest][1] / both[longest][1]
    wrong = set()
    for at, (calls, total, least, most) in sorted(both.items()):
        _, executed, shortest, longest = real[at]
        slack = 1.5 * tick
        for name, value, truth, times in (("total", total, executed, calls),
                                          ("min", least, shortest, 1), ("max", most, longest, 1)):
            more = truth - value * tick
            if more < -slack * times - truth * 0.01 or \
                    more > (cost + slack) * times + truth * 0.01:
                wrong.add(at)
                print("0x%x: %s: %d instructions in %d calls, %d ticks" %
                      (at, name, truth, times, value))
    print("%d sites compared, %.3f instructions a tick, %d wrong" % (len(both), tick, len(wrong)))
    sys.exit(len(wrong) > 2 or len(both) < 30)


def check_tasks(sites, half, stamps, path, elf, slack):
    names = ["Control", "Worker", "Logger of thing", "IDLE"]
    nm = subprocess.run([NM, elf], check=True, stdout=subprocess.PIPE).stdout.decode()
    functions = {line.split()[2]: int(line.split()[0], 16) & ~1 for line in nm.splitlines()}
    calls, last, since = [0] * 5, 4, None  # the clock stands up to board_start_ticks()
    spent, changes = [0] * 5, 0
    patched = [site for site in sites if site["reason"] == "patched"]
    kinds = {recorded_at(site, half) for site in patched}
    for address, taken, at in stamps:
        calls[last] += ("e", address) in kinds or (taken and ("t", address) in kinds)
        if address == functions["board_start_ticks"]:
            since = at
        if address == functions["board_stop_ticks"]:
            spent[last] += at - since
        if address == functions["choose_next"]:
            spent[last] += at - since
            last, since = (last + 1) % 4 if last < 4 else 0, at
            changes += 1
    with open(path, encoding="utf-8") as file:
        threads = {thread["name"]: thread for thread in json.load(file)["processes"][0]["threads"]}
    tick = sum(spent) / sum(thread["ticks"] for thread in threads.values())
    wrong = len(threads) != 5
    for i, name in enumerate(names + ["(none)"]):
        thread = threads.get(name, {"events": -1, "ticks": 0})
        ours = thread["ticks"] * tick
        off = abs(ours - spent[i])
        print("%s: %d calls, %d counted; %d instructions, %.0f by the clock" %
              (name, calls[i], thread["events"], spent[i], ours))
        wrong += calls[i] != thread["events"] or off > changes / 4 * slack + spent[i] * 0.01 + 100
    print("%d changes, %.3f instructions a tick, %d wrong" % (changes, tick, wrong))
    sys.exit(wrong > 0 or changes < 12)


def recorded_at(site, half):
    """Kind and address of the line in the plugin's order that is the call of a patched site."""
    if site["kind"] == "vector":
        return "e", (half(site["address"]) | half(site["address"] + 2) << 16) & ~1
    address, is_branch = watched(site, half)
    return "t" if is_branch else "e", address


def main():
    sites, half = load(sys.argv[2])
    if sys.argv[1] == "entries":
        watch = {recorded_at(site, half)[1] for site in sites if site["reason"] == "patched"}
        for address in sorted(watch | order.functions(NM, sys.argv[2])[0]):
            print("%x" % address)
        return
    if sys.argv[1] == "order":
        marks = {recorded_at(site, half): site for site in sites if site["reason"] == "patched"}
        with open(sys.argv[3], encoding="ascii") as file:
            lines = [(kind, int(address, 16)) for kind, address in map(str.split, file)]
        order.check(marks, lines, order.functions(NM, sys.argv[2]), sys.argv[4],
                    len(lines) if len(sys.argv) > 5 else 0)
    if sys.argv[1] == "tasks":
        with open(sys.argv[3], encoding="ascii") as file:
            stamps = [(int(address, 16), int(taken), int(at))
                      for address, taken, at in map(str.split, file)]
        check_tasks(sites, half, stamps, sys.argv[4], sys.argv[2], int(sys.argv[5]))
    if sys.argv[1] == "sites":
        for site in sites:
            back = site["return_address"] & ~1 if site["kind"] in ("direct", "indirect") else 0
            print("%x %x" % (watched(site, half)[0], back))
        return
    if sys.argv[1] == "times":
        with open(sys.argv[4], encoding="utf-8") as file:
            check_times(sites, half, read_spans(sys.argv[3]), list(csv.DictReader(file)),
                        int(sys.argv[5]))
    taken = read_oracle(sys.argv[3])
    counts = read_gmon(sys.argv[4])[1]
    missing = int(sys.argv[6]) if len(sys.argv) > 5 else 0
    executed = counted = wrong = 0
    for site in sites:
        address, is_branch = watched(site, half)
        real = taken.get(address, (0, 0))[is_branch]
        ours = counts.pop(site["address"], 0)
        if site["reason"] != "patched":
            real = 0
        if site["kind"] == "vector":  # the stub is entered where the handler was
            real = ours = 0
        executed += real
        counted += ours
        if real != ours:
            wrong += 1
            print("0x%x %s in %s: executed %d, counted %d" %
                  (site["address"], site["kind"], site.get("function", "?"), real, ours))
    print("executed %d, counted %d, %d sites differ" % (executed, counted, wrong))
    if counts:
        print("counted where no site is: %s" % ", ".join(hex(site) for site in counts))
    sys.exit(executed == 0 or bool(counts) or executed - counted != missing or
             (missing == 0 and wrong))


main()
