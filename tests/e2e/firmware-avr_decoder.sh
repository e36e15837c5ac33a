#!/bin/sh
# Our decoder of AVR code and avr-objdump say the same of each instruction of whole libraries.
. "$(dirname "$0")/../lib.sh"

gcc_folder=$(avr-gcc -print-libgcc-file-name | sed 's,/[^/]*$,,')
libc_folder=$(dirname "$(avr-gcc -mmcu=avr5 -print-file-name=libc.a)")/..

same_as_objdump()
{
	avr-objdump -d "$@" | "$BUILD/tests/avr-decode"
}

for family in avr25 avr51 avr6; do
	target=$family
	for library in "$gcc_folder/$family/libgcc.a" "$libc_folder/$family/libc.a" \
		"$libc_folder/$family/libm.a"; do
		ok "$(basename "$library")" same_as_objdump "$library"
	done
done
echo "1..$test_count"
[ "$failed_count" = 0 ]
