"""Where code of LITIFUT's stands inside the program's own functions (MIPS).

No symbol names it, so it is found by what it looks like: the target of a patched
call that lies in no function of the given files begins a piece of an island, and that ends with
`jr at; lw ra, 4(sp)` or `jr at; addiu sp, sp, 8`, or, if it is a thunk, with `jr t9; lw v1, 4(sp)` or
`jr t9; addiu sp, sp, 16`, behind which may stand its way to the island. Elsewhere two
branches without condition, each with a number for at in its delay slot or nothing, have
taken the place of four instructions: the first leads to where these are now, the second
is a piece of an island.
"""

from elf import EM_MIPS, SHF_EXECINSTR, SHT_NOBITS

ENDS = ((0x00200008, 0x8FBF0004), (0x00200008, 0x27BD0008), (0x03200008, 0x8FA30004),
        (0x03200008, 0x27BD0010))
LONGEST = 28  # instructions
# lw t0, 0(sp); b; lw v1, 4(sp); or lw t0, 0(sp); lw v1, 4(sp); b; addiu sp, sp, 16
WAYS = ((0x8FA80000, 0x10000000, 0x8FA30004), (0x8FA80000, 0x8FA30004, 0x10000000, 0x27BD0010))
# b; addiu at, zero, -1; or addiu sp, sp, -8; sw ra, 4(sp); or sw t0, 0(sp); sw v1, 4(sp);
# or addiu sp, sp, -16; sw t0, 0(sp); or addiu at, at, 1 before the second, some times
STARTS = ((0x10000002, 0x2401FFFF), (0x27BDFFF8, 0xAFBF0004), (0xAFA80000, 0xAFA30004),
          (0x27BDFFF0, 0xAFA80000), (0x24210001, 0x24210001), (0x24210001, 0x27BDFFF8))


def target(address, word):
    if word >> 26 in (1, 4, 5, 6, 7):  # bal and its kin; tail calls
        return (address + 4 + ((word & 0xFFFF) ^ 0x8000) * 4 - 0x20000) & 0xFFFFFFFF
    if word >> 26 in (2, 3):  # j, jal
        return ((address + 4) & 0xF0000000) | (word & 0x3FFFFFF) << 2
    return None


def is_jump(word):
    return word >> 16 == 0x1000 or word >> 26 == 2


def is_number(word):
    """lui at, number"""
    return word >> 16 == 0x3C01


def relays(elf, sites):
    """Addresses of the first of those two branches. Two tail calls look the same, and are
    among the `sites`."""
    result = set()
    ours = [(value, value + size) for name, value, size, _, _ in elf.symbols
            if name.startswith("litifut_")]
    for section in elf.sections if elf.machine == EM_MIPS else ():
        if not section.flags & SHF_EXECINSTR or section.kind == SHT_NOBITS:
            continue
        words = elf.unpack(f"{section.size // 4}I", section.offset)
        jumps = {i for i, word in enumerate(words) if is_jump(word)}
        for i in jumps:
            if i + 2 not in jumps or i + 3 >= len(words):
                continue
            first, slot, _, behind = words[i:i + 4]
            here = section.address + 4 * i
            if here in sites or here + 8 in sites or not (behind == 0 or is_number(behind)):
                continue
            there = target(here, first)
            if is_number(slot) or (slot == 0 and any(low <= there < high for low, high in ours)):
                result.add(here)
    return result


def ranges(elf, patched, others=()):
    """File offsets [start, end) of the islands that the `patched` sites call, and those that
    `others` lead to: branches of return points, which are not relays."""
    if elf.machine != EM_MIPS:
        return []
    ours = elf.ranges("litifut_")
    result = set()
    entries = {target(address, elf.word(address)) for address in {*patched, *others}} - {None}
    for relay in relays(elf, patched | set(others)):
        start = elf.offset_of(relay)
        result.add((start + 8, start + 16))
        entries |= {target(relay, elf.word(relay)), target(relay + 8, elf.word(relay + 8))}
    while entries:
        entry = entries.pop()
        start = elf.offset_of(entry)
        if any(low <= start < high for low, high in ours + list(result)):
            continue
        words = elf.unpack(f"{LONGEST}I", start)
        for i in range(LONGEST - 1):
            if words[i:i + 2] in ENDS:
                length = i + 2
                for way in WAYS:
                    behind = elf.unpack(f"{len(way)}I", start + 4 * length)
                    jump = way.index(0x10000000)
                    if behind[:jump] + (behind[jump] & 0xFFFF0000,) + behind[jump + 1:] == way:
                        entries.add(target(entry + 4 * (length + jump), behind[jump]))
                        length += len(way)
                        break
                result.add((start, start + 4 * length))
                break
    return sorted(result)


def ways(elf, sites):
    """Addresses of the jumps that lead from the start of such a function, or from its
    middle, to where the instructions from there are now. They are not calls."""
    result = relays(elf, sites)
    if elf.machine != EM_MIPS:
        return result
    for section in elf.sections:
        if not section.flags & SHF_EXECINSTR or section.kind == SHT_NOBITS:
            continue
        words = elf.unpack(f"{section.size // 4}I", section.offset)
        for i in range(5, len(words) - 1):
            # jr at; nop; what begins a piece
            if words[i - 2:i] == (0x00200008, 0) and words[i:i + 2] in STARTS:
                result.add(section.address + 4 * (i - 2))
    return result
