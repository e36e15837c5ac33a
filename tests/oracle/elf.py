"""As much of ELF as the tests need, read anew and apart from the product."""

import bisect
import os
import struct

SHT_SYMTAB, SHT_RELA, SHT_NOBITS, SHT_REL, SHT_DYNSYM = 2, 4, 8, 9, 11
STT_NOTYPE, STT_OBJECT, STT_FUNC, STT_GNU_IFUNC = 0, 1, 2, 10
SHF_EXECINSTR = 4
EM_MIPS, EM_ARM = 8, 40


class Section:
    def __init__(self, name, kind, flags, address, offset, size, link, info, entry):
        self.name, self.kind, self.flags = name, kind, flags
        self.address, self.offset, self.size = address, offset, size
        self.link, self.info, self.entry = link, info, entry


class Elf:
    """A 32-bit ELF file; addresses are its own, the Thumb bit is cleared."""

    def __init__(self, path):
        self.path = os.path.realpath(path)
        self.name = os.path.basename(path)
        with open(path, "rb") as file:
            self.data = file.read()
        if self.data[:5] != b"\x7fELF\x01":
            raise ValueError(f"{path}: not a 32-bit ELF file")
        self.order = "<" if self.data[5] == 1 else ">"
        header = self.unpack("HHIIIIIHHHHHH", 16)
        self.machine = header[1]
        program_offset, section_offset = header[4], header[5]
        program_size, program_count = header[8], header[9]
        section_size, section_count, names = header[10], header[11], header[12]
        self.segments = []
        for i in range(program_count):
            kind, offset, address, _, file_size, _, flags, _ = self.unpack(
                "8I", program_offset + i * program_size)
            if kind == 1:
                self.segments.append((offset, address, file_size, flags))
        raw = [self.unpack("10I", section_offset + i * section_size) for i in range(section_count)]
        self.sections = [
            Section(self.string(raw[names][4] + r[0]), r[1], r[2], r[3], r[4], r[5], r[6], r[7], r[9])
            for r in raw]
        self.symbols = self.read_symbols(SHT_SYMTAB) or self.read_symbols(SHT_DYNSYM)
        functions = {}
        for name, value, size, kind, section in self.symbols:
            if kind != STT_FUNC or section == 0 or not name:
                continue
            address = value & ~1
            # The first name in the file stands for all names of an address.
            if address not in functions or (size and not functions[address][0]):
                functions[address] = (size, name)
        self.aliases = {}
        for name, value, _, kind, section in self.symbols:
            if section and name and name[0] != "$" and kind in (STT_FUNC, STT_NOTYPE, STT_GNU_IFUNC) \
                    and name != "_ftext":
                self.aliases.setdefault(value & ~1, set()).add(name)
        self.starts = sorted(functions)
        self.functions = functions
        self.plt = self.read_plt()

    def unpack(self, form, offset):
        return struct.unpack_from(self.order + form, self.data, offset)

    def word(self, address):
        return self.unpack("I", self.offset_of(address))[0]

    def string(self, offset):
        return self.data[offset:self.data.index(b"\0", offset)].decode()

    def section(self, name):
        return next((s for s in self.sections if s.name == name), None)

    def read_symbols(self, kind):
        result = []
        for table in self.sections:
            if table.kind != kind:
                continue
            strings = self.sections[table.link].offset
            for offset in range(table.offset, table.offset + table.size, 16):
                name, value, size, info, _, section = self.unpack("IIIBBH", offset)
                result.append((self.string(strings + name), value, size, info & 15, section))
        return result

    def address_of(self, offset):
        """Of a file offset; None outside the loaded segments."""
        for start, address, size, flags in self.segments:
            if flags & 1 and start <= offset < start + size:
                return address + offset - start
        for start, address, size, _ in self.segments:
            if start <= offset < start + size:
                return address + offset - start
        return None

    def offset_of(self, wanted):
        for start, address, size, _ in self.segments:
            if address <= wanted < address + size:
                return start + wanted - address
        raise ValueError(f"{self.path}: {wanted:#x} is not in the file")

    def read_plt(self):
        """{address of a PLT entry: name of the function}, by reading its code."""
        dynamic = [s[0] for s in self.read_symbols(SHT_DYNSYM)]
        slots = {}
        for table in self.sections:
            if table.kind == SHT_REL:
                for offset in range(table.offset, table.offset + table.size, 8):
                    where, info = self.unpack("II", offset)
                    if info >> 8 < len(dynamic):
                        slots[where] = dynamic[info >> 8]
        result = {}
        for section in self.sections:
            if section.name not in (".plt", ".iplt", ".MIPS.stubs") or section.kind == SHT_NOBITS:
                continue
            words = self.unpack(f"{section.size // 4}I", section.offset)
            for i in range(len(words)):
                address = section.address + 4 * i
                if self.machine == EM_ARM:
                    entry = arm_plt_entry(address, words, i, slots)
                    if entry:
                        result[address] = entry
                        # Thumb callers that can't change state enter here.
                        if i and words[i - 1] in (0x46C04778, 0xE7FD4778):
                            result[address - 4] = entry
                elif section.name == ".MIPS.stubs":
                    # lw t9,..(gp); move t7,ra; jalr t9; li t8,index
                    if words[i] >> 16 == 0x8F99 and i + 3 < len(words):
                        index = words[i + 3] & 0xFFFF
                        if words[i + 1] >> 16 == 0x3C18:
                            index = (words[i + 1] & 0xFFFF) << 16 | words[min(i + 4, len(words) - 1)] & 0xFFFF
                        if index < len(dynamic):
                            result[address] = dynamic[index]
                elif words[i] >> 16 == 0x3C0F and i + 1 < len(words):
                    # lui t7,high; lw t9,low(t7)
                    low = words[i + 1] & 0xFFFF
                    slot = ((words[i] & 0xFFFF) << 16) + low - (0x10000 if low & 0x8000 else 0)
                    if slot in slots:
                        result[address] = slots[slot]
        return result

    def function_at(self, address):
        """(name, offset in it), or ("", address) where no function is known."""
        if address in self.plt:
            return self.plt[address] + "@plt", 0
        i = bisect.bisect_right(self.starts, address) - 1
        if i >= 0:
            start = self.starts[i]
            size, name = self.functions[start]
            if address < start + max(size, 1):
                return name, address - start
        return "", address

    def address_of_name(self, wanted):
        return next((value & ~1 for name, value, _, _, section in self.symbols
                     if name == wanted and section), None)

    def has_size(self, address):
        """Lies in a function of known size. On MIPS nothing else tells code from data."""
        name, _ = self.function_at(address)
        return self.machine == EM_ARM or bool(name)

    def is_linkage(self, address):
        """In a PLT or a lazy-binding stub, which the linker wrote."""
        return any(s.name in (".plt", ".iplt", ".MIPS.stubs") and
                   s.address <= address < s.address + s.size for s in self.sections)

    def ranges(self, prefix):
        """File offsets [start, end) of the code of symbols with this prefix."""
        result = []
        for name, value, size, kind, section in self.symbols:
            if name.startswith(prefix) and 0 < section < len(self.sections) and size and \
                    self.sections[section].flags & SHF_EXECINSTR:
                start = self.offset_of(value & ~1)
                result.append((start, start + size))
        return result


def arm_plt_entry(address, words, i, slots):
    """add ip,pc,#a; add ip,ip,#b; ldr pc,[ip,#c]! -- the middle one may be missing or twice."""
    def rotated(word):
        shift = (word >> 8 & 15) * 2
        value = word & 255
        return (value >> shift | value << 32 - shift) & 0xFFFFFFFF if shift else value

    if words[i] >> 12 != 0xE28FC:
        return None
    where = address + 8 + rotated(words[i])
    for word in words[i + 1:i + 4]:
        if word >> 12 == 0xE28CC:
            where += rotated(word)
        elif word >> 12 == 0xE5BCF:
            return slots.get((where + (word & 0xFFF)) & 0xFFFFFFFF)
        else:
            return None
    return None
