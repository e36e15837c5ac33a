"""What the oracle plugin wrote, what LITIFUT recorded, and whether both are the same: for oracle.py and others."""

import array
import collections
import glob
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import islands  # noqa: E402
from elf import EM_ARM, EM_MIPS, SHF_EXECINSTR, SHT_NOBITS, Elf  # noqa: E402

RETURNED, AGAIN, CUT = 0xFFFFFFFF, 0xFFFFFFFE, 0xFFFFFFFD  # in the place of a callee
PATCHED, NOT_A_CALL, CODE_AS_DATA = 0, 7, 12
COUNTER = 10  # in the place of a reason why no return is recorded
EDGE = 1  # the class of branches and blocks, whose code stands in the place of a return's
INDIRECT = 2
TAIL_KINDS = (3, 4)
REASONS = ("patched", "out-of-reach", "too-short", "excluded", "tracer", "foreign-isa",
           "delay-slot", "not-a-call", "special-callee", "branch-target", "tail-off",
           "special-form", "code-as-data", "no-function")


def read_sites(elf):
    """{address: (reason, kind)} of .litifut.sites."""
    section = elf.section(".litifut.sites")
    if not section:
        return {}
    _, _, count, record = elf.unpack("4I", section.offset)
    sites = {}
    for i in range(count):
        offset = section.offset + 16 + i * record
        address, _, _, _, kind, reason = elf.unpack("IIIIBB", offset)
        sites[address] = (reason, kind)
    return sites


def read_stubs(elf):
    """{address of a MIPS call through the GOT: the lazy stub that names its callee}."""
    section = elf.section(".litifut.sites") if elf.machine == EM_MIPS else None
    _, _, count, record = elf.unpack("4I", section.offset) if section else (0, 0, 0, 0)
    records = [elf.unpack("4I", section.offset + 16 + i * record) for i in range(count)]
    return {address: callee for address, _, _, callee in records if callee in elf.plt}


def by_stub(stubs, elf, site, callee):
    """The callee as the host has it: the stub that names it, if read_stubs() has one."""
    stub = stubs.get(site)
    if stub and base_name(elf.plt[stub]) in {name.split("@")[0] for name in names_of(callee)}:
        return elf, stub
    return callee


def exits(elf):
    """{what the stream has for a return: address of its call} of .litifut.sites."""
    section = elf.section(".litifut.sites")
    result = {}
    _, _, count, record = elf.unpack("4I", section.offset) if section else (0, 0, 0, 0)
    for i in range(count if record >= 24 else 0):
        offset = section.offset + 16 + i * record
        address, exit_word = elf.unpack("I", offset)[0], elf.unpack("I", offset + 20)[0]
        reason, site_class = elf.unpack("2B", offset + 24) if exit_word else (COUNTER, 0)
        if reason != COUNTER and site_class != EDGE:
            result[exit_word] = address
    return result


def by_return_address(elf):
    """{what the recorder has of a patched site: its address}."""
    section = elf.section(".litifut.sites")
    _, _, count, record = elf.unpack("4I", section.offset) if section else (0, 0, 0, 0)
    result = {}
    for i in range(count):
        at = section.offset + 16 + i * record
        address, return_address, _, _, _, reason = elf.unpack("IIIIBB", at)
        if reason == PATCHED:
            result[return_address] = address
    return result


def exit_branches(elf):
    """Addresses of the branches to the code for returns, and of stones for them."""
    words = {address: word for word, address in by_return_address(elf).items()}
    found = exits(elf)
    low, high = (min(found) & ~1, (max(found) & ~1) + 256) if found else (0, 0)
    for site in found.values():
        point = words[site] & ~1
        yield point
        if words[site] & 1 and elf.unpack("H", elf.offset_of(point))[0] >> 11 == 0x1C:
            stone = thumb_branch(elf, point)
            yield from (stone - 4, stone)
        if elf.machine == EM_MIPS and leads_past(elf, point, low, high):
            yield point + 8
    # branches that led to a return point lead past the record of it
    for section in elf.sections if found and elf.machine == EM_ARM else ():
        if section.flags & SHF_EXECINSTR and section.kind != SHT_NOBITS:
            yield from branches_between(elf, section, low, high)


