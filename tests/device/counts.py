#!/usr/bin/env python3
"""Compares how often each call was made: on the device, and under the oracle.

  counts.py expect PREFIX ELF...            the calls from patched sites that the
                                            oracle of a run under qemu-user saw, summed
                                            up over its processes and threads
  counts.py compare TIMES COUNTS TSV ELF... the events of TIMES runs on the device
                                            against the output of `expect`
  counts.py starts TIMES COUNTS TSV ELF...  each process has made the expected calls
                                            of a module, or none that it recorded
  counts.py once COUNTS TSV ELF...          each expected call is there, in a process
                                            once, or once for each thread at most
  counts.py unresolved TSV                  events without a caller or callee by name

Process and thread numbers and addresses differ between the two machines, so
the unit is (module, offset of the site, module, offset of the callee).
Exit status 1: they differ; the first differences are shown.
"""

import collections
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "oracle"))
from elf import Elf  # noqa: E402
from calls import PATCHED, Rewritten, by_stub, read_stubs, read_tsv, report  # noqa: E402


def expect(prefix, paths):
    rewritten = Rewritten(prefix, [Elf(path) for path in paths])
    counts = collections.Counter()
    stubs = {elf: read_stubs(elf) for elf in rewritten.sites}
    for thread in rewritten.oracle.threads:
        for elf, site, reason, callee in rewritten.calls(thread):
            if reason == PATCHED:
                callee = by_stub(stubs[elf], elf, site, callee)
                known = callee[0] in rewritten.sites
                counts[elf.name, site, callee[0].name if known else "-",
                       callee[1] if known else 0] += 1
    for (module, site, callee_module, callee), count in sorted(counts.items()):
        print(module, f"{site:x}", callee_module, f"{callee:x}", count)
    return 0 if counts else 1


def read_counts(path):
    counts = collections.Counter()
    with open(path, encoding="utf-8") as file:
        for line in file:
            module, site, callee_module, callee, count = line.split()
            counts[module, int(site, 16), callee_module, int(callee, 16)] += int(count)
    return counts


def events(rows, names):
    """Events as the keys of `expect`; those of the tracer's own end left out. What is recorded
    the long way, such as a thread's first call, has the callee itself."""
    stubs = {name: read_stubs(elf) for name, elf in names.items()}
    for row in rows:
        known = names.get(row["callee_module"])
        offset = int(row["callee_offset"] or "0", 16)
        if known and known.function_at(offset)[0].startswith("litifut_"):
            continue
        module, site = row["site_module"], int(row["site_offset"], 16)
        stub = stubs.get(module, {}).get(site)
        if stub and not known:
            known, offset = names[module], stub
        elif stub:
            known, offset = by_stub(stubs[module], names[module], site, (known, offset))
        yield module, site, known.name if known else "-", offset if known else 0


def differences(expected, got, where=""):
    return [f"{where}{module}+{site:#x} -> {callee_module}+{callee:#x}: expected "
            f"{expected[key]}, recorded {got[key]}"
            for key in sorted(expected | got) if expected[key] != got[key]
            for module, site, callee_module, callee in [key]]


def compare(times, path, tsv, paths):
    names = {elf.name: elf for elf in map(Elf, paths)}
    expected = collections.Counter({k: n * times for k, n in read_counts(path).items()})
    got = collections.Counter()
    for rows in read_tsv(tsv).values():
        got.update(events(rows, names))
    return report(f"expected {sum(expected.values())} recorded {sum(got.values())}",
                  differences(expected, got))


def starts(times, path, tsv, paths):
    names = {elf.name: elf for elf in map(Elf, paths)}
    expected = collections.defaultdict(collections.Counter)
    for key, count in read_counts(path).items():
        expected[key[0]][key] = count
    processes = collections.defaultdict(lambda: collections.defaultdict(collections.Counter))
    for (pid, _), rows in read_tsv(tsv).items():
        for key in events(rows, names):
            processes[pid][key[0]][key] += 1
    found, whole, untraced = [], 0, 0
    for pid, modules in processes.items():
        for module, counts in expected.items():
            if not modules[module]:
                untraced += 1
            else:
                whole += 1
                found += differences(counts, modules[module], f"process {pid}: ")
        found += [f"process {pid}: events of {module}" for module in modules
                  if module not in expected and modules[module]]
    if len(processes) > times:
        found.append(f"{times} starts made {len(processes)} traces")
    return report(f"processes {len(processes)} modules traced {whole} untraced {untraced}", found)


def once(path, tsv, paths):
    names = {elf.name: elf for elf in map(Elf, paths)}
    expected = read_counts(path)
    processes = collections.defaultdict(collections.Counter)
    threads = collections.Counter()
    for (pid, _), rows in read_tsv(tsv).items():
        processes[pid].update(events(rows, names))
        threads[pid] += 1
    got = set().union(*processes.values()) if processes else set()
    # Two threads that make a call at the same moment may both record it. Callees in
    # modules without a file that was given all look the same: more than one is no double.
    found = [f"process {pid}: {key} {count} times" for pid, counts in processes.items()
             for key, count in counts.items() if count > threads[pid] and key[2] != "-"]
    found += [f"{key} is missing" for key in sorted(expected) if key not in got]
    found += [f"{key} was never called" for key in sorted(got) if key not in expected]
    return report(f"calls {len(expected)} made {sum(expected.values())} recorded "
                  f"{sum(sum(counts.values()) for counts in processes.values())}", found)


def unresolved(tsv):
    found, count = [], 0
    for rows in read_tsv(tsv).values():
        for row in rows:
            count += 1
            if not row["caller"] or not row["callee"] or row["callee"].startswith("0x"):
                found.append(" ".join(row.values()))
    return report(f"events {count} unresolved {len(found)}", found)


def main(arguments):
    verb, rest = (arguments[0], arguments[1:]) if arguments else ("", [])
    if verb == "expect" and len(rest) > 1:
        return expect(rest[0], rest[1:])
    if verb == "compare" and len(rest) > 3:
        return compare(int(rest[0]), rest[1], rest[2], rest[3:])
    if verb == "starts" and len(rest) > 3:
        return starts(int(rest[0]), rest[1], rest[2], rest[3:])
    if verb == "once" and len(rest) > 2:
        return once(rest[0], rest[1], rest[2:])
    if verb == "unresolved" and len(rest) == 1:
        return unresolved(rest[0])
    sys.exit(__doc__)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
