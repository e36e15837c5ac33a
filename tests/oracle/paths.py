#!/usr/bin/env python3
"""Blocks in the order in which they were executed: what the CPU did, and what a trace says.

  paths.py instructions PREFIX CALLGRIND TRACED...
        The instructions of each function, and of all, in CALLGRIND, which `litifut-post -f callgrind' makes of
        the same runs, are those that the CPU executed.
  paths.py compare PREFIX BLOCKS TRACED...
        PREFIX.PID.places and PREFIX.PID.TID.blocks are the oracle's, of runs of the programs
        without patches (edges.py plain); BLOCKS is what `litifut-post -f blocks' makes of the
        same runs of the traced ones. Each thread has executed the same blocks in the same order.
        Of blocks that are only possible (those with a ?) the thread has executed as many as it came to, the
        first ones; all others have been executed.
        With --tail N BLOCKS may begin later, behind a gap, and has N blocks at least in all. Without
        --killed no block is only possible. With --first only the first process is compared.

Threads are compared in the order in which they were made, processes likewise. Blocks of functions that are
left out of the trace count on neither side."""

import array
import bisect
import collections
import glob
import itertools
import os
import struct
import sys

import options
from edges import blocks_of, places
from elf import EM_ARM, Elf

THUMB, FUNCTION, LEFT = 1, 2, 16  # of the flags of a block


def starts_of(elf):
    """Sorted starts of the blocks that are followed, and those of them that are delay slots too: a word of data
    may look like the address of one."""
    blocks = [block for block in blocks_of(elf)[1] if not block[8] & LEFT]
    slots = {block[2] + 4 for block in blocks if elf.machine != EM_ARM and block[2]}
    return sorted(block[0] for block in blocks), slots


def instructions_in(elf, address, size, thumb):
    """Their addresses."""
    found = []
    end = address + size
    while address < end:
        found.append(address)
        length = 4
        if thumb:
            half = struct.unpack_from(elf.order + "H", elf.data, elf.offset_of(address))[0]
            length = 4 if half >> 11 in (0x1d, 0x1e, 0x1f) else 2
        address += length
    return found


def ran(path, known):
    """[(place, bytes)] of the blocks that QEMU executed in a thread; 0 bytes: the delay slot of the one before"""
    words = array.array("I")
    with open(path, "rb") as file:
        words.frombytes(file.read())
    blocks = list(zip(words[0::2], words[1::2]))
    if (end := next((at for at, number in enumerate(words[0::2]) if not number), None)) is not None:
        del blocks[end:]
    # QEMU gives a 16-bit instruction 4 bytes when the next one crosses the end of a page
    crossing = {(number, size) for number, size in set(blocks)
                if (known.get(number, (0, None))[0] + size) % 0x1000 == 0}
    for at, block in enumerate(blocks) if crossing else ():
        if block in crossing:
            number, size = block
            following = known.get(words[2 * at + 2], (0, None))[0] if 2 * at + 2 < len(words) else 0
            if following == known.get(number, (0, None))[0] + size - 2:
                blocks[at] = number, size - 2
    return blocks


class Functions:
    """The code of a module that is followed, by function."""

    def __init__(self, path):
        self.elf = Elf(path)
        data = bytearray(self.elf.data)
        for address, code in blocks_of(self.elf)[2]:
            offset = self.elf.offset_of(address)
            data[offset:offset + len(code)] = code
        self.elf.data = bytes(data)
        self.blocks = sorted(blocks_of(self.elf)[1])
        self.starts = [block[0] for block in self.blocks]
        self.functions = [block[0] for block in self.blocks if block[8] & FUNCTION]

    def block(self, address):
        at = bisect.bisect_right(self.starts, address) - 1
        block = self.blocks[at] if at >= 0 else None
        return block if block and address < block[1] and not block[8] & LEFT else None

    def function(self, address):
        return self.functions[bisect.bisect_right(self.functions, address) - 1]


