#!/bin/sh
# What the linker's options say of a file holds for the traced one: dynamic tags, segments
# and their flags, sections, symbols and their versions, attributes, notes. It has more of
# some, and docs/module-format.md says which.
. "$(dirname "$0")/../lib.sh"
few_targets armhf mips
[ "$TARGETS" = "$all_targets" ] && TARGETS="armhf armel mipsel mips"

sources()
{
	cat >library.c <<-'END'
		int library_data = 3;
		int hidden(int x) { return x + library_data; }
		int library_one(int x) { return hidden(x); }
		int library_two(int (*function)(int), int x) { return function(x) + hidden(x); }
	END
	cat >main.c <<-'END'
		#include <stdio.h>
		extern int library_data, library_one(int), library_two(int (*)(int), int);
		__thread int of_thread = 4;
		static int own(int x) { return x * of_thread; }
		__attribute__((constructor)) static void begin(void) { puts("begin"); }
		__attribute__((destructor)) static void end(void) { puts("end"); }
		int main(void) { return printf("%d %d\n", library_one(2), library_two(own, library_data)) < 0; }
	END
	cat >versions <<-'END'
		ONE { global: library_one; library_data; local: *; };
		TWO { global: library_two; } ONE;
	END
	cat >compare.py <<-'END'
		import re
		import subprocess
		import sys

		def lines(*command):
		    return subprocess.run(command, capture_output=True, text=True).stdout.splitlines()

		# the linker's options do not decide what is where
		PLACES = """INIT FINI HASH GNU_HASH MIPS_XHASH STRTAB SYMTAB STRSZ PLTGOT PLTRELSZ JMPREL REL RELSZ
		RELCOUNT VERNEED VERSYM VERDEF INIT_ARRAY FINI_ARRAY INIT_ARRAYSZ FINI_ARRAYSZ
		MIPS_SYMTABNO MIPS_GOTSYM MIPS_LOCAL_GOTNO MIPS_RLD_MAP_REL MIPS_RLD_MAP MIPS_PLTGOT
		MIPS_UNREFEXTNO""".split()

		def dynamic(file):
		    found = []
		    for line in lines("readelf", "-dW", file):
		        match = re.match(r"\s*0x\w+ \((\w+)\)\s+(.*)", line)
		        if match:
		            name, value = match.groups()
		            found.append(name + ("" if name in PLACES else " " + value))
		    return found

		def segments(file):
		    found = re.findall(r"^ +([A-Z]\w+) +0x\w+ 0x\w+ 0x\w+ 0x\w+ 0x\w+ (...) (0x\w+)$",
		                       "\n".join(lines("readelf", "-lW", file)), re.M)
		    return [" ".join(each) for each in found if each[0] not in ("EXIDX", "GNU_EH_FRAME")]

		def sections(file):
		    names = re.findall(r"^ +\[ *\d+\] (\.\S+)", "\n".join(lines("readelf", "-SW", file)), re.M)
		    ours = (".litifut", ".ARM.ex", ".eh_frame", ".debug_frame", ".data", ".bss", ".rodata", ".rel.")
		    return [name for name in names if not name.startswith(ours)]

		def symbols(file, table):
		    found = []
		    for line in lines("readelf", "-W", table, file):
		        match = re.match(r"\s*\d+: \w+\s+(\S+) (\w+) +(\w+) +(\w+) +(?:\[.*?\] +)?(\w+) (\S+)", line)
		        if match and match[2] not in ("SECTION", "FILE"):
		            size, kind, binding, visibility, where, name = match.groups()
		            where = where if where == "UND" else ""
		            found.append(f"{name} {kind} {binding} {visibility} {where}")
		    ours = ("litifut_", "LITIFUT_1 ", "__aeabi_unwind_cpp_pr", "__GNU_EH_FRAME_HDR ", "$")
		    return sorted({each for each in found if not each.startswith(ours)})

		def others(file):
		    header = [line for line in lines("readelf", "-hW", file) if re.match(" *(Type|Flags|OS|ABI)", line)]
		    notes = [line for line in lines("readelf", "-nW", file) if "Build ID" not in line]
		    attributes = "\n".join(lines("readelf", "-A", file)).split("Primary GOT")[0].splitlines()
		    versions = [line.split("Name: ")[1].split()[0] for line in lines("readelf", "-VW", file) if "Name: " in line]
		    versions = [each for each in versions if each != "LITIFUT_1"]
		    return header + notes + attributes + sorted(versions) + lines("readelf", "-p", ".comment", file)

		plain, traced = sys.argv[1:]
		same = True
		for what in (dynamic, segments, sections, lambda file: symbols(file, "--dyn-syms"),
		             lambda file: symbols(file, "-s"), others):
		    left, right = what(plain), what(traced)
		    if "VERDEFNUM" in " ".join(left):
		        # one version more
		        left, right = ([each for each in side if "VERDEFNUM" not in each] for side in (left, right))
		    for each in left:
		        if left.count(each) > right.count(each):
		            print("missing:", each)
		            same = False
		    for each in right:
		        if right.count(each) > left.count(each):
		            print("more:", each)
		            same = False
		    if same and left != right:
		        print("another order:", left, right)
		        same = False
		sys.exit(not same)
	END
}

# faithful DESCRIPTION FLAG...
faithful()
{
	description=$1
	shift
	rm -rf plain traced && mkdir plain traced
	for folder in plain traced; do
		(
			cd $folder || exit
			[ $folder = plain ] || front="$BUILD/bin/litifut build -q"
			compiler -shared -Wl,-soname,libone.so -o libone.so ../library.o "$@" &&
				compiler -o program ../main.o -L. -lone "$@"
		) >$folder.log 2>&1
		is "$description: $folder links" $? 0
	done
	for file in program libone.so; do
		ok "$description: $file is traced" rewritten traced/$file
		ok "$description: $file is like the plain one" python3 compare.py plain/$file traced/$file
	done
}

behaviour()
{
	sources
	compiler -fPIC -c -o library.o library.c
	compiler -fPIE -c -o main.o main.c
	faithful "no option"
	faithful "all at once, no relro" -Wl,-z,lazy,-z,norelro,--hash-style=sysv,--disable-new-dtags,-rpath,/opt/lib
	faithful "full relro, an executable stack" -Wl,-z,now,-z,relro,-z,execstack,-rpath,/opt/lib
	faithful "sizes of pages and of the stack" -Wl,-z,max-page-size=0x10000,-z,stack-size=65536,-z,nodelete
	faithful "versions" -Wl,--version-script=../versions
	faithful "everything exported, kept apart" -rdynamic -Wl,-z,separate-code,--build-id=0x1234abcd,--gc-sections
	for folder in plain traced; do
		readelf -n $folder/program | grep 'Build ID' >$folder.id
	done
	ok "a build-id of the user's own" cmp plain.id traced.id
}

for_targets behaviour
