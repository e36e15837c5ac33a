#!/usr/bin/env python3
"""jtag_ice.py MEMORY: a JTAG ICE of the first generation, as AVaRICE speaks to one (Atmel's
application note AVR060), with a device that has stopped. The file is its data memory from address
0. Prints the name of its serial line, and serves it until it is ended."""
import os
import sys
import tty

OK = b"A"
END = b"  "
DEVICE = 0x9702  # atmega128: AVaRICE has no atmega1284p for this generation; the memory is alike
# Bytes of each command, with the two blanks at its end.
LENGTHS = {b"S": 3, b"q": 4, b"B": 5, b"F": 3, b"G": 3, b"x": 3, b"2": 3, b"R": 8, b"\xa0": 126}
IDENTITY = 0xa7  # the first of the four parameters that are the device's number


def answer(command, memory):
    """What the box sends back."""
    kind = command[:1]
    if kind == b"S":
        return OK + b"AVRNOCD" + OK
    if kind == b"q":
        number = (DEVICE << 12 | 0x3f).to_bytes(4, "little")
        at = command[1] - IDENTITY
        return OK + bytes([number[at] if 0 <= at < 4 else 1]) + OK
    if kind in (b"F", b"2"):
        return OK + bytes(3) + OK
    if kind == b"G":
        return OK
    if kind == b"R":
        space, count, address = command[1], command[2] + 1, int.from_bytes(command[3:6], "big")
        if space != 0x20 or address + count > len(memory):
            return OK + bytes(count + 1) + b"F"
        return OK + memory[address:address + count] + bytes(1) + OK # a byte without a meaning
    return OK + OK


def main():
    with open(sys.argv[1], "rb") as file:
        memory = file.read()
    box, line = os.openpty()
    tty.setraw(line)
    print(os.ttyname(line), flush=True)
    waiting = b""
    while True:
        waiting += os.read(box, 4096)
        while waiting:
            length = LENGTHS.get(waiting[:1])
            if length is None:  # a blank asks whether the box listens; what else there is, is noise
                if waiting[:1] == b" ":
                    os.write(box, OK)
                waiting = waiting[1:]
                continue
            if len(waiting) < length:
                break
            if waiting[length - 2:length] != END:
                waiting = waiting[1:]
                continue
            os.write(box, answer(waiting[:length], memory))
            waiting = waiting[length:]


main()
