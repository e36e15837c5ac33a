#!/bin/sh
# Options of the linker that builds use: each link is rewritten, without a word,
# and the program does what it did.
. "$(dirname "$0")/../lib.sh"
few_targets armhf mipsel

# with OPTIONS...: one way to link the program.
with()
{
	rm -rf plain traced
	link program ../main.o ../other.o "$@" && same_run program one two
}

behaviour()
{
	cat >main.c <<-'END'
		#include <stdio.h>
		int other(int value);
		int main(int count, char **words)
		{
			printf("%d %s\n", other(count), words[1]);
			return 3;
		}
	END
	cat >other.c <<-'END'
		#include <stdlib.h>
		#include <string.h>
		int never(void) { return rand(); }
		__attribute__((noipa)) int inner(int value) { return value * 7; }
		int other(int value) { return inner(value) + abs(-value); }
		int __real_inner(int value);
		int __wrap_inner(int value) { return __real_inner(value) + 1; }
	END
	flags=-ffunction-sections compiler -fPIE -c -o main.o main.c
	flags=-ffunction-sections compiler -fPIE -c -o other.o other.c
	echo "{ inner; };" >dynamic.list
	wrap=-Wl,--wrap=inner,--defsym=__real_inner=inner
	for options in -pie -no-pie -static -static-pie -Wl,-s -Wl,-S -Wl,-x -Wl,--gc-sections \
		-Wl,-Bsymbolic -Wl,-z,now,-z,relro -Wl,-z,norelro -rdynamic -Wl,--wrap=inner \
		-Wl,--build-id=none -Wl,--build-id=md5 -Wl,--build-id=sha1 -Wl,--build-id=uuid \
		-Wl,--build-id=0x1234567890abcdef -Wl,-O1,--sort-common -Wl,--emit-relocs \
		-Wl,--warn-common,--sort-section,alignment -Wl,--no-eh-frame-hdr -Wl,--start-group \
		-Wl,--whole-archive -Wl,-Bstatic,-Bdynamic -Wl,--fatal-warnings \
		-Wl,--compress-debug-sections=zlib; do
		case $options in
		-static-pie)
			# Not every C library package has the start-up file for it.
			if [ -f "$("$triplet-gcc" -print-file-name=rcrt1.o)" ]; then
				with "$wrap" "$options"
			else
				skip "$options" "no rcrt1.o"
			fi
			;;
		*--wrap*) with "$options" ;;
		*start-group) with "$wrap" "$options" -lc -Wl,--end-group ;;
		*whole-archive) with "$wrap" "$options" -Wl,--no-whole-archive ;;
		*) with "$wrap" "$options" ;;
		esac
	done
	with $wrap -Wl,--dynamic-list=../dynamic.list
	# A script that only adds to the built-in one.
	echo 'SECTIONS { .extra : { KEEP(*(.extra)) } } INSERT AFTER .data;' >insert.ld
	with $wrap -Wl,-T,../insert.ld
}

for_targets behaviour
