#!/usr/bin/env python3
"""Blocks of a firmware in the order in which they were executed: what QEMU did, and what the bits say.

  firmware_paths.py plain ELF WATCHED     the starts of all blocks that are followed, for
  firmware_paths.py traced ELF WATCHED    tests/oracle/system: of the program without patches
        (edges.py plain), or as it is. There the start of a block may have moved: then the first
        instruction of it that has not is watched; blocks that have none count on neither side.
  firmware_paths.py pieces WATCHED ORDER BLOCKS [ELF]   where words were lost: all that is between gaps.
        With ELF, where recording was switched off: nearly all that was executed between litifut_start() and
        litifut_stop() has to be in them.
  firmware_paths.py compare ELF WATCHED ORDER BLOCKS [--tail N] [--more N] [--late N]
        ORDER is the oracle's, BLOCKS is what `litifut-post -f blocks' makes of a dump or a
        capture, in the order of its lines. With --tail N BLOCKS may begin later, behind a gap,
        and has N blocks at least. Blocks that are only possible (those with a ?) may be missing from ORDER. With
        --more N it may end up to N blocks earlier. With --late N up to N blocks that were executed before an interrupt may be recorded behind it: it is not
        known in which round of a loop of one block it came, nor where in code that makes room."""

import sys

import options
from edges import CONDITIONAL, blocks_of, seen_at
from elf import Elf

SWITCHES = ("litifut_start", "litifut_stop")
NEAR_A_SWITCH = 40  # blocks up to the first bit behind it, and from the last one before it
LEFT = 16  # of the flags of a block
AVR = 83  # e_machine


def target_of(elf, at, small):
    """Of a jmp, call, rjmp or rcall of AVR."""
    first, second = elf.unpack("2H", elf.offset_of(at))
    if first & 0xfe0c == 0x940c:
        return ((first & 0x1f0) << 13 | (first & 1) << 16 | second) * 2
    target = at + 2 + 2 * ((first & 0xfff ^ 0x800) - 0x800)
    return target & 0x1fff if small else target


def behind_moved_call(elf, patch):
    """Of code for AVR: where a call returns to that has moved from the patch to the start of the code
    that the patch leads to; None: there is none."""
    small = elf.unpack("H", elf.offset_of(patch))[0] & 0xfe0e != 0x940c
    at = target_of(elf, patch, small)
    word = elf.unpack("H", elf.offset_of(at))[0]
    if word & 0xffef == 0x9509:  # icall
        return at + 2
    if word & 0xfe0e != 0x940e and word >> 12 != 13:
        return None
    name = elf.function_at(target_of(elf, at, small))
    if name and any(each in str(name) for each in ("litifut_bit", "litifut_path_")):
        return None
    return at + (4 if word & 0xfe0e == 0x940e else 2)


def watched_of(path, is_traced):
    """{address that is watched: start of its block}"""
    elf = Elf(path)
    _, blocks, originals = blocks_of(elf)
    inside = {}
    for address, code in originals:
        # a long one comes in pieces of 8 bytes
        start = next((at for at, end in inside.values() if end == address and end - at == 8),
                     address)
        for at in range(address, address + len(code), 2):
            inside[at] = (start, address + len(code))
    ends = {}
    for start, end in inside.values():
        ends[start] = max(end, ends.get(start, 0))
    result = {}
    for start, end, _, target, *_, flags, _, _ in blocks:
        # a program that waits for an interrupt: how often can't be known
        if flags & LEFT or (target & ~1 == start and not flags & CONDITIONAL):
            continue
        if seen_at(elf, start) != start:  # a gateway: what calls it is in another image
            continue
        at = start
        if is_traced and elf.machine == AVR and start in inside and inside[start][0] != start:
            moved = behind_moved_call(elf, inside[start][0])
            if moved:
                result[moved] = start
                continue
        while is_traced and at in inside and inside[at][0] != at:
            at = ends[inside[at][0]]
        if at < end:
            result[at] = start
    for name, address, *_ in elf.symbols:
        if name in SWITCHES:
            result[address & ~1] = address & ~1
    return result


def read_watched(path):
    with open(path) as file:
        return dict(tuple(int(word, 16) for word in line.split()[::2]) for line in file)


def executed(path, watched):
    """Lines of QEMU's order begin with `e ', those of simavr's are addresses."""
    with open(path) as file:
        lines = [line.split() for line in file]
    return [watched[int(words[-1], 16)] for words in lines if len(words) == 1 or words[0] == "e"]


def recorded(path, starts):
    """Blocks, without those that are not watched, and how many gaps there are before them. Those that are only
    possible are negative."""
    blocks, gaps = [], 0
    with open(path) as file:
        next(file)
        for line in file:
            address = line.split("\t")[3]
            if address == "gap":
                gaps += 1
                blocks.clear()
                continue
            block = int(address.rstrip("?"), 16)
            if block in starts:
                blocks.append(-block if address.endswith("?") else block)
    return blocks, gaps