def leads_past(elf, point, low, high):
    """Is there a second branch behind the one to the code for a return, like that one?"""
    first, _, second, slot = elf.unpack("4I", elf.offset_of(point))
    there = islands.target(point + 8, second)
    return islands.is_jump(second) and (
        low <= there < high if slot == 0
        # of another table of numbers perhaps
        else islands.is_number(slot) and abs(there - islands.target(point, first)) <= 60)


def branches_between(elf, section, low, high):
    """Branches of the section, but for calls, into [low, high)."""
    halves = elf.unpack(f"{section.size // 2}H", section.offset)
    for i in range(len(halves) - 1):
        first, second = halves[i], halves[i + 1]
        here = section.address + 2 * i
        there = wide_branch(elf, here) if second & 0xD000 in (0x8000, 0x9000) else None
        if there is None and not i & 1 and second >> 8 & 0xF == 0xA:  # A32
            offset = (second & 0xFF) << 16 | first
            there = here + 8 + ((offset ^ 0x800000) - 0x800000) * 4
        if there is not None and low <= there < high:
            yield here


def functions_in_data(elf):
    """[(start, end)] of the functions that .litifut.sites lists as assembled as data."""
    section = elf.section(".litifut.sites")
    _, _, count, record = elf.unpack("4I", section.offset)
    listed = []
    for i in range(count):
        address, _, size, _, _, reason = elf.unpack("IIIIBB", section.offset + 16 + i * record)
        if reason == CODE_AS_DATA:
            listed.append((address, address + size))
    return listed


def thumb_branch(elf, address, second=None):
    """Where the T32 branch at `address` leads; None: it is none. `second` is taken
    for the second halfword."""
    first, there = elf.unpack("HH", elf.offset_of(address))
    second = there if second is None else second
    if first >> 11 == 0x1E and second & 0xD000 == 0x9000:
        sign = first >> 10 & 1
        offset = ((sign << 24) | ((second >> 13 & 1 ^ sign ^ 1) << 23)
                  | ((second >> 11 & 1 ^ sign ^ 1) << 22) | (first & 0x3FF) << 12
                  | (second & 0x7FF) << 1)
        return address + 4 + offset - (sign << 25)
    if first >> 11 == 0x1C:
        return address + 4 + ((first & 0x7FF) << 1) - ((first & 0x400) << 2)
    if first >> 12 == 0xD and first >> 8 & 0xF < 0xE:
        return address + 4 + ((first & 0xFF) << 1) - ((first & 0x80) << 2)
    if first & 0xF500 == 0xB100:
        return address + 4 + (first >> 9 & 1) * 64 + (first >> 3 & 31) * 2
    return None


def moved_sites(elf):
    """Where the branches stand that took the place of 16-bit T32 calls, {address:
    site}, and the addresses of other code that was moved to make room."""
    section = elf.section(".litifut.sites")
    entries, stones = {}, set()
    if not section:
        return entries, stones
    ours = list(elf.ranges("litifut_"))

    def is_ours(place):
        try:
            first, second = elf.unpack("HH", elf.offset_of(place))
        except ValueError:  # the site begins a section
            return False
        wide = first >> 11 == 0x1E
        target = thumb_branch(elf, place, second & ~0x4000)
        if not wide or target is None:
            return False
        try:  # what looks like a branch there may lead anywhere
            offset = elf.offset_of(target)
        except ValueError:
            return False
        return any(start <= offset < end for start, end in ours)

    _, _, count, record = elf.unpack("4I", section.offset)
    for i in range(count):
        site, _, _, _, _, reason, thumb, length = elf.unpack(
            "IIIIBBBB", section.offset + 16 + i * record)
        if reason != PATCHED or not thumb or length != 2:
            continue
        if is_ours(site - 2):
            entries[site - 2] = site
        elif is_ours(site - 4) and elf.unpack("H", elf.offset_of(site)) == (0xBF00,):
            entries[site - 4] = site
        else:
            stone = thumb_branch(elf, site)
            if stone is not None:  # a site of paths or coverage need not have one
                entries[stone] = site
                stones.add(stone - 4)
    return entries, stones


