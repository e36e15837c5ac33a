#!/usr/bin/env python3
"""The events in a capture of a firmware that records spans, read without LITIFUT's own code.

  spans.py energy CAPTURE ELF CSV TRUTH
        writes what a power analyser would have seen: one power while `fibonacci' runs, another one
        otherwise, and pulses of the pin at its marks, all by a clock that is 100 ppm fast. TRUTH
        gets the joules of `fibonacci' and its calls."""
import json
import os
import subprocess
import sys

STEP, LEAD = 100, 20000  # ticks between samples, and before the first event and behind the last one
PULSE = 1000
BASE, SPECIAL = 0.010, 0.025  # W


def uncobs(piece):
    out, at = b"", 0
    while at < len(piece):
        code = piece[at]
        if not code or at + code > len(piece):
            return b""
        out += piece[at + 1:at + code]
        at += code
        if at < len(piece):
            out += b"\0"
    return out


def crc_of(data):
    crc = 0xffff
    for byte in data:
        crc ^= byte << 8
        for _ in range(8):
            crc = (crc << 1 ^ (0x1021 if crc & 0x8000 else 0)) & 0xffff
    return crc


def is_whole(frame):
    return len(frame) >= 4 and crc_of(frame[:-2]) == frame[-2] | frame[-1] << 8


def numbers(payload):
    value = shift = 0
    for byte in payload:
        value |= (byte & 0x7f) << shift
        shift += 7
        if byte < 0x80:
            yield value
            value = shift = 0


def frames(data):
    for piece in data.split(b"\0"):
        for start in range(len(piece)):  # text may stand in front of it
            frame = uncobs(piece[start:])
            if is_whole(frame):
                yield chr(frame[0]), numbers(frame[2:-2])
                break


def events(path):
    """(number, time, value) of each."""
    expected = 0
    with open(path, "rb") as file:
        data = file.read()
    for kind, words in frames(data):
        if kind != "S":
            continue
        position, time, stack = next(words), 0, 0
        assert position == expected, "%d events are missing" % (position - expected)
        for number in words:
            expected += 1
            if number == 1:  # a callee
                yield number, time, next(words)
                continue
            time += next(words)
            value = next(words)
            if number == 0 or number >= 8:
                stack = stack + (value >> 1 ^ -(value & 1)) & 0xffff
                value = stack
            yield number, time, value


def callees(path):
    info = os.path.join(os.environ["BUILD"], "bin", "litifut")
    text = subprocess.run([info, "info", "--json", "--sites", path], check=True,
                          stdout=subprocess.PIPE).stdout
    sites = [site for site in json.loads(text)[0]["sites"] if site["reason"] == "patched"]
    return [site.get("callee_name", site.get("callee")) for site in
            sorted(sites, key=lambda site: site["address"])]


def address_of(path, name):
    for line in subprocess.run(["arm-none-eabi-nm", path], check=True, stdout=subprocess.PIPE,
                               encoding="ascii").stdout.splitlines():
        if line.split()[2] == name:
            return int(line.split()[0], 16)
    sys.exit("no symbol " + name)


def energy(capture, elf, csv, truth):
    special = address_of(elf, "fibonacci")
    leads = [callee is not None and int(callee) & ~1 == special for callee in callees(elf)]
    stack, pieces, pins, calls, joules = [], [], [], 0, 0
    first = last = None
    for number, time, value in events(capture):
        if first is None:
            first = last = time
        power = SPECIAL if stack and stack[-1][1] else BASE
        joules += power * (time - last) * 1e-9 if power == SPECIAL else 0
        pieces.append((last, time, power))
        last = time
        if number >= 8:
            stack.append((value, leads[number - 8]))
            calls += leads[number - 8]
        elif number == 0:
            while stack and stack[-1][0] != value:
                stack.pop()
            stack.pop()
        elif number == 3 and value == 0:
            pins.append(time)
    pieces = [(first - LEAD, first, BASE)] + pieces + [(last, last + 2 * LEAD, BASE)]
    with open(csv, "w", encoding="ascii") as out:
        out.write("Time (s),Power (W),D0\n")
        at, piece = first - LEAD, 0
        while at < last + LEAD:
            used, time = 0, at
            while time < at + STEP:
                while pieces[piece][1] <= time:
                    piece += 1
                upto = min(at + STEP, pieces[piece][1])
                used += pieces[piece][2] * (upto - time)
                time = upto
            high = any(pin <= at < pin + PULSE for pin in pins)
            out.write("%.9f,%.9f,%d\n" % ((at - first + LEAD) * 1e-9 * 1.0001, used / STEP, high))
            at += STEP
    with open(truth, "w", encoding="ascii") as out:
        out.write("%.9g %d %d\n" % (joules, calls, len(pins)))


if __name__ == "__main__":
    energy(*sys.argv[2:])