def executed_instructions(prefix, modules):
    """{(module, function): instructions} of all processes"""
    counts = collections.Counter()
    for path in glob.glob(prefix + ".*.blocks"):
        pid = int(path[len(prefix) + 1:].split(".")[0])
        known = places(f"{prefix}.{pid}.places")
        for (number, size), times in collections.Counter(ran(path, known)).items():
            offset, name = known.get(number, (0, None))
            if name not in modules:
                continue
            module = modules[name]
            address = module.elf.address_of(offset)
            block = module.block(address)
            thumb = bool(block and block[8] & THUMB)
            for each in instructions_in(module.elf, address, size or 4, thumb) if block else ():
                if module.block(each):
                    counts[module.elf.name, module.function(each)] += times
    return counts


def counted_instructions(path, modules):
    """The same of a callgrind file, and the total in it."""
    counts = collections.Counter()
    by_name = {module.elf.name: module for module in modules.values()}
    module, called, total = None, False, 0
    with open(path) as file:
        for line in file:
            if line.startswith("ob="):
                module = by_name[line[3:].strip()]
            elif line.startswith("summary: "):
                total = int(line.split()[1])
            elif line.startswith("0x") and not called:
                address, _, cost = line.split()
                counts[module.elf.name, module.function(int(address, 16))] += int(cost)
            called = line.startswith("calls=")
    return counts, total


def compare_instructions(prefix, callgrind, files):
    modules = {os.path.realpath(path): Functions(path) for path in files}
    oracle = executed_instructions(prefix, modules)
    trace, total = counted_instructions(callgrind, modules)
    for module, function in sorted(set(oracle) | set(trace)):
        if oracle[module, function] != trace[module, function]:
            print(f"{module} {function:#x}: {oracle[module, function]} instructions executed, "
                  f"{trace[module, function]} counted")
    print(f"{sum(oracle.values())} instructions executed, {total} counted")
    return oracle == trace and total == sum(oracle.values()) > 0


def since(pid, tid):
    """Threads in the order in which they were made, also where the kernel's ids begin anew."""
    return (tid - pid) % (1 << 22)


def in_order(pids):
    """Processes in the order in which they were made. The kernel counts to 32,768 at least and then begins
    anew, so a number that is far below the greatest one is the later one."""
    return sorted(pids, key=lambda pid: (pid < max(pids) - 16384, pid))


def executed(prefix, files):
    """[{thread: [(module, start)]}] of the processes, in the order in which they were made"""
    modules = {}
    for path in files:
        real = os.path.realpath(path)
        elf = Elf(path)
        modules[real] = (os.path.basename(path), elf, *starts_of(elf))
    processes = {}
    for path in glob.glob(prefix + ".*.blocks"):
        pid, tid = (int(word) for word in path[len(prefix) + 1:].split(".")[:2])
        known = places(f"{prefix}.{pid}.places")
        passed = ran(path, known)
        followed = {}
        for number, size in set(passed):
            offset, name = known.get(number, (0, None))
            found = followed[number, size] = []
            if name in modules:
                module, elf, starts, slots = modules[name]
                address = elf.address_of(offset)
                for i in range(bisect.bisect_left(starts, address),
                               bisect.bisect_left(starts, address + size)):
                    if starts[i] not in slots or starts[i] == address:
                        found.append((module, starts[i]))
        blocks = list(itertools.chain.from_iterable(map(followed.__getitem__, passed)))
        if blocks:
            processes.setdefault(pid, {})[since(pid, tid)] = blocks
    return [processes[pid] for pid in in_order(processes)]


def recorded(path, first):
    """The same of a trace, or of its first process, each block with whether it is only possible; and the gaps of
    each: whether something of the thread stands before."""
    processes = {}
    gaps = {}
    seen = {}  # what a line adds, and to what: most lines are there many times
    with open(path) as file:
        next(file)
        for line in file:
            if line not in seen:
                pid, tid, module, address, _, _ = line.rstrip("\n").split("\t")
                blocks = processes.setdefault(int(pid), {}).setdefault(since(int(pid), int(tid)), [])
                if address == "gap":
                    gaps.setdefault(int(pid), []).append(bool(blocks))
                    blocks.clear()
                    continue
                seen[line] = blocks, (module, int(address.rstrip("?"), 16), address.endswith("?"))
            blocks, block = seen[line]
            blocks.append(block)
    chosen = in_order(processes)[:1 if first else None]
    return [processes[pid] for pid in chosen], [gaps.get(pid, []) for pid in chosen]


