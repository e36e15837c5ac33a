#!/bin/sh
# What LITIFUT has in tables about AVR devices is what the headers of avr-libc say of each device that it has, and
# a link that needs what the device does not have is refused in one line, which says what to do.
. "$(dirname "$0")/../lib.sh"

target=avr
scratch=$BUILD/tests/e2e/$script
rm -rf "$scratch"
mkdir -p "$scratch"
cd "$scratch" || exit 1

# Devices of avr-libc that the compiler has, of the families that have no XMEGA or reduced core.
devices()
{
	find /usr/lib/avr/lib -name 'crtat*.o' | grep -v -e xmega -e tiny-stack -e avrtiny |
		sed 's|.*/crt\(.*\)\.o$|\1|' | sort -u
}

# Lines "DEVICE ADDRESS...": USARTs of which UCSRnB is at +1 and UDRn at +6.
usarts_of_headers()
{
	for each in $(devices); do
		echo '#include <avr/io.h>' | avr-gcc -mmcu="$each" -E -dM - 2>/dev/null >"$each.macros" || continue
		awk -v device="$each" '
			function number(text, i, value) {
				text = tolower(text)
				for (i = 3; i <= length(text); i++)
					value = value * 16 + index("0123456789abcdef", substr(text, i, 1)) - 1
				return value
			}
			match($0, /_SFR_(MEM|IO)8 ?\(0[xX][0-9a-fA-F]+\)/) {
				text = substr($0, RSTART, RLENGTH)
				value[$2] = (text ~ /IO8/ ? 32 : 0)
				gsub(/.*\(|\)/, "", text)
				value[$2] += number(text)
			}
			END {
				printf "%s", device
				split(",0,1,2,3", names, ",")
				for (i = 1; i <= 5; i++) {
					base = value["UCSR" names[i] "A"]
					if (base && value["UCSR" names[i] "B"] == base + 1 &&
						value["UDR" names[i]] == base + 6)
						printf " %x", base
				}
				print ""
			}' "$each.macros"
		rm "$each.macros"
	done
}

# Lines "DEVICE FIRST OVERFLOW" of timer 1, for the devices that have its registers where an ATmega48 has them
timers_of_headers()
{
	cat >timer.c <<-END
		#include <avr/io.h>
		int numbers[] = {TIMER1_CAPT_vect_num, TIMER1_OVF_vect_num};
		_Static_assert(_SFR_MEM_ADDR(TCCR1A) == 0x80 && _SFR_MEM_ADDR(TCCR1B) == 0x81 &&
			_SFR_MEM_ADDR(TCNT1L) == 0x84 && _SFR_MEM_ADDR(TIMSK1) == 0x6f &&
			_SFR_IO_ADDR(TIFR1) == 0x16 && TOV1 == 0 && TOIE1 == 0, "");
	END
	for each in $(devices); do
		avr-gcc -mmcu="$each" -std=gnu11 -S timer.c -o timer.s 2>/dev/null &&
			echo "$each $(sed -n 's/^\t\.word\t//p' timer.s | tr '\n' ' ')"
	done | sed 's/ $//'
}

cat >query.c <<'END'
#include <stdio.h>
#include <string.h>

#include "cpu/avr/avr.h"

int main(int count, char **devices)
{
	for (int i = 1; i < count; i++) {
		uint32_t usarts[LITIFUT_AVR_USARTS];
		uint32_t first, overflow;
		unsigned found;

		printf("%s", devices[i]);
		if (!strcmp(devices[1], "timers")) {
			if (litifut_avr_timer1(devices[i], &first, &overflow))
				printf(" %u %u", (unsigned)first, (unsigned)overflow);
			puts("");
			continue;
		}
		if (!litifut_avr_usarts(devices[i], usarts, &found))
			printf(" unknown");
		for (unsigned n = 0; n < found; n++)
			printf(" %x", (unsigned)usarts[n]);
		puts("");
	}
	return 0;
}
END

# link_for DEVICE PORT FLAGS...: with the words in port.log
link_for()
{
	link_device=$1
	link_port=$2
	shift 2
	rm -f port.elf
	LITIFUT_PORT=$link_port "$BUILD/bin/litifut" build -q avr-gcc -mmcu="$link_device" -Os "$@" \
		"$root/tests/firmware/avr_tiny.c" -o port.elf >port.log 2>&1
	cat port.log >&2
}

# is_traced DEVICE PORT FLAGS...
is_traced()
{
	link_for "$@" && ! own_words port.log && "$BUILD/bin/litifut" info port.elf | grep 'sites patched'
}

