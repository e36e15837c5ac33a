#!/usr/bin/env python3
"""LITIFUT_MODE=units: where units were entered and left, by what QEMU or simavr did.

  units.py plain ELF PLAIN WATCHED    of PLAIN, the program without patches (edges.py plain): the starts
        of the units of ELF, and each instruction by which they return or jump to another function
  units.py traced ELF WATCHED         of the program as it is: each call of the code that records, and
        the instruction behind it. An interrupt that comes between these two may come before or behind
        the record.
  units.py threads UNITS N            there are N threads, and each unit ends in the one that it has started in
  units.py compare WATCHED ORDER UNITS [--more N] [--tail N]
        ORDER is the oracle's, or the log of QEMU (-d exec,nochain -singlestep); UNITS is what `litifut-post -f units' makes of a dump or a capture. The
        oracle may have N more at the end; with --tail UNITS begins later, behind a gap, and has N lines at
        least. With --tasks N there are N threads: each unit ends in the one that it has started in, and the
        starts and ends of each are as many as those that were executed.

WATCHED has lines `ADDRESS # EVENT...', where an event is start:NAME, end:NAME, and with `before:' or
`behind:' that of a call."""

import collections
import json
import os
import re
import subprocess
import sys

import options
from elf import Elf

AVR = 83  # e_machine
SITE_BYTES = 28
BLOCK = 8  # of the kinds of sites
GAP = "[what comes before is not known]"


def patched_sites(elf):
    """[(address, kind, where its code stands)], in the order of the latter"""
    section = elf.section(".litifut.sites")
    count, = elf.unpack("I", section.offset + 8)
    result = []
    for i in range(count):
        at = section.offset + section.size - count * SITE_BYTES + i * SITE_BYTES
        address, _, _, _, kind, reason, _, _, code, _, _, _ = elf.unpack("4I4BI2BH", at)
        if not reason and code:
            result.append((address, kind, code & ~1))
    return sorted(result, key=lambda site: site[2])


def call_target(elf, at):
    """Of a call at the address, and its bytes, or None."""
    first, second = elf.unpack("2H", elf.offset_of(at))
    if elf.machine == AVR:
        if first & 0xfe0e == 0x940e:
            return ((first & 0x1f0) << 13 | (first & 1) << 16 | second) * 2, 4
        if first >> 12 == 13:
            return at + 2 + 2 * ((first & 0xfff ^ 0x800) - 0x800) & 0x1fff, 2
    elif first >> 11 == 0x1e and second & 0xd000 == 0xd000:  # bl
        sign = first >> 10 & 1
        i1, i2 = (1 - ((second >> shift & 1) ^ sign) for shift in (13, 11))
        offset = sign << 24 | i1 << 23 | i2 << 22 | (first & 0x3ff) << 12 | (second & 0x7ff) << 1
        return at + 4 + offset - (sign << 25), 4
    return None


def write(path, events):
    with open(path, "w") as file:
        for address in sorted(events):
            file.write(f"{address:x} # {' '.join(events[address])}\n")
    return 0


def name_at(elf, address):
    return elf.function_at(address)[0]


def traced(path, watched):
    elf = Elf(path)
    enter = elf.address_of_name("litifut_bits_enter")
    bit = elf.address_of_name("litifut_bit_one")
    stubs = elf.address_of_name("litifut_stubs")
    size = next(size for name, _, size, *_ in elf.symbols if name == "litifut_stubs")
    sites = patched_sites(elf)
    begun = {name_at(elf, address) for address, kind, _ in sites
             if kind == BLOCK and name_at(elf, address) and elf.address_of_name(name_at(elf, address)) == address}
    events, last, at = {}, None, stubs
    while at < stubs + size - 2:
        call = call_target(elf, at)
        if not call or call[0] not in (enter, bit):
            at += 2
            continue
        address, kind, code = [site for site in sites if site[2] <= at][-1]
        name = name_at(elf, address)
        is_first = code != last
        starts = is_first and call[0] == enter and \
            (elf.address_of_name(name) == address if kind == BLOCK else name not in begun)
        word = f"{'start' if starts else 'end'}:{name}"
        events.setdefault(at, []).append("before:" + word)
        events.setdefault(at + call[1], []).insert(0, "behind:" + word)
        last, at = code, at + call[1]
    return write(watched, events)


def plain(path, plain_path, watched):
    elf = Elf(path)
    info = os.path.join(os.environ["BUILD"], "bin", "litifut")
    text = subprocess.run([info, "info", "--json", "--sites", path], check=True,
                          stdout=subprocess.PIPE).stdout
    units = {site["function"] for site in json.loads(text)[0]["sites"] if site["reason"] == "patched"}
    tool = os.environ.get("OBJDUMP", "avr-objdump" if elf.machine == AVR else "arm-none-eabi-objdump")
    text = subprocess.run([tool, "-d", "--no-show-raw-insn", plain_path], check=True,
                          stdout=subprocess.PIPE).stdout.decode()
    events, name, begins = {}, None, 0
    indirect, returning = [], set()
    for line in text.splitlines():
        head = re.match(r"([0-9a-f]+) <(.*)>:$", line)
        code = re.match(r" *([0-9a-f]+):\t(\S+)(.*)", line)
        if head:
            name, begins = head.group(2), int(head.group(1), 16)
            if name in units:
                events.setdefault(begins, []).append("start:" + name)
        elif code and name in units:
            mnemonic, rest = code.group(2), code.group(3)
            target = re.search(r"<([^>+]*)(\+0x[0-9a-f]+)?>", rest)
            jumps = re.fullmatch(r"r?jmp|b(\.[nw])?|j", mnemonic) and target and \
                target.group(1) not in (name, "__tablejump2__")
            if mnemonic == "ijmp":
                indirect.append((int(code.group(1), 16), name))
            returning |= {name} if mnemonic == "ret" else set()
            returns = mnemonic in ("ret", "reti") or mnemonic in ("bx", "jr") or \
                (re.match(r"pop|ldm|ldr", mnemonic) and "pc}" in rest)
            if jumps or returns:
                events.setdefault(int(code.group(1), 16), []).append("end:" + name)
    # of a function that returns as well, it is a computed goto
    for address, name in indirect:
        if name not in returning:
            events.setdefault(address, []).append("end:" + name)
    return write(watched, events)


