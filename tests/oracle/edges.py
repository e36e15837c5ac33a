#!/usr/bin/env python3
"""Edges of conditional branches: what the CPU executed, and what flags say.

  edges.py plain TRACED PLAIN
        writes the traced program as it was before it was patched: its code at the same
        addresses, with nothing to set a flag.
  edges.py compare PREFIX FLAGS TRACED PLAIN [TRACED PLAIN]...
        PREFIX.PID.steps are the oracle's, of one run or several of such a program, which may
        have had the name of either; FLAGS is
        what `litifut-post -f branches' makes of the same runs of the traced one. Each
        conditional branch went the ways that its flags say, and no others, and all that were
        executed are known. The same of blocks with a flag. In all files together, at least one
        branch must have gone both ways.
  edges.py count PREFIX TRACED PLAIN
        prints how often the conditional branches of the graph were executed in that run.

What is a conditional branch, objdump says."""

import bisect
import glob
import os
import re
import subprocess
import sys

from elf import EM_ARM, Elf

CONDITIONAL = 8  # of the flags of a block
ARM_CONDITIONS = "eq ne cs cc hs lo mi pl vs vc hi ls ge lt gt le".split()


def blocks_of(elf):
    """The section that the linker wrapper leaves: (header, blocks, originals)."""
    section = elf.section(".litifut.blocks")
    header = elf.unpack("8I", section.offset)
    at = section.offset + 32
    blocks = [elf.unpack("7I4B", at + i * header[3]) for i in range(header[2])]
    at += header[2] * header[3]
    originals = []
    for i in range(header[4]):
        address, length = elf.unpack("2I", at + i * header[5])
        bytes_at = at + i * header[5] + 8
        originals.append((address, elf.data[bytes_at:bytes_at + length]))
    return header, blocks, originals


def seen_at(elf, start):
    """Where the plugin sees that the block at this address is executed: QEMU does an `sg` (v8-M) in its own code."""
    return start + 4 if elf.machine == EM_ARM and elf.word(start) == 0xe97fe97f else start


def write_plain(traced, plain):
    elf = Elf(traced)
    data = bytearray(elf.data)
    for address, code in blocks_of(elf)[2]:
        offset = elf.offset_of(address)
        data[offset:offset + len(code)] = code
    with open(plain, "wb") as file:
        file.write(data)
    os.chmod(plain, 0o755)


def is_arm_branch(mnemonic, operands):
    base = mnemonic.split(".")[0]
    if base in ("cbz", "cbnz"):
        return True
    for stem in ("blx", "bl", "bx", "b"):
        if base.startswith(stem) and base[len(stem):] in ARM_CONDITIONS:
            return True
    if re.fullmatch(r"(pop|ldm\w*?|ldr|add|sub|mov)(%s)" % "|".join(ARM_CONDITIONS), base):
        return (re.search(r"\{.*\bpc\b.*\}", operands) is not None
                or operands.split(",")[0].strip() == "pc")
    return False


MIPS_BRANCHES = re.compile(r"(b(eq|ne|gez|gtz|lez|ltz|eqz|nez|c1f|c1t|c2f|c2t|ltzal|gezal)l?)")


def conditional_branches(path, elf):
    """{address: length of the instruction, delay slot included}"""
    triplet = {EM_ARM: "arm-linux-gnueabihf"}.get(
        elf.machine, "mipsel-linux-gnu" if elf.order == "<" else "mips-linux-gnu")
    text = subprocess.run([triplet + "-objdump", "-d", "--no-show-raw-insn", path],
                          stdout=subprocess.PIPE, check=True, text=True).stdout
    result = {}
    last = None
    for line in text.splitlines():
        match = re.match(r" *([0-9a-f]+):\t(\S+) *\t?(.*)", line)
        if not match:
            continue
        address, mnemonic, operands = int(match[1], 16), match[2], match[3]
        if last is not None:
            result[last] = address - last
            last = None
        if elf.machine == EM_ARM and is_arm_branch(mnemonic, operands):
            last = address
        elif elf.machine != EM_ARM and MIPS_BRANCHES.fullmatch(mnemonic):
            result[address] = 8
    if last is not None:
        result[last] = 4
    return result


def places(path):
    result = {}
    with open(path) as file:
        for line in file:
            number, _, offset, name = line.rstrip("\n").split(" ", 3)
            result[int(number)] = (int(offset, 16), name)
    return result