# refused DEVICE PORT: the line that the link has to say, without its beginning
refused()
{
	link_for "$1" "$2"
	sed -n 's/^litifut-ld: warning: port.elf: left untraced: //p' port.log
}

${CC:-cc} -I"$root" -I"$root/include" query.c "$root/cpu/avr/devices.c" -o query || exit 1
usarts_of_headers >usarts.headers
# shellcheck disable=SC2046
./query $(devices) >usarts.table
ok "the headers have most devices" [ "$(wc -l <usarts.headers)" -gt 150 ]
ok "the table of USARTs is that of the headers" diff usarts.headers usarts.table
# shellcheck disable=SC2046
./query timers $(devices) | grep ' .* ' >timers.table
timers_of_headers >timers.headers
ok "the table of timers is that of the headers" diff timers.headers timers.table
ok "and the headers have most devices" [ "$(wc -l <timers.headers)" -gt 100 ]
is "a device without a header is not known" "$(./query atmega9999 avr5)" "atmega9999 unknown
avr5 unknown"
none="has no USART with the registers that usart uses: set LITIFUT_PORT=user, and give the program a litifut_putc()"
is "another layout of the registers is refused" "$(refused atmega8 usart)" "LITIFUT_PORT: the device, atmega8, $none"
is "so is a device without a USART" "$(refused attiny85 usart:0xc8)" "LITIFUT_PORT: the device, attiny85, $none"
is "another address is named" "$(refused atmega32u4 usart)" \
	"LITIFUT_PORT: the device, atmega32u4, has no USART at 0xc0: set LITIFUT_PORT=usart:0xc8"
is "or all of them" "$(refused atmega328p usart:0xc1 && refused atmega1284p usart:0x100)" \
	"LITIFUT_PORT: the device, atmega328p, has no USART at 0xc1: set LITIFUT_PORT=usart:0xc0
LITIFUT_PORT: the device, atmega1284p, has no USART at 0x100: set LITIFUT_PORT=usart:0xc0 or usart:0xc8"
is "an address is not cut to 16 bits" "$(refused atmega328p usart:0xc00000)" \
	"LITIFUT_PORT: the address is beyond 0xfff9, and registers of this CPU are not: set that of the first register, such as usart:0xc0: usart:0xc00000"
for each in atmega328p:usart atmega32u4:usart:0xc8 atmega2560:usart:0x130 atmega1284p:usart:0xc8; do
	ok "a USART that the device has is taken ($each)" is_traced "${each%%:*}" "${each#*:}"
done
ok "nothing is asked of a device that sends nothing" is_traced atmega8 memory
start=$(avr-gcc -mmcu=atmega32 -print-file-name=crtatmega32.o)
avr-objcopy -R .note.gnu.avr.deviceinfo "$start" crtnameless.o
ok "a device that is not known is linked" is_traced atmega32 usart -nostartfiles crtnameless.o

# of_family DEVICE: all that the link says of a device that can't be traced
of_family()
{
	echo 'int main(void) { return 0; }' >family.c
	LITIFUT_MODE=table LITIFUT_CLOCK=timer1:8000000 "$BUILD/bin/litifut" build -q avr-gcc -mmcu="$1" family.c -o family.elf 2>&1
}

families="those that can be traced are avr25, avr35, avr4, avr5, avr51 and avr6"
for each in at90s8515:avr2 atmega103:avr31 "attiny10:avrtiny (reduced core)" atxmega128a1:avrxmega7; do
	is "one line has the family and those that can be traced (${each%%:*})" "$(of_family "${each%%:*}")" \
		"litifut-ld: warning: family.elf: left untraced: devices of the AVR family ${each#*:} are not supported: $families"
done

# tiny_link SETTING...: all that the link for a small device says; there is no room for the usual pool of open calls either
tiny_link()
{
	env "$@" "$BUILD/bin/litifut" build -q avr-gcc -mmcu=attiny85 -Os "$root/tests/firmware/avr_tiny.c" -o tiny.elf 2>&1
}

is "a device without the clock's timer: that is said first" "$(tiny_link LITIFUT_MODE=table)" \
	"litifut-ld: warning: tiny.elf: left untraced: LITIFUT_CLOCK: the device, attiny85, has no timer 1 with the registers of an ATmega48, which the clock is: use LITIFUT_MODE=counts or stream"