def executed(watched, order):
    with open(watched) as file:
        events = {int(line.split()[0], 16): line.split()[2:] for line in file}
    with open(order) as file:
        lines = [line.split() if line[:5] != "Trace" else [line.split("/")[1]] for line in file]
    return [event for words in lines if len(words) == 1 or words[0] == "e"
            for event in events.get(int(words[-1], 16), [])]


def recorded(path):
    """The lines without what is folded, and whether there was a gap before them."""
    lines, gap = [], False
    with open(path) as file:
        for line in map(str.strip, file):
            more = re.fullmatch(r"\[(\d+) more of the (?:(\d+) lines|line) above\]", line)
            if more:
                lines += lines[-int(more.group(2) or 1):] * int(more.group(1))
            elif line == GAP:
                lines, gap = [], True
            elif not line.startswith("thread "):
                name, word = re.fullmatch(r"<(.*)> (start|end|left without its end)", line).groups()
                lines += [f"{word}:{name}"] if word in ("start", "end") else []
    return lines, gap


def differs(oracle, lines, more):
    """Where, or None."""
    under_way, at = [], 0
    unseen = []  # units whose start was recorded before the window: only a bit says that they end

    def next_is(token):
        return at < len(lines) and lines[at] == token

    for number, event in enumerate(oracle):
        token = event.split(":", 1)[1]
        if event.startswith("before:"):
            under_way.append([token, False])
            continue
        if event.startswith("behind:"):
            if not under_way:  # the window begins within one
                if token.startswith("start:"):
                    unseen.append(token.replace("start:", "end:"))
                continue
            token, done = under_way.pop()
            if done:
                continue
        else:
            token = event
        if not next_is(token) and unseen and unseen[-1] == token:
            unseen.pop()
            continue
        while not next_is(token):
            early = next((each for each in reversed(under_way) if not each[1] and next_is(each[0])),
                         None)
            if not early:
                left = sum(not each.startswith("before:") for each in oracle[number:])
                return None if at == len(lines) and left <= more else (number, at)
            early[1] = True
            at += 1
        at += 1
    while at < len(lines) and any(not each[1] and next_is(each[0]) for each in under_way):
        next(each for each in under_way if not each[1] and next_is(each[0]))[1] = True
        at += 1
    return None if at == len(lines) else (len(oracle), at)


def are_threads(path, wanted):
    """Each thread is well-formed, but for what is open at its end."""
    threads, open_units = 0, []
    with open(path) as file:
        for line in map(str.strip, file):
            if line.startswith("thread "):
                threads, open_units = threads + 1, []
            found = re.fullmatch(r"<(.*)> (start|end|left without its end)", line)
            if found and found.group(2) == "start":
                open_units.append(found.group(1))
            elif found and (not open_units or open_units.pop() != found.group(1)):
                print(f"thread {threads}: {found.group(1)} ends, but is not open")
                return False
    print(f"{threads} threads")
    return threads == wanted


def compare(arguments):
    more, tail, tasks = options.numbers(arguments, "--more", "--tail", "--tasks")
    oracle = executed(*arguments[:2])
    if tasks:
        done = [event.split(":", 1)[1] for event in oracle if not event.startswith("before:")]
        lines = recorded(arguments[2])[0]
        print(f"{len(lines)} starts and ends, {len(done)} executed")
        # a reset may come behind a record, and before the instruction behind its call
        late, early = (collections.Counter(each) for each in (done, lines))
        begun = collections.Counter(event.split(":", 1)[1] for event in oracle
                                    if not event.startswith("behind:"))
        same = not early - begun and sum((late - early).values()) <= more
        return 0 if are_threads(arguments[2], tasks) and same and lines else 1
    lines, gap = recorded(arguments[2])
    nested = sum(1 for a, b in zip(lines, lines[1:]) if a.startswith("start:") and b.startswith("start:"))
    if gap != bool(tail):
        print("a gap" if gap else "no gap")
        return 1
    places = [0]
    if tail:
        places = [i for i in range(len(oracle)) if lines and oracle[i].endswith(lines[0])]
    at = (0, 0)
    for place in reversed(places):
        at = differs(oracle[place:], lines, more)
        if not at:
            break
    print(f"{len(lines)} starts and ends compared with "
          f"{sum(not each.startswith('before:') for each in oracle)} that were executed, {nested} within others")
    if at:
        print(f"they differ at {at[0]} of those executed, {at[1]} of those recorded")
        print("  executed:", " ".join(oracle[max(at[0] - 8, 0):at[0] + 8]))
        print("  recorded:", " ".join(lines[max(at[1] - 8, 0):at[1] + 8]))
    return 1 if at or len(lines) <= tail or not nested else 0


def main():
    if sys.argv[1] == "compare":
        return compare(sys.argv[2:])
    if sys.argv[1] == "threads":
        return 0 if are_threads(sys.argv[2], int(sys.argv[3])) else 1
    if sys.argv[1] == "plain":
        return plain(*sys.argv[2:5])
    return traced(*sys.argv[2:4])


if __name__ == "__main__":
    sys.exit(main())