class Oracle:
    """The logs of one process: places, and the calls of each thread. Those of a plugin with
    returns=1 have the time and more kinds of events, see returns.py."""

    def __init__(self, prefix, elves, with_returns=False):
        self.event_words = 4 if with_returns else 2
        self.by_path = {elf.path: elf for elf in elves}
        self.given = list(elves)
        self.threads = {}
        self.paths = {}  # of files by their names
        for path in sorted(glob.glob(glob.escape(prefix) + ".*.places")):
            pid = int(path.split(".")[-2])
            places = {}
            with open(path, encoding="utf-8") as file:
                for line in file:
                    number, address, offset, name = line.rstrip("\n").split(" ", 3)
                    places[int(number)] = (name, int(offset, 16), int(address, 16))
                    self.paths.setdefault(os.path.basename(name), name)
            for calls in glob.glob(f"{glob.escape(prefix)}.{pid}.*.calls"):
                self.threads[pid, int(calls.split(".")[-2])] = (places, calls)

    def elf(self, path):
        if path not in self.by_path:
            try:
                self.by_path[path] = Elf(path)
            except (OSError, ValueError):
                self.by_path[path] = None
        return self.by_path[path]

    def named(self, name):
        """The file with this name of which something was executed, or None."""
        return self.elf(self.paths[name]) if name in self.paths else None

    def place(self, places, number):
        """(elf or None, address in it)."""
        path, offset, address = places[number]
        elf = self.elf(path) if path != "-" else None
        if not elf:
            return None, address
        inside = elf.address_of(offset)
        return (elf, inside) if inside is not None else (None, address)

    def words(self, thread):
        """Yields the words of each event, as the plugin has written them."""
        words = array.array("I")
        with open(self.threads[thread][1], "rb") as file:
            words.frombytes(file.read())
        step = self.event_words
        for event in zip(*(words[i::step] for i in range(step))):
            if not event[0] or not event[1]:  # of a killed program maybe half a pair
                break
            yield event

    def looker(self, thread):
        """A function that turns the number of a place into (elf or None, address)."""
        oracle, places = self, self.threads[thread][0]

        class Known(dict):
            def __missing__(self, number):
                self[number] = oracle.place(places, number)
                return self[number]

        return Known().__getitem__

    def calls(self, thread, of=lambda site, callee: (site, callee)):
        """Yields of((elf, address), (elf, address)) of calls from sites in the given files, unless
        that is None. A function `of` without side effects is needed: it is called once for each pair."""
        lookup, known = self.looker(thread), {}
        for words in self.words(thread):
            pair = words[:2]
            if pair not in known:
                site = lookup(pair[0])
                known[pair] = (of(site, lookup(pair[1])) if self.is_from_given(site) else None)
            if known[pair] is not None:
                yield known[pair]

    def is_from_given(self, site):
        """Is it in one of the given files, and the program's own code?"""
        return bool(site) and site[0] in self.given and not site[0].is_linkage(site[1])

    def events(self, thread):
        """Of a log with returns: yields (kind, site or None, callee or None, time, how many)."""
        lookup = self.looker(thread)
        for first, second, low, high in self.words(thread):
            time = (high & 0x7FFFFFFF) << 32 | low
            if second < CUT:
                yield "tail" if high >> 31 else "call", lookup(first), lookup(second), time, 1
            elif second == CUT:
                yield "cut", None, None, time, first
            else:
                kind = "again" if second == AGAIN else "return"
                yield kind, lookup(first), None, time, 1


def describe(place):
    elf, address = place
    if not elf:
        return f"{address:#x}"
    name, offset = elf.function_at(address)
    if not name:
        return f"{elf.name}:{address:#x}"
    return f"{name}+{offset:#x}" if offset else name


def base_name(name):
    """Without what the compiler adds to copies of a function."""
    return re.sub(r"\.(constprop|isra|part|cold|lto_priv)\.?\d*", "", name)


