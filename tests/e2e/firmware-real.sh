#!/bin/sh
# Real code: newlib's printf and strtod, and with LONG=1 those of picolibc, C++ with and without
# exceptions, and Mbed TLS, zlib and lwIP of Debian's sources, each a million calls; with and without
# hard floating point, and by -flto. Each site is counted as often as QEMU has executed it.
BOARDS=${BOARDS:-mps2-an385 mps2-an386 ${LONG:+mps2-an500 mps2-an505}}
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../firmware.sh"

# Sets cpu, the options of the compiler for the board's CPU, with its floating-point unit.
use_cpu()
{
	case $board in
	mps2-an386) cpu="-mcpu=cortex-m4 -mfloat-abi=hard -mfpu=fpv4-sp-d16" ;;
	mps2-an500) cpu="-mcpu=cortex-m7 -mfloat-abi=hard -mfpu=fpv5-d16" ;;
	mps2-an505) cpu="-mcpu=cortex-m33" ;;
	*) cpu="-mcpu=cortex-m3" ;;
	esac
}

# numbers NAME OPTIONS...: a program of picolibc with its start-up code and linker script
numbers()
{
	numbers_name=$1
	shift
	mkdir -p "$numbers_name"
	# shellcheck disable=SC2086
	${front:-} arm-none-eabi-gcc --specs=picolibc.specs --crt0=hosted --oslib=semihost \
		$cpu -mthumb -O2 "$root/tests/firmware/numbers.c" -o "$numbers_name/firmware.elf" \
		-DROUNDS="$rounds" -Wl,--defsym=__flash="$flash" -Wl,--defsym=__flash_size=4M \
		-Wl,--defsym=__ram="$ram" -Wl,--defsym=__ram_size=1M "$@"
}

# prints_the_same PLAIN TRACED: on the console or the serial line
prints_the_same()
{
	emulate "$1/firmware.elf" "$1.serial" >"$1.text" 2>&1
	text_of "$1.serial" >>"$1.text"
	[ -f "$2.text" ] || : >"$2.text"
	text_of "$2/firmware.elf.serial" >>"$2.text"
	[ -s "$1.text" ] && cmp "$1.text" "$2.text"
}

# with_unit: the example's start-up code, which switches the floating-point unit on
with_unit()
{
	rm -rf source
	cp -r "$root/examples/firmware" source
	sed -i 's/board_init();/board_init(); *(volatile uint32_t *)0xe000ed88 |= 0xf << 20;/' \
		source/startup.c
}

newlib()
{
	with_unit
	cp "$root/tests/firmware/numbers.c" source/main.c
	for way in '' -flto; do
		set -- EXTRA_CFLAGS="$cpu -DROUNDS=$rounds $way" \
			EXTRA_LDFLAGS="-u _printf_float"
		make_example "plain$way" "$@" >/dev/null
		export LITIFUT_PORT="$port"
		ok "newlib $way: it links traced" traced "newlib$way" make_example "newlib$way" "$@"
		unset LITIFUT_PORT
		ok "newlib $way: each site is counted as often as it is executed" \
			counts_equal_calls "newlib$way/firmware.elf"
		ok "newlib $way: it prints the same" prints_the_same "plain$way" "newlib$way"
	done
	rm -r source
}

picolibc()
{
	flash=0
	ram=0x20000000
	[ "$board" != mps2-an505 ] || flash=0x10000000 ram=0x38000000
	for way in '' -flto; do
		name=numbers$way
		numbers "plain$name" ${way:+"$way"}
		export LITIFUT_PORT="$port"
		ok "picolibc $way: it links traced" traced "$name" numbers "$name" ${way:+"$way"}
		unset LITIFUT_PORT
		# what _exit() calls is called when the results have been sent
		ok "picolibc $way: each site is counted as often as it is executed" \
			counts_of_rest "$name"
		ok "picolibc $way: it prints the same" prints_the_same "plain$name" "$name"
	done
}

counts_of_rest()
{
	counts_equal_calls "$1/firmware.elf" --missing 15 >"$1.text.log" 2>&1
	counts_status=$?
	grep -v '^0x.* executed [12], counted 0$\|^executed' "$1.text.log" >"$1.text"
	[ $counts_status = 0 ] || cat "$1.text.log"
	return $counts_status
}

