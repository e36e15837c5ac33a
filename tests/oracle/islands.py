"""Where code of LITIFUT's stands inside the program's own functions (MIPS).

No symbol names it, so it is found by what it looks like: the target of a patched
call that lies in no function of ours begins an island, and an island ends with
`jr at; lw ra, 4(sp)`.
"""

from elf import EM_MIPS, SHF_EXECINSTR, SHT_NOBITS

END = (0x00200008, 0x8FBF0004)
LONGEST = 16  # instructions


def target(address, word):
    if word >> 26 in (1, 4, 5, 6, 7):  # bal and its kin; tail calls
        return (address + 4 + ((word & 0xFFFF) ^ 0x8000) * 4 - 0x20000) & 0xFFFFFFFF
    if word >> 26 in (2, 3):  # j, jal
        return ((address + 4) & 0xF0000000) | (word & 0x3FFFFFF) << 2
    return None


def ranges(elf, patched):
    """File offsets [start, end) of the islands that the `patched` sites call."""
    if elf.machine != EM_MIPS:
        return []
    ours = elf.ranges("litifut_")
    result = set()
    for address in patched:
        entry = target(address, elf.word(address))
        if entry is None:
            continue
        start = elf.offset_of(entry)
        if any(low <= start < high for low, high in ours):
            continue
        words = elf.unpack(f"{LONGEST}I", start)
        for i in range(LONGEST - 1):
            if words[i:i + 2] == END:
                result.add((start, start + 4 * (i + 2)))
                break
    return sorted(result)


def ways(elf):
    """Addresses of the jumps that lead from the start of such a function to where
    its first instructions are now. They are no calls."""
    result = set()
    if elf.machine != EM_MIPS:
        return result
    for section in elf.sections:
        if not section.flags & SHF_EXECINSTR or section.kind == SHT_NOBITS:
            continue
        words = elf.unpack(f"{section.size // 4}I", section.offset)
        for i in range(5, len(words) - 1):
            # jr at; nop; b; addiu at, zero, -1
            if words[i - 2:i + 2] == (0x00200008, 0, 0x10000002, 0x2401FFFF):
                result.add(section.address + 4 * (i - 2))
    return result