def read_tsv(path, of=None):
    """{(pid, tid): [row]} with rows as dictionaries; with `of` instead what that makes of a row
    without pid, tid and seq, unless it is None. It is called once for all rows that are the same."""
    threads, known = collections.defaultdict(list), {}
    with open(path, encoding="utf-8") as file:
        columns = file.readline().rstrip("\n").split("\t")
        if columns[:3] != ["pid", "tid", "seq"]:
            sys.exit(f"{path}: not the columns of litifut-post -f tsv")
        for line in file:
            if not of:
                row = dict(zip(columns, line.rstrip("\n").split("\t")))
                threads[int(row["pid"]), int(row["tid"])].append(row)
                continue
            pid, tid, _, rest = line.split("\t", 3)
            if rest not in known:
                known[rest] = of(dict(zip(columns[3:], rest.rstrip("\n").split("\t"))))
            thread = threads[int(pid), int(tid)]
            if known[rest] is not None:
                thread.append(known[rest])
    return threads


def report(text, differences):
    print(text)
    for line in differences[:10]:
        print("  " + line)
    return 1 if differences else 0


def first_difference(expected, got, name):
    """One line about where two lists part, or nothing."""
    if expected == got:
        return []
    for i, (left, right) in enumerate(zip(expected, got)):
        if left != right:
            return [f"{name}: event {i}: executed {left}, recorded {right}",
                    f"  executed: {expected[max(0, i - 2):i + 3]}",
                    f"  recorded: {got[max(0, i - 2):i + 3]}"]
    if len(expected) != len(got):
        i = min(len(expected), len(got))
        return [f"{name}: {len(expected)} executed, {len(got)} recorded; the first one more: "
                f"{(expected if len(expected) > i else got)[i:i + 3]}"]
    return []


def count_sites(elves):
    reasons = collections.Counter()
    for elf in elves:
        reasons.update(reason for reason, _ in read_sites(elf).values())
    left = ", ".join(f"{REASONS[r] if r < len(REASONS) else r} {n}"
                     for r, n in sorted(reasons.items()) if r != PATCHED)
    return f"sites {sum(reasons.values())} patched {reasons[PATCHED]} ({left or 'none left'})"


def wide_branch(elf, address):
    """Where the T32 branch or call of four bytes at `address` leads, with a condition or
    without, to code of either kind; None: it is none."""
    first, second = elf.unpack("HH", elf.offset_of(address))
    if first >> 11 != 0x1E or not second & 0x8000:
        return None
    if second & 0xD000 == 0x8000:
        if first >> 7 & 7 == 7:
            return None
        offset = ((second >> 11 & 1) << 19 | (second >> 13 & 1) << 18 | (first & 0x3F) << 12
                  | (second & 0x7FF) << 1)
        return address + 4 + offset - ((first >> 10 & 1) << 20)
    target = thumb_branch(elf, address, second & ~0x4000 | 0x1000)
    return target & ~3 if second & 0xD000 == 0xC000 else target


def stubs_within(elf, ranges):
    """File offsets of the stubs for the Cortex-A8 erratum that lead into these ranges: the
    tracer's own calls, in T32 code, go through some. They have no name, and with gold not
    even a symbol: there the branch that leads to them, at the end of a page, says where."""
    def leads_back(target):
        return target is not None and any(start <= elf.offset_of(target) < end
                                          for start, end in ranges)

    if elf.machine != EM_ARM:
        return
    for name, value, size, _, section in elf.symbols:
        if not name and size == 4 and value & 1 and section and \
                leads_back(thumb_branch(elf, value & ~1)):
            start = elf.offset_of(value & ~1)
            yield start, start + size
    for start, end in ranges:
        first = elf.address_of(start)
        for at in range((first | 0xFFF) - 1, first + end - start - 3, 0x1000):
            stub = wide_branch(elf, at)
            if stub is None or elf.function_at(stub)[0] or not any(
                    s.flags & SHF_EXECINSTR and s.address <= stub + 4 <= s.address + s.size
                    for s in elf.sections):
                continue
            # one branch, in A32 code for a blx; of one with a condition two, behind a narrow one
            narrow = elf.unpack("H", elf.offset_of(stub))[0] >> 12 == 0xD
            word = elf.word(stub)
            if leads_back(thumb_branch(elf, stub + 2 if narrow else stub)) or (
                    word >> 24 == 0xEA
                    and leads_back(stub + 8 + ((word & 0xFFFFFF) ^ 0x800000) * 4 - 0x2000000)):
                yield elf.offset_of(stub), elf.offset_of(stub) + (10 if narrow else 4)


