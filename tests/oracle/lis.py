#!/usr/bin/env python3
"""Tokens as those of LIS (rewriter/tokens.h): how many bits they have in all, and how many they must have.

  lis.py sites ELF                   prints the addresses to watch
  lis.py bits ELF EXECUTED [global]  prints the bits of all that was executed, as tests/oracle/avr -o
        counts it, if each function that was entered has ended
  lis.py functions ELF               prints the functions that are recorded, in other modes as well
  lis.py blocks ELF                  prints where blocks start, also of other functions
  lis.py jumps ELF ORDER             prints those of ORDER, of tests/oracle/avr -r, to which control has jumped
  lis.py recorded ELF MEMORY         prints those that the recorder of tests/firmware/avr_lis.S has counted,
        and how many bytes it has lost

Nothing of the code that records is asked: a function is entered as often as its first instruction is
executed, and a branch as often as the code that has led to it from its place."""

import struct
import sys

from edges import CONDITIONAL, blocks_of
from elf import Elf

FUNCTION, LEFT = 2, 16  # of the flags of a block
ON = 0  # how one ends
MEMORY = 0x800000


class Function:
    def __init__(self, start):
        self.start, self.branches = start, []


def functions_of(elf):
    """Those that are recorded, with the places that lead to the code of their branches."""
    _, blocks, originals = blocks_of(elf)
    place, begin, end = {}, 0, 0
    for address, code in originals:
        # a long one comes in pieces of 8 bytes
        begin = begin if address == end and end - begin == 8 else address
        end = address + len(code)
        for at in range(address, end, 2):
            place[at] = begin
    functions, current = [], None
    for start, _, branch, *_, flags, _, _ in blocks:
        if flags & FUNCTION or current is None:
            current = Function(start)
            if not flags & LEFT:
                functions.append(current)
        if flags & CONDITIONAL and not flags & LEFT:
            current.branches.append(place.get(branch))
    return functions


def bits_of(count):
    """Of the largest number below it."""
    return max(count - 1, 0).bit_length()


def executed_of(path):
    with open(path) as file:
        return {int(words[0], 16): int(words[1]) for words in map(str.split, file) if len(words) == 3}


def bits(path, executed, is_global):
    functions, executed = functions_of(Elf(path)), executed_of(executed)
    all_tokens = sum(2 + 2 * len(function.branches) for function in functions)
    total = 0
    for function in functions:
        entered = executed[function.start]
        decided = sum(executed[place] for place in function.branches)
        own = bits_of(all_tokens if is_global else 1 + 2 * len(function.branches))
        total += entered * bits_of(all_tokens if is_global else len(functions)) + (entered + decided) * own
    return total


def recorded(path, memory):
    at = Elf(path).address_of_name("lis_state") - MEMORY
    with open(memory, "rb") as file:
        _, _, count, lost = struct.unpack_from("<HBIH", file.read(), at)
    return f"{count} {lost}"


def print_jumps(path, order):
    ends = {block[0]: block[1] for block in blocks_of(Elf(path))[1] if block[7] == ON and not block[8] & CONDITIONAL}
    last = None
    with open(order) as file:
        for line in file:
            start = int(line, 16)
            if ends.get(last) != start:
                print(line, end="")
            last = start


def main():
    if sys.argv[1] == "sites":
        for function in functions_of(Elf(sys.argv[2])):
            for address in [function.start] + function.branches:
                print(f"{address:x}")
    elif sys.argv[1] == "functions":
        elf = Elf(sys.argv[2])
        for function in functions_of(elf):
            print(elf.function_at(function.start)[0])
    elif sys.argv[1] == "blocks":
        for block in blocks_of(Elf(sys.argv[2]))[1]:
            print(f"{block[0]:x}")
    elif sys.argv[1] == "jumps":
        print_jumps(sys.argv[2], sys.argv[3])
    elif sys.argv[1] == "bits":
        print(bits(sys.argv[2], sys.argv[3], sys.argv[4:] == ["global"]))
    else:
        print(recorded(sys.argv[2], sys.argv[3]))


if __name__ == "__main__":
    main()