is "a handler that has the name of a macro: what to write in its place is said" "$(tiny_link LITIFUT_SAMPLE=TIMER0_OVF_vect)" \
	"litifut-ld: warning: tiny.elf: left untraced: LITIFUT_SAMPLE: no such function: TIMER0_OVF_vect: that is a macro for __vector_N: N is the number of the interrupt, which <avr/io.h> has by this name with _num behind it"
is "another name is not" "$(tiny_link LITIFUT_SAMPLE=timer_overflow)" \
	"litifut-ld: warning: tiny.elf: left untraced: LITIFUT_SAMPLE: no such function: timer_overflow"

cat >timer.c <<-'END'
	#include <avr/interrupt.h>
	#include <avr/io.h>

	volatile unsigned char state;

	static void __attribute__((noinline)) work(void)
	{
		state++;
	}

	ISR(HANDLER)
	{
		work();
	}

	int main(void)
	{
		TIMSK1 = 1 << OCIE1A;
		sei();
		work();
		return 0;
	}
END
# timer_link DEVICE HANDLER SETTING...: what the link says of the clock's timer
timer_link()
{
	timer_device=$1
	timer_handler=$2
	shift 2
	rm -f timer.elf
	env "$@" "$BUILD/bin/litifut" build -q avr-gcc -mmcu="$timer_device" -DHANDLER="$timer_handler" -Os timer.c -o timer.elf \
		>timer.log 2>&1
	cat timer.log >&2
	sed -n 's/^litifut-ld: warning: timer.elf: \(.*\): neither the times nor that part of the program are right: .*/\1/p' timer.log
	"$BUILD/bin/litifut" info timer.elf | grep -q 'sites patched  *[1-9]' || echo "it is not traced"
}

clock="LITIFUT_CLOCK=timer1:16000000"
used="the program uses the timer of LITIFUT_CLOCK itself, as it has a handler of its interrupt"
is "a handler of the clock's timer is said" "$(timer_link atmega328p TIMER1_COMPA_vect LITIFUT_MODE=table $clock)" \
	"$used 11"
is "also for spans" "$(timer_link atmega2560 TIMER1_COMPC_vect LITIFUT_MODE=spans LITIFUT_RING_KB=1 $clock)" "$used 19"
is "and of another device" "$(timer_link atmega1284p TIMER1_CAPT_vect LITIFUT_MODE=table)" "$used 12"
is "one of another timer is not" "$(timer_link atmega328p TIMER0_COMPA_vect LITIFUT_MODE=table $clock)" ""
is "nor where no clock is needed" "$(timer_link atmega328p TIMER1_COMPA_vect LITIFUT_MODE=stream)$(timer_link atmega328p TIMER1_COMPA_vect LITIFUT_MODE=counts)" ""

# Without an interrupt: in CTC, by a plain store, by a pointer (which GCC takes for what is read, changed and written), and
# by the counter alone. Arduino's init() is excepted, and so is what leaves the clock as it is.
setters="the program uses the timer of LITIFUT_CLOCK itself, as its function start_timer sets it up"
cp timer.c handled.c
# setter_link DEVICE STATEMENT
setter_link()
{
	cat >timer.c <<-END
		#include <avr/io.h>

		volatile unsigned long $timer_extra;

		void __attribute__((noinline)) ${timer_function:-start_timer}(void)
		{
			$2
		}

		int main(void)
		{
			${timer_function:-start_timer}();
			$timer_extra = TCNT1;
			return 0;
		}
	END
	timer_link "$1" none LITIFUT_MODE=table $clock
}

timer_extra=ticks
is "a timer in CTC is said" "$(setter_link atmega328p 'OCR1A = 1999; TCCR1B = 1 << WGM12 | 1 << CS11;')" "$setters"
is "also where bits of it are set" "$(setter_link atmega1284p 'TCCR1B |= 1 << CS12; TCCR1B &= ~(1 << CS10); OCR1A = 1999;')" "$setters"
ok "which is done by a pointer" sh -c 'avr-objdump -d timer.elf | grep -A9 "<start_timer>:" | grep -q "st.*[XYZ]"'
is "also its counter" "$(setter_link atmega2560 'TCNT1 = 0;')" "$setters"
is "what leaves the clock as it is is not" "$(setter_link atmega328p 'TCCR1A |= 1 << COM1A1; OCR1A = 128; TIMSK1 = 0;')" ""
is "nor is another timer" "$(setter_link atmega2560 'TCCR3B = 1 << CS31; TCNT3 = 0; TCCR0B = 2; TCCR2B = 2;')" ""
is "nor is a variable that far in a frame" \
	"$(setter_link atmega2560 'asm volatile("ldi r30, 0x81\n ldi r31, 0\n add r30, r28\n adc r31, r29\n st Z, r1" ::: "r30", "r31");')" ""