def pieces_of(path, starts):
    """The same, of all that is between gaps."""
    pieces = [[]]
    with open(path) as file:
        next(file)
        for line in file:
            address = line.split("\t")[3]
            if address == "gap":
                pieces.append([])
            elif int(address.rstrip("?"), 16) in starts:
                pieces[-1].append(int(address.rstrip("?"), 16))
    return [piece for piece in pieces if piece]


def place_of(piece, oracle, at):
    """Where the piece was executed, from `at' on. None: nowhere."""
    while True:
        try:
            at = oracle.index(piece[0], at)
        except ValueError:
            return None
        if oracle[at:at + len(piece)] == piece:
            return at
        at += 1


def without_switches(oracle, path):
    """Without the starts of the functions that switch, and how many blocks must be there at least."""
    at = {name: address & ~1 for name, address, *_ in Elf(path).symbols if name in SWITCHES}
    is_on, least, blocks = True, 0, []
    for block in oracle:
        if block in at.values():
            is_on = block == at.get("litifut_start")
            least -= NEAR_A_SWITCH
            continue
        blocks.append(block)
        least += is_on
    return blocks, least


def compare_pieces(arguments):
    """Each piece was executed as it is, one behind the other. An interrupt that was lost may have come
    before the last blocks of one."""
    watched = read_watched(arguments[0])
    oracle = executed(arguments[1], watched)
    least = 1
    if len(arguments) > 3:
        oracle, least = without_switches(oracle, arguments[3])
    at, found, pieces = 0, 0, pieces_of(arguments[2], set(watched.values()))
    for number, piece in enumerate(pieces):
        place = place_of(piece, oracle, at)
        if place is None and len(arguments) > 3 and len(piece) > 1:
            # An interrupt came in a block that had been entered before recording was switched on, or within litifut_start():
            # then it is shown behind the block that is executed next.
            for end in range(1, 12):
                other = piece[1:end] + (piece[:1] if end > 1 else []) + piece[end:]
                place = place_of(other, oracle, at)
                if place is not None:
                    piece = other
                    break
        for less in range(1, 1 + min(8, len(piece) - 1)):
            if place is None:
                piece = piece[:-1]
                place = place_of(piece, oracle, at)
        if place is None:
            print(f"piece {number} of {len(pieces)}, {len(piece)} blocks, was not executed: "
                  f"{[hex(block) for block in piece[:20]]}")
            return 1
        at = place + len(piece)
        found += len(piece)
    print(f"{found} blocks in {len(pieces)} pieces are of the {len(oracle)} that were executed; {least} must be there")
    return 0 if len(pieces) > 1 and least > 0 and found >= least else 1


def differs(oracle, trace, late, more):
    """Where, or None. Up to `late' blocks that were executed before an interrupt may be recorded
    behind it."""
    owed, i, j = [], 0, 0
    while j < len(trace):
        if i < len(oracle) and oracle[i] == abs(trace[j]):
            i, j = i + 1, j + 1
        elif trace[j] < 0:
            j += 1
        elif trace[j] in owed:
            owed.remove(trace[j])
            j += 1
        elif trace[j] in oracle[i:i + late + 1 - len(owed)]:
            more_owed = oracle.index(trace[j], i) - i
            owed += oracle[i:i + more_owed]
            i += more_owed
        else:
            break
    if j < len(trace) or len(oracle) - i > more or owed:
        return i, j
    return None


def compare(arguments):
    tail, late, more = options.numbers(arguments, "--tail", "--late", "--more")
    watched = read_watched(arguments[1])
    oracle, _ = without_switches(executed(arguments[2], watched), arguments[0])
    trace, gaps = recorded(arguments[3], set(watched.values()))
    if gaps and not tail:
        print(f"{gaps} gaps")
        return 1
    if tail and len(trace) < len(oracle):
        # where it fits best
        doubtful = sum(block < 0 for block in trace)
        ends = [len(oracle) + extra for extra in range(-more, doubtful + 1)]
        starts = [max(end - len(trace), 0) for end in ends]
        oracle = oracle[next((at for at in starts if oracle[at:at + 8] == trace[:8]), 0):]
    at = differs(oracle, trace, late, more)
    print(f"{len(trace)} blocks compared with {len(oracle)} that were executed; "
          f"{sum(block < 0 for block in trace)} are only possible")
    if at:
        print(f"they differ at {at[0]} of those executed, {at[1]} of those recorded")
        for name, blocks, where in ("executed", oracle, at[0]), ("recorded", trace, at[1]):
            print(f"  {name}:", " ".join(f"{block:#x}" for block in blocks[max(where - 8, 0):where + 8]))
    return 1 if at or len(trace) <= tail or not trace else 0


def main():
    if sys.argv[1] == "compare":
        return compare(sys.argv[2:])
    if sys.argv[1] == "pieces":
        return compare_pieces(sys.argv[2:])
    with open(sys.argv[3], "w") as file:
        for at, start in sorted(watched_of(sys.argv[2], sys.argv[1] == "traced").items()):
            file.write(f"{at:x} # {start:x}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
