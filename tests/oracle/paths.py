#!/usr/bin/env python3
"""Blocks in the order in which they were executed: what the CPU did, and what a trace says.

  paths.py compare PREFIX BLOCKS TRACED...
        PREFIX.PID.places and PREFIX.PID.TID.blocks are the oracle's, of runs of the programs
        without patches (edges.py plain); BLOCKS is what `litifut-post -f blocks' makes of the
        same runs of the traced ones. Each thread has executed the same blocks in the same order.
        With --tail N BLOCKS may begin later, behind a gap, and has N blocks at least in all; with --cut N
        it may end up to N blocks later, as a process that was killed has not done all that its last
        branch leads to.

Threads are compared in the order of their ids, processes likewise. Blocks of functions that are
left out of the trace count on neither side."""

import array
import bisect
import glob
import os
import sys

from edges import blocks_of, places
from elf import Elf

LEFT = 16  # of the flags of a block


def starts_of(path):
    """Sorted starts of the blocks that are followed."""
    return sorted(block[0] for block in blocks_of(Elf(path))[1] if not block[8] & LEFT)


def since(pid, tid):
    """Threads in the order in which they were made, also where the kernel's ids begin anew."""
    return (tid - pid) % (1 << 22)


def executed(prefix, files):
    """[{thread: [(module, start)]}] of the processes, in the order of their ids"""
    modules = {}
    for path in files:
        real = os.path.realpath(path)
        modules[real] = (os.path.basename(path), Elf(path), starts_of(path))
    processes = {}
    for path in glob.glob(prefix + ".*.blocks"):
        pid, tid = (int(word) for word in path[len(prefix) + 1:].split(".")[:2])
        known = places(f"{prefix}.{pid}.places")
        words = array.array("I")
        with open(path, "rb") as file:
            words.frombytes(file.read())
        blocks = []
        cache = {}
        for at in range(0, len(words), 2):
            number, size = words[at:at + 2]
            if not number:
                break
            # QEMU gives a 16-bit instruction 4 bytes when the next one crosses the end of a page
            offset = known.get(number, (0, None))[0]
            following = known.get(words[at + 2], (0, None))[0] if at + 2 < len(words) else 0
            if (offset + size) % 0x1000 == 0 and following == offset + size - 2:
                size -= 2
            if (number, size) not in cache:
                offset, name = known.get(number, (0, None))
                found = []
                if name in modules:
                    module, elf, starts = modules[name]
                    address = elf.address_of(offset)
                    for i in range(bisect.bisect_left(starts, address),
                                   bisect.bisect_left(starts, address + size)):
                        found.append((module, starts[i]))
                cache[number, size] = found
            blocks += cache[number, size]
        if blocks:
            processes.setdefault(pid, {})[since(pid, tid)] = blocks
    return [processes[pid] for pid in sorted(processes)]


def recorded(path):
    """The same of a trace, and how many gaps there are."""
    processes = {}
    gaps = 0
    with open(path) as file:
        next(file)
        for line in file:
            pid, tid, module, address, _, _ = line.rstrip("\n").split("\t")
            thread = since(int(pid), int(tid))
            blocks = processes.setdefault(int(pid), {}).setdefault(thread, [])
            if address == "gap":
                gaps += 1
                blocks.clear()
            else:
                blocks.append((module, int(address, 16)))
    return [processes[pid] for pid in sorted(processes)], gaps


def compare_threads(what, oracle, trace, tail, cut):
    if tail:
        for extra in range(min(cut, len(trace)) + 1):
            part = trace[:len(trace) - extra]
            if part and oracle[-len(part):] == part:
                return True
    elif oracle == trace or (len(trace) - cut <= len(oracle) <= len(trace) and
                             trace[:len(oracle)] == oracle):
        return True
    at = next((i for i, pair in enumerate(zip(oracle, trace)) if pair[0] != pair[1]),
              min(len(oracle), len(trace)))
    print(f"{what}: differs at block {at} of {len(oracle)} executed, {len(trace)} recorded")
    for name, blocks in (("executed", oracle), ("recorded", trace)):
        print(f"  {name}:", " ".join(f"{start:#x}" for _, start in blocks[max(at - 8, 0):at + 8]))
    return False


def main():
    arguments = sys.argv[2:]

    def option(name):
        if name not in arguments:
            return 0
        at = arguments.index(name)
        value = int(arguments[at + 1])
        del arguments[at:at + 2]
        return value

    tail, cut = option("--tail"), option("--cut")
    oracle = executed(arguments[0], arguments[2:])
    trace, gaps = recorded(arguments[1])
    good = len(oracle) == len(trace) and len(oracle) > 0 and (tail > 0 or not gaps)
    if not good:
        print(f"{len(oracle)} processes executed blocks, {len(trace)} are recorded; {gaps} gaps")
    blocks = 0
    for number, (one, other) in enumerate(zip(oracle, trace)):
        if len(one) != len(other):
            print(f"process {number}: {len(one)} threads executed blocks, {len(other)} recorded")
            good = False
        for tids in zip(sorted(one), sorted(other)):
            good &= compare_threads(f"process {number}, thread {tids}", one[tids[0]],
                                    other[tids[1]], tail, cut)
            blocks += len(other[tids[1]])
    print(f"{blocks} blocks compared")
    return 0 if good and blocks > tail else 1


if __name__ == "__main__":
    sys.exit(main())