def begins_amid(process, files):
    """Is it a forked child? Its first block is within a function, which its parent has called."""
    module, start = process[min(process)][0]
    for path in files:
        if os.path.basename(path) == module:
            return not any(block[0] == start and block[8] & FUNCTION for block in blocks_of(Elf(path))[1])
    return False


def without_unreached(oracle, trace):
    """The trace without the possible blocks that the thread did not come to: the last ones of each run of them, as
    many as make it what the oracle saw, or the end of that. Looks from the end back; all if there is no such number."""
    if not any(block[2] for block in trace):
        return [block[:2] for block in trace]
    ends = {len(oracle)}
    behind = len(trace)
    while behind and ends:
        possible = trace[behind - 1][2]
        start = behind
        while start and trace[start - 1][2] == possible:
            start -= 1
        run = [block[:2] for block in trace[start:behind]]
        ends = {end - kept for end in ends for kept in range(0 if possible else len(run), len(run) + 1)
                if kept <= end and oracle[end - kept:end] == run[:kept]}
        behind = start
    return oracle[min(ends):] if ends else [block[:2] for block in trace]


def compare_threads(what, oracle, trace, tail):
    trace = without_unreached(oracle, trace)
    if oracle == trace or (tail and trace and oracle[-len(trace):] == trace):
        return True
    at = next((i for i, pair in enumerate(zip(oracle, trace)) if pair[0] != pair[1]),
              min(len(oracle), len(trace)))
    print(f"{what}: differs at block {at} of {len(oracle)} executed, {len(trace)} recorded")
    for name, blocks in (("executed", oracle), ("recorded", trace)):
        print(f"  {name}:", " ".join(f"{start:#x}" for _, start in blocks[max(at - 8, 0):at + 8]))
    return False


def main():
    arguments = sys.argv[2:]
    if sys.argv[1] == "instructions":
        return 0 if compare_instructions(arguments[0], arguments[1], arguments[2:]) else 1

    tail, = options.numbers(arguments, "--tail")
    first, killed = "--first" in arguments, "--killed" in arguments
    arguments = [each for each in arguments if each not in ("--first", "--killed")]
    oracle = executed(arguments[0], arguments[2:])
    trace, gaps_of = recorded(arguments[1], first)
    if first:
        oracle = oracle[:1]
    # what is open of its parent's calls is not known of a forked child, which has a gap for that before all else
    gaps = sum(len(each) for each in gaps_of)
    for process, each in zip(oracle, gaps_of):
        gaps -= each[:1] == [False] and begins_amid(process, arguments[2:])
    good = len(oracle) == len(trace) and len(oracle) > 0 and (tail > 0 or not gaps)
    if not good:
        print(f"{len(oracle)} processes executed blocks, {len(trace)} are recorded; {gaps} gaps")
    blocks, doubtful = 0, 0
    for number, (one, other) in enumerate(zip(oracle, trace)):
        if len(one) != len(other):
            print(f"process {number}: {len(one)} threads executed blocks, {len(other)} recorded")
            good = False
        for tids in zip(sorted(one), sorted(other)):
            good &= compare_threads(f"process {number}, thread {tids}", one[tids[0]],
                                    other[tids[1]], tail)
            blocks += len(other[tids[1]])
            doubtful += sum(block[2] for block in other[tids[1]])
    print(f"{blocks} blocks compared, {doubtful} of them only possible")
    return 0 if good and blocks > tail and (killed or not doubtful) else 1


if __name__ == "__main__":
    sys.exit(main())
