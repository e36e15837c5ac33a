#!/usr/bin/env python3
"""Holds the counts of a traced firmware for AVR against what was executed in simavr.

  firmware_avr.py sites ELF           prints the addresses to watch
  firmware_avr.py callees ELF         prints CALL CALLEE RETURN of patched sites, but calls through
        Z; with `spans' RETURN is where a stub that makes the call returns to, 1: from an interrupt
  firmware_avr.py check ELF EXECUTED GMON
        compares each patched site: how often it was executed (EXECUTED, written by
        tests/oracle/avr) and how often it was counted (GMON, written by litifut-post).
  firmware_avr.py entries ELF         the same as sites, with the functions
  firmware_avr.py order ELF ORDER TSV
        compares the calls of TSV, written by litifut-post, with ORDER, written by tests/oracle/avr -r;
        the last one may have been made after the results were sent
  firmware_avr.py changes ELF         the same as sites, and where litifut_start(), litifut_stop(),
        litifut_reset() and the gate of LITIFUT_START_AT do what they do
  firmware_avr.py switched ELF ORDER GMON [FUNCTION]
        compares each patched site: how often ORDER, written by tests/oracle/avr -r, has it while recording
        was switched on, at the start as well unless it starts at a call of FUNCTION, with GMON

A call through Z has become a call of 4 bytes that ends where it did."""
import json
import os
import re
import struct
import subprocess
import sys

import order
from gmon import read_gmon

OFF, ON, CLEAR, CLEARED = range(4)

NM = "avr-nm"


def load(path):
    info = os.path.join(os.environ["BUILD"], "bin", "litifut")
    text = subprocess.run([info, "info", "--json", "--sites", path], check=True,
                          stdout=subprocess.PIPE).stdout
    with open(path, "rb") as file:
        family = struct.unpack_from("<I", file.read(), 36)[0] & 0x7f
    return json.loads(text)[0]["sites"], family in (25, 4)


def watched(site, small):
    if site["reason"] == "patched" and "indirect" in site["kind"] and not small:
        return site["address"] - 2
    return site["address"]


def changes(path, function):
    """Address of an instruction and what it changes. An interrupt may come before or behind it."""
    text = subprocess.run(["avr-objdump", "-d", path], check=True, stdout=subprocess.PIPE,
                          encoding="ascii").stdout
    found, name = {}, ""
    for line in text.splitlines():
        label = re.fullmatch("([0-9a-f]+) <(.*)>:", line)
        if label:
            name = label[2]
            if name == "litifut_reset":
                found[int(label[1], 16)] = CLEAR
        code = re.match(r" *([0-9a-f]+):\t[0-9a-f ]*\t(\w+)", line)
        if not code:
            continue
        if code[2] == "sts" and name in ("litifut_start", "litifut_stop", "litifut_start_gate"):
            found[int(code[1], 16)] = OFF if name == "litifut_stop" else ON
        if code[2] == "ret" and name == "litifut_reset":
            found[int(code[1], 16)] = CLEARED
    if function and not any(what == ON for what in found.values()):
        sys.exit("nothing switches recording on")
    return found


def executed_while_on(path, lines, function):
    """The least and the most of each site: while a reset is under way, interrupts may be counted."""
    least, most, on = {}, {}, not function
    seen = [0, 0, 0, 0]
    found = changes(path, function)
    for address in (int(line, 16) for line in lines):
        what = found.get(address)
        if what is None:
            if on:
                least[address] = least.get(address, 0) + 1
                most[address] = most.get(address, 0) + 1
            continue
        seen[what] += 1
        if what in (OFF, ON):
            on = what == ON
        elif what == CLEAR:
            most = {}
        else:
            least = {}
    print("switched off %d times, on %d, begun anew %d" % (seen[OFF], seen[ON], seen[CLEARED]))
    return least, most, seen


def switched(sites, small):
    function = sys.argv[5] if len(sys.argv) > 5 else None
    counts = read_gmon(sys.argv[4])[1]
    with open(sys.argv[3], encoding="ascii") as file:
        least, most, seen = executed_while_on(sys.argv[2], file, function)
    wrong = counted = 0
    for site in sites:
        if site["reason"] != "patched":
            continue
        address = watched(site, small)
        ours = counts.pop(site["address"], 0)
        counted += ours
        # the jump to exit() may come behind the sending
        ends = site["kind"] == "tail" and site.get("function") == "__init"
        if not least.get(address, 0) - ends <= ours <= most.get(address, 0):
            wrong += 1
            print("0x%x %s in %s: executed %d to %d times while recorded, counted %d" %
                  (address, site["kind"], site.get("function", "?"), least.get(address, 0),
                   most.get(address, 0), ours))
    print("counted %d, %d sites differ" % (counted, wrong))
    sys.exit(bool(not counted or not seen[ON] or counts or wrong))


def main():
    sites, small = load(sys.argv[2])
    if sys.argv[1] == "sites":
        for site in sites:
            print("%x" % watched(site, small))
        return
    if sys.argv[1] == "changes":
        for address in sorted({watched(site, small) for site in sites} |
                              set(changes(sys.argv[2], None))):
            print("%x" % address)
        return
    if sys.argv[1] == "switched":
        switched(sites, small)
    if sys.argv[1] == "entries":
        patched = {watched(site, small) for site in sites if site["reason"] == "patched"}
        for address in sorted(patched | order.functions(NM, sys.argv[2])[0]):
            print("%x" % address)
        return
    if sys.argv[1] == "order":
        marks = {("e", watched(site, small)): site for site in sites
                 if site["reason"] == "patched"}
        with open(sys.argv[3], encoding="ascii") as file:
            lines = [("e", int(line, 16)) for line in file]
        order.check(marks, lines, order.functions(NM, sys.argv[2]), sys.argv[4], 1)
    if sys.argv[1] == "callees":
        spans = len(sys.argv) > 3
        for site in sites:
            if site["reason"] == "patched" and "indirect" not in site["kind"]:
                back = site["address"] + (2 if small else 4)
                made_by_stub = {"direct": back, "vector": 1}.get(site["kind"], 0)
                print("%x %x %x" % (site["address"], site["callee"],
                                    made_by_stub if spans else 0))
        return
    with open(sys.argv[3], encoding="ascii") as file:
        lines = [line.split() for line in file]
    taken = {int(words[0], 16): int(words[1]) for words in lines if words[0] != "cycles"}
    counts = read_gmon(sys.argv[4])[1]
    executed = counted = wrong = left = pointers = 0
    for site in sites:
        real = taken[watched(site, small)]
        ours = counts.pop(site["address"], 0)
        if site["reason"] != "patched":
            left += real
            real = 0
        executed += real
        counted += ours
        pointers += real if "indirect" in site["kind"] else 0
        if real != ours:
            wrong += 1
            print("0x%x %s in %s: executed %d, counted %d" %
                  (site["address"], site["kind"], site.get("function", "?"), real, ours))
    print("executed %d (%d through pointers), counted %d, %d sites differ, %d calls left" %
          (executed, pointers, counted, wrong, left))
    if counts:
        print("counted where no site is: %s" % ", ".join(hex(site) for site in counts))
    sys.exit(bool(executed == 0 or counts or wrong))


main()
