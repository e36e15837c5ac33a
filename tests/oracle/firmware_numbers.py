#!/usr/bin/env python3
"""LITIFUT_MODE=balllarus: the paths that the recorded numbers stand for, and what QEMU or simavr executed.

  firmware_numbers.py compare ELF WATCHED ORDER IDS [--more N] [--late N]
  firmware_numbers.py missing ELF WATCHED ORDER IDS FUNCTION
        prints how many activations of a function without loops are not recorded. Those that are must be
        some of those that were executed.
  firmware_numbers.py branches ELF WATCHED ORDER   prints how many conditional branches were executed
  firmware_numbers.py words ELF DUMP    prints how many words are in a ring that has not begun anew
        WATCHED and ORDER are those of firmware_paths.py and of the oracle; IDS is what
        `litifut-post -f ids' makes of a dump or a capture.

Nothing is asked here of numbers, nor of where a path begins or ends. What was executed is divided into
activations, by where control can go from a block; the blocks of the recorded paths, one path behind the
other, must be those of the activations of their functions, all of them. A path is recorded with its last
branch, so these must come in the order in which they are recorded. With --late N this may be up to N
blocks wrong, as an interrupt may come between a branch and what records it. Up to N activations (--more)
may end without a path, as the run or a longjmp has ended them."""

import collections
import struct
import sys

import options
from edges import CONDITIONAL, blocks_of
from elf import Elf
from firmware_paths import LEFT, executed, read_watched

FUNCTION, LABEL = 2, 4  # of the flags of a block
ON, BRANCH, CALL, RETURN, JUMP, STOP = range(6)  # how one ends


class Code:
    def __init__(self, path, watched):
        elf = Elf(path)
        self.blocks = {block[0]: block for block in blocks_of(elf)[1]}
        self.starts = sorted(self.blocks)
        self.watched = watched
        self.part, part, self.labels = {}, -1, {}
        for start in self.starts:
            if part < 0 or self.flags(start) & FUNCTION:
                part = start
            self.part[start] = part
            if self.flags(start) & LABEL:
                self.labels.setdefault(part, []).append(start)
        self.following = {}

    def flags(self, start):
        return self.blocks[start][8]

    def edges(self, start):
        _, end, _, target, *_, ends, flags, _, _ = self.blocks[start]
        found = {ON: [end], BRANCH: [target & ~1], CALL: [end], RETURN: [], STOP: [],
                 JUMP: self.labels.get(self.part[start], [])}[ends]
        found = found + ([end] if flags & CONDITIONAL else [])
        return [each for each in found if self.part.get(each) == self.part[start]]

    def next(self, start):
        """What may be the next watched block of the activation."""
        if start not in self.following:
            seen, found, open_ = set(), set(), [start]
            while open_:
                for each in self.edges(open_.pop()):
                    if each in self.watched:
                        found.add(each)
                    elif each not in seen:
                        seen.add(each)
                        open_.append(each)
            self.following[start] = found
        return self.following[start]


class Activation:
    def __init__(self, part):
        self.part, self.blocks, self.times, self.at, self.recorded = part, [], [], 0, -1


def activations_of(code, order):
    stack, found = [], []
    for time, block in enumerate(order):
        part = code.part[block]
        level = len(stack) - 1
        while level >= 0 and not (stack[level].part == part and
                                  block in code.next(stack[level].blocks[-1])):
            level -= 1
        # a loop back to the start of the function, or a new call of it?
        if code.flags(block) & FUNCTION and level < len(stack) - 1:
            level = -1
        if level >= 0:
            del stack[level + 1:]
        else:
            stack.append(Activation(part))
            found.append(stack[-1])
        stack[-1].blocks.append(block)
        stack[-1].times.append(time)
    return found


def read_ids(path):
    """[(function, number, blocks)] and how many gaps there are"""
    paths, gaps = [], 0
    with open(path) as file:
        next(file)
        for line in file:
            _, _, function, number, blocks = line.rstrip("\n").split("\t")
            if function == "gap":
                gaps += 1
                continue
            paths.append((function, int(number), [int(word, 16) for word in blocks.split()]))
    return paths, gaps


def time_of(code, activation, path, blocks):
    """When the path was recorded that the activation has executed next."""
    at = activation.at
    decided = [i for i, block in enumerate(blocks) if code.flags(block) & CONDITIONAL]
    if any(code.flags(block) & CONDITIONAL for block in path):
        if not decided:
            return activation.times[at]  # the branch is in a block that is not watched
        return activation.times[min(at + decided[-1], len(activation.times) - 1)]
    return activation.times[at] if code.blocks[path[0]][4] else max(activation.recorded, 0)