def behind_lld_thunk(elf, address, thumb):
    """Where lld's thunk for ARMv7 leads: movw ip; movt ip; in position-independent code
    add ip, pc; bx ip. A near one is a branch, for which the answer is None."""
    value = 0
    for part, opcode in ((0, 0xF240 if thumb else 0xE30), (1, 0xF2C0 if thumb else 0xE34)):
        if thumb:
            first, second = elf.unpack("HH", elf.offset_of(address + 4 * part))
            if first & 0xFBF0 != opcode or second >> 8 & 15 != 12:
                return None
            half = ((first & 15) << 12 | (first >> 10 & 1) << 11 | (second >> 12 & 7) << 8
                    | second & 0xFF)
        else:
            word = elf.word(address + 4 * part)
            if word >> 20 != opcode or word >> 12 & 15 != 12:
                return None
            half = (word >> 16 & 15) << 12 | word & 0xFFF
        value |= half << 16 * part
    relative = (elf.unpack("H", elf.offset_of(address + 8))[0] == 0x44FC if thumb
                else elf.word(address + 8) == 0xE08CC00F)
    if relative:
        value += address + 8 + (4 if thumb else 8)
    return value & 0xFFFFFFFE


def behind_veneer(place):
    """What the linker put in between to change state or to reach further is
    shown as the function that it leads to."""
    elf, address = place
    if elf and address not in elf.plt:
        # A stub for the Cortex-A8 erratum has no name and is one branch.
        if elf.machine == EM_ARM and not elf.function_at(address)[0]:
            word = elf.word(address)
            if word >> 24 == 0xEA and address % 4 == 0:
                target = address + 8 + ((word & 0xFFFFFF) ^ 0x800000) * 4 - 0x2000000
            else:
                target = thumb_branch(elf, address)
            return (elf, target) if target is not None else place
        # mold: mov ip, pc; bx ip; then, in A32, ldr ip, 1f; add ip, ip, pc; bx ip; 1: .word
        name, offset = elf.function_at(address)
        if elf.machine == EM_ARM and name.endswith("$thunk"):
            behind_add = address - offset + 16
            return elf, (elf.word(behind_add) + behind_add) & 0xFFFFFFFE
        match = re.match(r"__(Thumb|ARM)v7(?:PI|ABS)LongThunk_", name, re.I)
        if elf.machine == EM_ARM and match:
            target = behind_lld_thunk(elf, address, match.group(1) == "Thumb")
            return (elf, target) if target is not None else place
        match = re.match(r"(?:__(.+)_(?:from_arm|from_thumb|veneer)|\.pic\.(.+))$",
                         elf.function_at(address)[0])
        if match:
            name = match.group(1) or match.group(2)
            target = elf.address_of_name(name)
            if target is None:  # NAME@@VERSION of a library: the last entry, which is not for Thumb callers
                name = name.split("@")[0]
                target = max((entry for entry in elf.plt if elf.plt[entry] == name), default=None)
            if target is not None:
                return elf, target
    return place


def returns(elf, site, callee):
    """Is it a place in the same function, and not its start?"""
    name, _ = elf.function_at(site)
    to, offset = elf.function_at(callee[1]) if callee[0] is elf else ("", 0)
    return bool(to) and to == name and offset != 0


