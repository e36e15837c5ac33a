#!/usr/bin/env python3
"""covered.py BUILD EXECUTED: the lines of the tracer as a file for lcov, on standard output.

EXECUTED is what the plugin covered.so wrote, of programs whose tracer is that of BUILD. A line
has code where an instruction of any object of the tracer comes from it, and was executed where one of
them was, on whatever CPU."""

import collections
import glob
import os
import re
import subprocess
import sys

TOOLS = {"arm": "arm-linux-gnueabi-", "armv7": "arm-linux-gnueabi-",
         "mips": "mips-linux-gnu-", "mipsel": "mipsel-linux-gnu-"}
SLOT = 128  # bytes of a slot of the plugin's table: a hash of 8 bytes, and a line
SYMBOL = re.compile(r"^([0-9a-f]+) <(.*)>:$")
PLACE = re.compile(r"^(/.*):(\d+)( \(.*\))?$")
INSTRUCTION = re.compile(r"^ *([0-9a-f]+):\t(?:[0-9a-f]+ )+ *\t(\S+)")


class Object:
    """An object file: symbols {name: address}, lines {address: (file, line)}"""

    def __init__(self, path, tool):
        self.stem = os.path.basename(path).rsplit(".", 1)[0]
        self.symbols, self.lines = {}, {}
        place = None
        text = subprocess.run([tool + "objdump", "-dl", path], capture_output=True, text=True,
                              check=True).stdout
        for line in text.splitlines():
            if match := SYMBOL.match(line):
                self.symbols.setdefault(match[2], int(match[1], 16))
            elif match := PLACE.match(line):
                place = (os.path.relpath(match[1]), int(match[2]))
            elif (match := INSTRUCTION.match(line)) and place and not match[2].startswith("."):
                self.lines[int(match[1], 16)] = place


def main():
    build, executed = sys.argv[1:]
    count = collections.defaultdict(int)
    blocks = collections.defaultdict(set)
    with open(executed, "rb") as file:
        table = file.read()
    for at in range(0, len(table), SLOT):
        if table[at + 8]:
            line = table[at + 8:table.index(b"\0", at + 8)].decode()
            cpu, source, symbol, offset, size = line.split()
            blocks[cpu, symbol].add((source.rsplit(".", 1)[0], int(offset, 16), int(size, 16)))
    for cpu, tool in TOOLS.items():
        items = [Object(path, tool)
                 for path in glob.glob(f"{build}/tracer/{cpu}/**/*.o", recursive=True)]
        stems = collections.defaultdict(set)
        for item in items:
            for symbol in item.symbols:
                stems[symbol].add(item.stem)
        for item in items:
            for place in item.lines.values():
                count[place] += 0
            for symbol, address in item.symbols.items():
                for stem, offset, size in blocks[cpu, symbol]:
                    # a hidden symbol stands behind any file's, as the linker has made it local
                    if stem in stems[symbol] and stem != item.stem:
                        continue
                    for at in range(address + offset, address + offset + size, 2):
                        if at in item.lines:
                            count[item.lines[at]] += 1
    files = collections.defaultdict(dict)
    for (path, line), times in count.items():
        if not path.startswith(".."):
            files[path][line] = times
    for path, lines in sorted(files.items()):
        print(f"TN:\nSF:{os.path.abspath(path)}")
        for line, times in sorted(lines.items()):
            print(f"DA:{line},{times}")
        print(f"LF:{len(lines)}\nLH:{sum(1 for times in lines.values() if times)}\nend_of_record")


main()