def take(code, waiting, path, blocks):
    """The activation that has executed the path, and when it was recorded; None: there is none."""
    best = None
    for activation in waiting:
        if best and best[0] and not activation.at and activation.times[0] > -best[1]:
            break  # this one has begun later, and so have those behind it
        left = activation.blocks[activation.at:activation.at + len(blocks)]
        if left != blocks[:len(left)] or not left:
            continue
        time = time_of(code, activation, path, blocks)
        if best is None or (len(left) == len(blocks), -time) > best[:2]:
            best = (len(left) == len(blocks), -time, activation)
    return best and (best[2], -best[1])


def compare(arguments):
    more, late = options.numbers(arguments, "--more", "--late")
    watched = read_watched(arguments[1])
    code = Code(arguments[0], set(watched.values()))
    activations = activations_of(code, executed(arguments[2], watched))
    paths, gaps = read_ids(arguments[3])
    waiting = {}
    for activation in activations:
        waiting.setdefault(activation.part, []).append(activation)
    now, problems, blocks_seen, unwatched, latest = 0, [], 0, 0, 0
    for index, (function, number, path) in enumerate(paths):
        blocks = [block for block in path if block in code.watched]
        if not blocks:
            unwatched += 1
            continue
        part = code.part[path[0]]
        found = take(code, waiting.get(part, []), path, blocks)
        if found is None:
            problems.append(f"path {index}: {function} {number} was not executed there: "
                            f"{' '.join(hex(block) for block in path)}")
            if len(problems) > 5:
                break
            continue
        activation, time = found
        if time < now - late:
            problems.append(f"path {index}: {function} {number} was executed at {time}, "
                            f"and recorded after {now}")
        latest = max(latest, now - time)
        now = max(now, time)
        activation.at += len(blocks)
        activation.recorded = time
        blocks_seen += len(blocks)
        if activation.at >= len(activation.blocks):
            waiting[part].remove(activation)
    open_ = [each for each in activations if each.at < len(each.blocks)]
    for problem in problems[:6]:
        print(problem)
    print(f"{len(paths)} paths of {blocks_seen} blocks compared with {len(activations)} activations; "
          f"{len(open_)} not recorded to their ends, {unwatched} paths can't be seen, {gaps} gaps, "
          f"{latest} blocks late at most")
    incomplete = len(open_) > more
    if incomplete:
        for each in open_[:6]:
            print(f"  left of {code.part[each.blocks[0]]:#x}:",
                  " ".join(hex(block) for block in each.blocks[each.at:][:12]), "at", each.times[each.at])
    return 1 if problems or incomplete or gaps or not paths else 0


def missing(path, watched, order, ids, function):
    watched, start = read_watched(watched), Elf(path).address_of_name(function)
    code = Code(path, set(watched.values()))
    left = collections.Counter(tuple(each.blocks) for each in activations_of(code, executed(order, watched))
                               if each.part == start)
    left.subtract(tuple(block for block in blocks if block in code.watched)
                  for name, _, blocks in read_ids(ids)[0] if name == function)
    wrong = [blocks for blocks, count in left.items() if count < 0]
    print("not executed: " + " ".join(hex(block) for block in wrong[0]) if wrong else sum(left.values()))
    return 1 if wrong else 0


def branches(path, watched, order):
    watched = read_watched(watched)
    code = Code(path, set(watched.values()))
    print(sum(bool(code.flags(block) & CONDITIONAL) for block in executed(order, watched)))
    return 0


def words(path, dump):
    elf = Elf(path)
    table, paths, base = (elf.address_of_name(name) for name in ("litifut_table", "litifut_paths", "__data_start"))
    with open(dump, "rb") as file:
        memory = file.read()
    lap, = struct.unpack_from("<I", memory, table - base)
    newest, = struct.unpack_from("<I", memory, paths - base)
    print("it has begun anew" if lap else (newest - table) // 4)
    return 1 if lap else 0


def main():
    return {"compare": lambda *arguments: compare(list(arguments)), "missing": missing,
            "branches": branches, "words": words}[sys.argv[1]](*sys.argv[2:])


if __name__ == "__main__":
    sys.exit(main())