timer_function=init
is "a function init is not excepted" "$(setter_link atmega328p 'TCCR1B = 3;')" "the program uses the timer of LITIFUT_CLOCK itself, as its function init sets it up"
timer_extra=timer0_overflow_count
is "but that of Arduino's core" "$(setter_link atmega328p 'TCCR1B = 3;')" ""
cp handled.c timer.c
sed -i 's/^ISR(HANDLER)/ISR(TIMER1_OVF_vect, ISR_ALIASOF(HANDLER));\n&/' timer.c
is "an overflow that has the handler of another interrupt is not taken" \
	"$(timer_link atmega328p TIMER0_OVF_vect LITIFUT_MODE=table $clock)$(grep -c 'but the program has a handler for its overflow, interrupt 13, or' timer.log)" \
	"it is not traced1"

is "a device without a name: its timer is not known" \
	"$(env LITIFUT_MODE=table "$BUILD/bin/litifut" build -q avr-gcc -mmcu=atmega32 -nostartfiles crtnameless.o family.c -o nameless.elf 2>&1)" \
	"litifut-ld: warning: nameless.elf: left untraced: LITIFUT_CLOCK: the program does not say for which device it is (-mmcu=), so its timer is not known: use LITIFUT_MODE=counts or stream"

# port_link PORT: what the link says of a program that has nothing for the tracer to call
port_link()
{
	LITIFUT_MODE=table LITIFUT_PORT=$1 "$BUILD/bin/litifut" build -q avr-gcc -mmcu=atmega1284p family.c -o port.elf 2>&1 |
		sed -n 's/^litifut-ld: warning: port.elf: left untraced: //p'
}

is "a program without a litifut_putc(): that is said" "$(port_link user)" \
	'LITIFUT_PORT=user: the program has no function litifut_putc(): give it an int litifut_putc(uint8_t byte), in C++ as extern "C"'
is "and without a litifut_packet()" "$(port_link packet)" \
	"LITIFUT_PORT=packet: the program has no function litifut_packet(): give it the one that <litifut/firmware.h> declares"

echo "int nothing;" >empty.c && avr-gcc -mmcu=atmega1284p -c empty.c -o empty.o
is "an object for the port without a litifut_putc() is named" "$(port_link ./empty.o | sed 's/ litifut_putc().*//')" \
	"LITIFUT_PORT: neither ./empty.o nor the program has a function"

# control_link NAME [SETTING...]: what the link says of a program that uses this function if it is there
control_link()
{
	control=$1
	shift
	cat >control.c <<-END
		#include <litifut/firmware.h>

		volatile unsigned char state;

		static void __attribute__((noinline)) work(void)
		{
			state++;
		}

		int main(void)
		{
			if ($control)
				$control();
			work();
			return 0;
		}
	END
	rm -f control.elf
	env "$@" "$BUILD/bin/litifut" build -q avr-gcc -mmcu=atmega328p -I"$root/include" -Os control.c -o control.elf \
		>control.log 2>&1
	cat control.log >&2
	sed -n 's/^litifut-ld: warning: control.elf: the program uses \([a-z_]*\), which does not exist for this LITIFUT_MODE.*/\1/p' control.log
	"$BUILD/bin/litifut" info control.elf | grep -q 'sites patched  *[1-9]' || echo "it is not traced"
}

is "nothing is said of litifut_stop" "$(control_link litifut_stop)" ""
is "nor in other modes" "$(control_link litifut_start LITIFUT_MODE=spans LITIFUT_RING_KB=1)" ""
is "nor of litifut_reset" "$(control_link litifut_reset LITIFUT_MODE=table)$(control_link litifut_reset LITIFUT_MODE=coverage)" ""
is "where it is not there, it is said" "$(control_link litifut_reset LITIFUT_MODE=paths LITIFUT_RING_KB=1)" litifut_reset
is "of litifut_stop neither" "$(control_link litifut_stop LITIFUT_MODE=paths LITIFUT_RING_KB=1)" ""
is "litifut_stop is not there with flags" "$(control_link litifut_stop LITIFUT_MODE=coverage)" litifut_stop
is "nothing is said of litifut_send" "$(control_link litifut_send LITIFUT_PORT=usart)" ""
echo "1..$test_count"
[ "$failed_count" = 0 ]
