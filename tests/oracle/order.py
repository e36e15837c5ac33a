"""Are the recorded calls of a firmware those that were executed, in order?"""
import csv
import re
import subprocess
import sys


def functions(nm, path):
    """Addresses of the functions that can be called, but the linker's veneers, and that of the
    sender."""
    text = subprocess.run([nm, path], check=True, stdout=subprocess.PIPE, encoding="ascii").stdout
    # static functions of several files may have one name
    found = [(words[2], int(words[0], 16) & ~1) for words in map(str.split, text.splitlines())
             if len(words) == 3 and words[1] in "tTwW"]
    sender = dict(found).get("litifut_send")
    return {address for name, address in found
            if not name.startswith("litifut_") and not re.fullmatch("__.*_veneer", name) or
            address == sender}, sender


LONGEST = 100000  # lines of a sending, and of interrupts meanwhile


def is_entered(lines, at, callee, entries, sender):
    """Is this function entered behind this line, and is it the first one?"""
    first = None
    for place in range(at + 1, min(at + LONGEST, len(lines))):
        kind, address = lines[place]
        if kind != "e" or address not in entries:
            continue
        if address == callee:
            return True, first is None
        if address != sender:  # it may send at this call
            first = first or address
    return False, False


def check(marks, lines, found, tsv, missing):
    """`marks` has the sites by what they are in `lines`, the (kind, address) that were executed;
    `found` is what functions() has given. An interrupt may come between a call and its recording:
    then the call is recorded behind those of the interrupt. So many of the last calls may be
    missing."""
    entries, sender = found
    with open(tsv, encoding="utf-8") as file:
        ours = [(int(row["site_offset"], 16), int(row["callee_offset"], 16))
                for row in csv.DictReader(file, delimiter="\t")]
    real = [(marks[line], at) for at, line in enumerate(lines) if line in marks]
    waiting, at, moved, later = [], 0, 0, 0
    for number, (address, callee) in enumerate(ours):
        while at < len(real) and real[at][0]["address"] != address and \
                not (waiting and waiting[-1][0]["address"] == address):
            waiting.append(real[at])
            at += 1
            if at == len(real) or real[at][0]["kind"] != "vector":
                sys.exit("call %d is at 0x%x, and 0x%x was executed" %
                         (number, address, waiting[-1][0]["address"]))
        if at < len(real) and real[at][0]["address"] == address:
            line = real[at][1]
            at += 1
        elif waiting:
            line = waiting.pop()[1]
            moved += 1
        else:
            sys.exit("call %d, at 0x%x, was not executed" % (number, address))
        entered, first = is_entered(lines, line, callee, entries, sender)
        later += not first  # an interrupt's come first
        if not entered:
            sys.exit("call %d, at 0x%x, does not lead to 0x%x" % (number, address, callee))
    vectors = sum(site["kind"] == "vector" for site, _ in real[:at])
    left = len(real) - at + len(waiting)
    print("%d calls in order, %d of them behind an interrupt, %d interrupts, %d not recorded" %
          (len(ours), moved, vectors, left))
    sys.exit(not ours or moved > vectors or later > vectors or len(waiting) > 0 or
             left > missing)