class Executed:
    """What runs of one program have done: steps {from: {to, or None in another file}}; addresses
    are those of the ELF file."""

    def __init__(self, prefix, elf, files):
        self.steps = {}
        starts, ends = set(), set()
        files = [os.path.realpath(path) for path in files]
        for path in glob.glob(prefix + ".*.steps"):
            known = places(path[:-len("steps")] + "places")
            with open(path) as file:
                for line in file:
                    source, target, _ = (int(word) for word in line.split())
                    last = target == 0
                    source, source_file = known.get(source, (0, None))
                    target, target_file = known.get(target, (0, None))
                    if target_file in files:
                        target = elf.address_of(target)
                        starts.add(target)
                    else:
                        target = None
                    if source_file in files:
                        source = elf.address_of(source)
                        ends.add(source)
                        if last:
                            continue
                        self.steps.setdefault(source, set()).add(target)
        self.starts, self.ends = sorted(starts), sorted(ends)

    def has(self, address):
        """Was the instruction executed? A block goes on to the nearest end behind its start."""
        number = bisect.bisect_right(self.starts, address) - 1
        if number < 0:
            return False
        end = bisect.bisect_left(self.ends, self.starts[number])
        return end < len(self.ends) and address <= self.ends[end]


def read_flags(path, name):
    """{(kind, address): [flags]} of a module"""
    result = {}
    with open(path) as file:
        next(file)
        for line in file:
            module, kind, address, _, taken, passed, _ = line.rstrip("\n").split("\t")
            if module == name:
                result[kind, int(address, 16)] = (taken, passed)
    return result


def compare(prefix, flags, traced, plain):
    elf = Elf(traced)
    _, blocks, _ = blocks_of(elf)
    executed = Executed(prefix, elf, (traced, plain))
    branches = conditional_branches(plain, elf)
    says = read_flags(flags, os.path.basename(traced))
    problems, checked, both, entries, missing, lost = [], 0, 0, 0, 0, 0
    known = set()
    for start, end, branch, target, entered, taken, _, _, bits, _, _ in blocks:
        if entered:
            entries += 1
            was, flag = executed.has(start), says["entered", start][0] == "1"
            if was != flag:
                problems.append(f"block {start:#x}: executed {was}, flag {flag}")
        if not bits & CONDITIONAL:
            continue
        known.add(branch)
        ways = executed.steps.get(branch, set())
        if not taken:
            missing += 1
            lost += bool(ways)
            continue
        if branch not in branches:
            problems.append(f"no conditional branch at {branch:#x}, says objdump")
            continue
        if target & ~1 == end:
            continue
        was = ("1" if any(way != end for way in ways) else "0", "1" if end in ways else "0")
        checked += 1
        both += was == ("1", "1")
        if was != says["branch", branch]:
            problems.append(f"branch {branch:#x}: executed {was}, flags {says['branch', branch]}")
    for branch in executed.steps:
        if branch in branches and branch not in known and not is_left_out(elf, branch):
            problems.append(f"conditional branch at {branch:#x} is not known")
    for problem in problems[:20]:
        print(problem)
    print(f"{checked} branches compared, {both} of them went both ways; {entries} blocks; "
          f"{missing} branches not recorded, {lost} of them executed; {len(problems)} differ")
    return problems, both


def count(prefix, traced, plain):
    elf = Elf(traced)
    branches = {block[2] for block in blocks_of(elf)[1] if block[8] & CONDITIONAL}
    files = [os.path.realpath(path) for path in (traced, plain)]
    total = 0
    for path in glob.glob(prefix + ".*.steps"):
        known = places(path[:-len("steps")] + "places")
        with open(path) as file:
            for line in file:
                source, target, times = (int(word) for word in line.split())
                source, source_file = known.get(source, (0, None))
                if target and source_file in files and elf.address_of(source) in branches:
                    total += times
    print(total)


def is_left_out(elf, address):
    """Is it code of the tracer or the linker, or without a function?"""
    section = next((s for s in elf.sections
                    if s.address <= address < s.address + s.size and s.flags & 4), None)
    if section is None or section.name != ".text":
        return True
    for name, value, size, kind, _ in elf.symbols:
        if kind == 2 and name.startswith("litifut_") and (value & ~1) <= address < (value & ~1) + max(size, 1):
            return True
    return False


def main():
    if sys.argv[1] == "plain":
        write_plain(sys.argv[2], sys.argv[3])
        return 0
    if sys.argv[1] == "count":
        count(*sys.argv[2:5])
        return 0
    prefix, flags, *files = sys.argv[2:]
    problems, both = 0, 0
    for traced, plain in zip(files[::2], files[1::2], strict=True):
        differ, went_both = compare(prefix, flags, traced, plain)
        problems += len(differ)
        both += went_both
    return 0 if not problems and both else 1


if __name__ == "__main__":
    sys.exit(main())