# make_objects FOLDER ARGUMENTS...: the example, in C++
make_objects()
{
	make_folder=$(pwd)/$1
	shift
	(cd source && ${front:-} make -s -f objects.mk BOARD="$board" OUT="$make_folder" "$@")
}

objects()
{
	cp -r "$root/examples/firmware" source
	cp "$root/tests/firmware/objects.cpp" source
	sed 's/--specs=nano.specs//' source/Makefile >source/objects.mk
	printf '$(OUT)/main.o: objects.cpp\n\t@mkdir -p $(@D)\n\t%s\n' \
		'arm-none-eabi-g++ $(CFLAGS) -c $< -o $@' >>source/objects.mk
	sed -i 's/^	$(CC) $(CFLAGS) $(LDFLAGS)/	arm-none-eabi-g++ $(CFLAGS) $(LDFLAGS)/' \
		source/objects.mk
	sed -i 's/\.ARM\.exidx : .*/.ARM.extab : { *(.ARM.extab*) } >FLASH\
		.ARM.exidx : { __exidx_start = .; *(.ARM.exidx*) __exidx_end = .; } >FLASH/' \
		source/sections.ld
	for way in -fno-exceptions -DTHROWS; do
		make_objects "plain$way" EXTRA_CFLAGS="$way" >/dev/null 2>&1
		export LITIFUT_PORT="$port"
		ok "C++ $way: it links traced" traced "cpp$way" make_objects "cpp$way" \
			EXTRA_CFLAGS="$way"
		unset LITIFUT_PORT
		ok "C++ $way: each site is counted as often as it is executed" \
			counts_equal_calls "cpp$way/firmware.elf"
		ok "C++ $way: it prints the same" prints_the_same "plain$way" "cpp$way"
	done
	export LITIFUT_PORT="$port" LITIFUT_MODE=table LITIFUT_CLOCK=dwt
	traced untimed make_objects untimed EXTRA_CFLAGS=-DTHROWS >/dev/null
	unset LITIFUT_PORT LITIFUT_MODE LITIFUT_CLOCK
	ok "C++: a program that can throw is counted, and a line says so" \
		grep -q 'calls are counted, not timed: .* exceptions' untimed.log
	ok "C++: it is so" counts_equal_calls untimed/firmware.elf
	export LITIFUT_PORT="$port" LITIFUT_MODE=stream LITIFUT_RING_KB=256
	ok "C++: a stream links traced" traced stream make_objects stream EXTRA_CFLAGS=-DTHROWS
	unset LITIFUT_PORT LITIFUT_MODE LITIFUT_RING_KB
	ok "C++: a stream has the calls in order" calls_in_order stream/firmware.elf
	ok "C++: a stream leaves the exceptions as they are" prints_the_same plain-DTHROWS stream
}