class Rewritten:
    """What the rewriter says of its files, and the calls of an oracle in its terms."""

    def __init__(self, prefix, elves, with_returns=False):
        self.sites = {elf: read_sites(elf) for elf in elves if elf.section(".litifut.sites")}
        self.in_data = {elf: functions_in_data(elf) for elf in self.sites}
        self.ways = {elf: islands.ways(elf, self.sites[elf]) for elf in self.sites}
        self.moved = {elf: moved_sites(elf) for elf in self.sites}
        self.oracle = Oracle(prefix, list(self.sites), with_returns)
        self.known, self.given = {}, {}

    @staticmethod
    def registers(elf, site, kind, callee):
        """A static libc calls the tracer's constructor, and that __register_atfork:
        who looks at blocks of code takes the one for the callee of the other, and
        the return for a call. The program's own calls of it are direct."""
        name = "__register_atfork"
        if kind is None:
            return elf.function_at(site)[0] == name
        return kind == INDIRECT and callee[0] is elf and elf.function_at(callee[1]) == (name, 0)

    def call(self, elf, site, callee):
        """(elf, site, reason or None for a site in no list, (elf, callee)) of what the oracle
        took for a call; None: it is not a call of the program."""
        entries, stones = self.moved[elf]
        if site in self.ways[elf] or site in stones:
            return None
        sites = self.sites[elf]
        # A MIPS branch at the end of a page is logged as its delay slot, a bl
        # across it, on a CPU without Thumb-2, as its second half.
        back = 4 if elf.machine != EM_ARM else 2
        if site % 4096 == 0 and site not in sites and (site - back in sites
                                                       or site - back in entries):
            site -= back
        place, site = site, entries.get(site, site)
        reason, kind = sites.get(site, (None, None))
        if reason is None and any(start <= site < end for start, end in self.in_data[elf]):
            reason = CODE_AS_DATA
        if self.registers(elf, site, kind, callee):
            return None
        # A branch may also come back, when the condition for the call is false.
        if (place != site or kind in TAIL_KINDS) and returns(elf, site, callee):
            return None
        return elf, site, reason, behind_veneer(callee)

    def calls(self, thread, of=lambda call: call):
        """Yields of(call()) of those of a thread, as Oracle.calls()."""
        def of_call(site, callee):
            call = self.call(*site, callee)
            return call and of(call)

        return self.oracle.calls(thread, of_call)

    def is_from_given(self, site):
        """As that of the oracle, which looks at each place once."""
        if site not in self.given:
            self.given[site] = self.oracle.is_from_given(site)
        return self.given[site]

    def known_call(self, site, callee):
        """call() of two places, each pair of which is looked at once; None: not from a given file."""
        if (site, callee) not in self.known:
            self.known[site, callee] = (self.call(*site, callee)
                                        if self.is_from_given(site) else None)
        return self.known[site, callee]


def compare(prefix, tsv, elves, in_order=True, killed=False, exact=False):
    rewritten = Rewritten(prefix, elves)
    oracle = rewritten.oracle
    names = {elf.name: elf for elf in elves}
    stubs = {} if exact else {elf: read_stubs(elf) for elf in elves}

    def judged(call):
        elf, site, reason, callee = call
        if reason == NOT_A_CALL:
            return "not calls", None
        if reason is None and not elf.has_size(site):
            return "unlisted", None
        if reason is None:
            return "unknown", (f"{describe((elf, site))}: {site:#x} executed as a call, "
                               "and is in no list of sites")
        if reason != PATCHED:
            return "left", None
        callee = by_stub(stubs.get(elf, {}), elf, site, callee)
        return "patched", (elf.name, site, callee[0].name if callee[0] else "?", callee[1])

    def recorded_call(row):
        callee = names.get(row["callee_module"])
        if callee and callee.function_at(int(row["callee_offset"], 16))[0].startswith("litifut_"):
            return None  # a destructor of the tracer, called by a static libc
        if (callee and callee.machine != EM_ARM and not row["kind"].startswith("tail")
                and int(row["callee_offset"], 16) == int(row["site_offset"], 16) + 8):
            return None  # the plugin does not take what goes on behind the call for a call
        module, site = row["site_module"], int(row["site_offset"], 16)
        # what is recorded the long way has the callee itself
        if site in stubs.get(names.get(module), {}) and row["callee_offset"]:
            place = by_stub(stubs[names[module]], names[module], site,
                            (oracle.named(row["callee_module"]), int(row["callee_offset"], 16)))
            if place[0] is names[module]:
                return module, site, module, place[1]
        return (module, site, row["callee_module"],
                int(row["callee_offset"], 16) if row["callee_offset"] else -1)

    recorded = read_tsv(tsv, recorded_call)
    differences, counts = [], collections.Counter()
    for thread in sorted(oracle.threads):
        results = list(rewritten.calls(thread, judged))
        counts.update(kind for kind, _ in results)
        expected = [call for kind, call in results if kind == "patched"]
        differences += [problem for kind, problem in results if kind == "unknown"]
        got = recorded.pop(thread, [])
        if killed and len(got) == len(expected) + 1:
            got.pop()
        if len(expected) == len(got) and expected != got:
            # A module that LITIFUT has no file of is known by nothing.
            got = [e if g[:2] == e[:2] and g[2] in ("", "?", "-") else g
                   for e, g in zip(expected, got)]
        if not in_order:
            expected.sort()
            got.sort()
        differences += first_difference(expected, got, f"thread {thread[1]}")
    for thread, rows in recorded.items():
        if len(rows) > killed:
            differences.append(f"thread {thread[1]}: {len(rows)} events, and it made no call")
    executed = sum(counts.values()) - counts["not calls"]
    share = 100.0 * counts["left"] / executed if executed else 0.0
    return report(f"executed {executed} recorded {counts['patched']} left {counts['left']} "
                  f"({share:.2f} %)"
                  + (f" in functions without size {counts['unlisted']}" if counts["unlisted"] else "")
                  + (f" not calls {counts['not calls']}" if counts["not calls"] else ""),
                  differences)


