#!/bin/sh
# The trace file: a short process leaves little, and a flipped bit is found where there
# are sums.
. "$(dirname "$0")/../lib.sh"
few_targets armhf mips

# header OFFSET: a word of the trace's header
header()
{
	od -An -tu4 -j "$1" -N 4 --endian="$([ "$cpu" = mips ] && echo big || echo little)" \
		data/trace/*.trace | tr -d ' '
}

# On a file system with holes, as every test machine has.
bytes_on_disk()
{
	echo $(($(stat -c '%b * %B' data/trace/*.trace)))
}

post()
{
	"$BUILD/bin/litifut-post" -f tsv -o events.tsv data/trace data/maps traced/work 2>post.err
}

# The chunk of full size with sums, of which a word is changed in the middle
flip()
{
	python3 - "$([ "$cpu" = mips ] && echo '>' || echo '<')" data/trace/*.trace <<-'END'
		import struct, sys
		order, path = sys.argv[1:]
		with open(path, "r+b") as file:
		    data = bytearray(file.read())
		    header, chunk = struct.unpack_from(order + "II", data, 16)
		    for at in range(header, len(data), chunk):
		        magic, kind, encoding, flags = struct.unpack_from(order + "IHHI", data, at)
		        if kind != 1:
		            continue
		        if encoding == 3 or flags & 6 == 6:
		            data[at + 64 + 40] ^= 4
		            file.seek(0)
		            file.write(data)
		            print(hex(at))
		            sys.exit()
		sys.exit("no chunk with sums")
	END
}

found()
{
	flip >flipped || return 1
	post
	[ $? = 1 ] && grep "$1" post.err && grep -q '\.trace: 0x' post.err
}

behaviour()
{
	cat >work.c <<-'END'
		#include <stdio.h>
		#include <stdlib.h>
		__attribute__((noipa)) static int leaf(int n) { return n + 1; }
		__attribute__((noipa)) static int twice(int n) { return leaf(leaf(n)); }
		int main(int argc, char **argv)
		{
			int sum = 0;
			for (int i = argc > 1 ? atoi(argv[1]) : 1; i; i--)
				sum += twice(i) & 1;
			printf("%d\n", sum);
			return 0;
		}
	END
	link work ../work.c || return 0

	same_run work 100
	ok "a short process: the trace is read" post
	is "a short process: all calls" "$(recorded leaf)" 200
	ok "a short process leaves at most 8 KB: $(bytes_on_disk)" test "$(bytes_on_disk)" -le 8192
	is "version 2.3" "$(header 12)" "$([ "$cpu" = mips ] && echo $((2 << 16 | 3)) || echo $((3 << 16 | 2)))"
	is "the family of streams" "$(header 104)" 0
	is "no sums of full chunks unless asked for" "$(($(header 44) & 16))" 0

	guest_environment="LITIFUT_SUM=1 LITIFUT_COMPACT=0"
	same_run work 30000
	ok "with sums: the trace is read" post
	is "with sums: all calls" "$(recorded leaf)" 60000
	is "with sums: the header says so" "$(($(header 44) & 16))" 16
	ok "a flipped bit in a chunk is reported" found 'the sums of a chunk are wrong'
	guest_environment="LITIFUT_COMPACT=1"
	same_run work 30000
	ok "compact: the trace is read" post
	is "compact: all calls" "$(recorded leaf)" 60000
	ok "a flipped bit in a compact block is reported" found 'the sum of a compact block is wrong'
	guest_environment=
}

for_targets behaviour