# library NAME FOLDER OPTIONS FILES...: an archive of these files of a Debian source
library()
{
	library_name=$1
	library_folder=$2
	library_options=$3
	shift 3
	rm -rf objects
	mkdir objects
	for file; do
		# shellcheck disable=SC2086
		arm-none-eabi-gcc $cpu -mthumb -O2 -ffunction-sections $library_options \
			-c "$library_folder/$file.c" -o "objects/${file##*/}.o" || return
	done
	rm -f "source/$library_name.a"
	arm-none-eabi-ar rcs "source/$library_name.a" objects/*.o
}

# whole NAME: the example's makefile with the archive NAME.a and main.c, in this way
whole()
{
	whole_folder=$1
	shift
	make_example "$whole_folder" EXTRA_CFLAGS="$cpu $way $options" \
		EXTRA_LDFLAGS="-Wl,--whole-archive library.a -Wl,--no-whole-archive"
}

# counted NAME: of main.c with the archive
counted()
{
	for mode in fast small table; do
		export LITIFUT_PORT="$port"
		case $mode in
		table) export LITIFUT_MODE=table LITIFUT_CLOCK=systick ;;
		*) export LITIFUT_STUBS=$mode ;;
		esac
		rm -rf traced
		ok "$1 $way, $mode: it links traced" traced traced whole traced
		unset LITIFUT_PORT LITIFUT_MODE LITIFUT_CLOCK LITIFUT_STUBS
		ok "$1 $way, $mode: each site is counted as often as it is executed" \
			counts_equal_calls traced/firmware.elf
		text_of traced/firmware.elf.serial >traced.text
	done
}

# A TCP connection and datagrams over the loopback interface of lwIP.
network()
{
	folder=$("$root/scripts/fetch-source" lwip)
	cp "$root/tests/firmware/network.c" source/main.c
	mkdir -p port/arch
	for option in 'NO_SYS 1' 'SYS_LIGHTWEIGHT_PROT 0' 'LWIP_NETCONN 0' 'LWIP_SOCKET 0' 'LWIP_STATS 0' \
		'LWIP_ARP 0' 'LWIP_HAVE_LOOPIF 1' 'LWIP_NETIF_LOOPBACK 1' 'MEM_SIZE 32768' 'MEM_ALIGNMENT 4'; do
		echo "#define $option"
	done >port/lwipopts.h
	cat >port/arch/cc.h <<-'C'
	#include <stdio.h>
	#include <stdlib.h>
	#define LWIP_PLATFORM_DIAG(x)
	#define LWIP_PLATFORM_ASSERT(x) abort()
	#define LWIP_RAND() ((u32_t)rand())
	C
	options="-I$folder/src/include -I$(pwd)/port -DSEGMENTS=$segments"
	ok "lwIP: it compiles" library library "$folder/src/core" "-I$folder/src/include -I$(pwd)/port" \
		def inet_chksum init ip mem memp netif pbuf raw tcp tcp_in tcp_out timeouts udp \
		ipv4/icmp ipv4/ip4 ipv4/ip4_addr ipv4/ip4_frag
	counted lwIP
	is "lwIP: what has come back is right" \
		"$(grep -c "^$((400 * segments)) bytes echoed, 0 wrong, [1-9]" traced.text)" 1
}

sources()
{
	with_unit
	for way in '' -flto; do
		folder=$("$root/scripts/fetch-source" mbedtls)
		cp "$root/tests/firmware/ciphers.c" source/main.c
		options="-I$folder/include -DMBEDTLS_CONFIG_FILE=\\\"$(pwd)/config.h\\\""
		for word in AES BASE64 BIGNUM CAMELLIA CHACHA20 CIPHER DES GCM MD5 POLY1305 SHA1 \
			SHA256; do
			echo "#define MBEDTLS_${word}_C"
		done >config.h
		echo '#define MBEDTLS_SELF_TEST' >>config.h
		echo '#define MBEDTLS_CIPHER_MODE_CBC' >>config.h
		ok "Mbed TLS $way: it compiles" library library "$folder/library" \
			"-I$folder/include -DMBEDTLS_CONFIG_FILE=\"$(pwd)/config.h\"" \
			aes base64 bignum camellia chacha20 cipher cipher_wrap constant_time des gcm \
			md5 platform_util poly1305 sha1 sha256
		counted "Mbed TLS"
		is "Mbed TLS $way: its tests pass" "$(grep -c passed traced.text)" 22
		# newlib's calls of _write() and its like come too late for GCC's plugin there
		[ -z "$way" ] || continue
		folder=$("$root/scripts/fetch-source" zlib)
		cp "$root/tests/firmware/deflate.c" source/main.c
		options="-I$folder"
		ok "zlib $way: it compiles" library library "$folder" '' adler32 compress crc32 \
			deflate inffast inflate inftrees trees uncompr zutil
		counted zlib
		is "zlib $way: what it has made is right" "$(grep -c 'the same' traced.text)" 3
		network
	done
}

behaviour()
{
	use_cpu
	rounds=100
	segments=4200
	[ -z "${LONG:-}" ] || rounds=4000 patience=600
	newlib
	[ -n "${LONG:-}" ] || return
	picolibc
	[ "$board" != mps2-an385 ] || objects
	sources
}

for_boards behaviour