def names_of(place):
    """All names that the function at a place has."""
    elf, address = place
    names = {describe(place)}
    if elf:
        names |= elf.aliases.get(address, set())
        if address in elf.plt:
            names.add(elf.plt[address] + "@plt")
        elif elf.is_linkage(address):
            names.add("@plt")  # an entry of a static program has no name of its own
    return {base_name(name) for name in names}


def one_name(elf, address, offset, name):
    """The same name for a function whichever of its aliases was chosen."""
    names = elf.aliases.get(address - offset & ~1) if elf else None
    return min(map(base_name, names)) if names else base_name(name)


def same(prefix, tsv, traced, plain):
    oracle = Oracle(prefix, plain)
    differences, executed, left = [], 0, 0
    # Function-relative offsets are the same in both links. A site that the
    # rewriter left is known by its caller and offset there.
    unpatched, stubs = set(), {}
    for elf in traced:
        for address, stub in read_stubs(elf).items():
            stubs[(elf.name,) + elf.function_at(address)] = elf.plt[stub]
        for address, (reason, _) in read_sites(elf).items():
            if reason != PATCHED:
                unpatched.add((elf.name,) + elf.function_at(address))
    by_name = {elf.name: elf for elf in traced}

    def recorded_call(row):
        elf, site = by_name.get(row["site_module"]), int(row["site_offset"], 16)
        if row["kind"].startswith("tail") or (elf and not elf.function_at(site)[0]):
            return None
        offset = int(row["caller_offset"], 16)
        return one_name(elf, site, offset, row["caller"]), offset, base_name(row["callee"])

    def executed_call(place, callee):
        elf, site = place
        caller = elf.function_at(site)
        if not caller[0]:
            return None  # start-up code has no function to count from
        if (elf.name,) + caller in unpatched:
            return False
        names = names_of(behind_veneer(callee))
        stub = stubs.get((elf.name,) + caller)
        if stub in names:
            names.add(stub + "@plt")
        return one_name(elf, site, caller[1], caller[0]), caller[1], names

    recorded = read_tsv(tsv, recorded_call)
    plain_runs, traced_runs = [], []
    for thread in sorted(oracle.threads):
        run = list(oracle.calls(thread, executed_call))
        executed += len(run)
        plain_runs.append([call for call in run if call])
        left += len(run) - len(plain_runs[-1])
    for thread in sorted(recorded):
        traced_runs.append(recorded[thread])
    # Which came first is not asked: the numbers of processes begin anew at times.
    for runs in (plain_runs, traced_runs):
        runs.sort(key=lambda run: [call[:2] for call in run])
    if len(plain_runs) != len(traced_runs):
        differences.append(f"{len(plain_runs)} threads made calls, {len(traced_runs)} were recorded")
    for expected, got in zip(plain_runs, traced_runs):
        # any name of the function will do, and none where there is no file to ask
        for i in range(min(len(expected), len(got))):
            names, name = expected[i][2], got[i][2]
            matches = name in names or re.match(r"(.*\+)?0x[0-9a-f]+$", name) or (
                "@plt" in names and name.endswith("@plt"))
            expected[i] = expected[i][:2] + (name if matches else min(names),)
        differences += first_difference(expected, got, "thread")
    return report(f"executed {executed} recorded {executed - left} left {left}", differences)
