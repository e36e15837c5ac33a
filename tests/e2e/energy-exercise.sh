#!/bin/sh
# litifut-post energy exercise and learn: a driver that makes the calls of a device in each order of two,
# and the states that are found in what it records, for devices with a level that lasts until they are
# switched off. The simulated board draws what the script says; nothing of it was used for tuning.
# Functions are called by ok; awk has expressions of its own.
# shellcheck disable=SC2317,SC2016
. "$(dirname "$0")/../energy.sh"

# is_learned HOLD ON OFF SHORT LONG: levels within 2 %, durations within two samples
is_learned()
{
	cat learned.machine
	awk -v hold="$1" -v on="$2" -v off="$3" -v short="$4" -v long="$5" '
		function expect(text, above,   phases, words, n, i) {
			n = split(text, phases, ",")
			for (i = 1; i <= n; i++) {
				split(phases[i], words, ":")
				level[++count] = (words[1] + above) * 3.3
				time[count] = words[2]
			}
		}
		function far(found, true, most) { return found - true > most || true - found > most }
		BEGIN { expect(on, hold); expect(off, 0); expect(short, hold); expect(long, hold) }
		$1 == "state" && $2 == "on1" { stays++; bad += far($4 + 0, hold * 3.3, 0.066 * hold) }
		$1 == "state" && $2 ~ /^s/ {
			seen++
			bad += far($4 + 0, level[seen], 0.02 * level[seen]) || far($6 + 0, time[seen], 20)
		}
		END { exit bad || stays != 1 || seen != count }' learned.machine
}

# learned NOISE HOLD ON OFF SHORT LONG: what the board draws after each call, as MILLIAMPERES:MICROSECONDS,...
learned()
{
	"$rig" -p power.csv -u serial -s noise="$1" -s hold="$2" -s phases0="$3" -s phases1="$4" \
		-s phases2="$5" -s phases3="$6" recorded driver.elf >/dev/null &&
		"$post" energy learn -q --trigger 'modem_o*' --trigger 'modem_send_*' --power power.csv \
			--volts 3.3 serial driver.elf >learned.machine && shift && is_learned "$@"
}

ok "a driver is made" "$post" energy exercise --repeat 4 -o driver.c "$root/tests/energy/modem.list"
ok "calls with different arguments are apart" grep -q 'modem_send_64_4();' driver.c
export LITIFUT_MODE=spans LITIFUT_CLOCK=timer1:16000000 LITIFUT_RING_KB=8 LITIFUT_PORT=usart \
	LITIFUT_MARK_SET=0x23:8 LITIFUT_MARK_CLEAR=0x23:8 LITIFUT_MARK_EVERY=10 \
	LITIFUT_SEND=call:energy_exercise_rests
ok "it is C without a warning" "$BUILD/bin/litifut" build -q avr-gcc -mmcu=atmega1284p -Os -std=c11 -Wall \
	-Wextra -Werror -g -I"$root/include" -I"$root/tests/energy" driver.c "$root/tests/energy/modem.c" \
	-o driver.elf
unset LITIFUT_MODE LITIFUT_CLOCK LITIFUT_RING_KB LITIFUT_PORT LITIFUT_MARK_SET LITIFUT_MARK_CLEAR \
	LITIFUT_MARK_EVERY LITIFUT_SEND
ok "states, levels within 2 %, durations within two samples" \
	learned 0.15 4.5 8:700,14:1300 2.5:900 19:450,11:800 19:2600,11:800
ok "all pairs of calls were made" sh -c "'$post' -q -f tree serial driver.elf |
	awk '{ call = 0 } / modem_on/ { call = 1 } / modem_off/ { call = 2 } / modem_send_8_3/ { call = 3 }
	/ modem_send_64_4/ { call = 4 } call { seen[last call]++; last = call }
	END { for (a = 1; a <= 4; a++) for (b = 1; b <= 4; b++) missing += !seen[a \"\" b]; exit missing }'"
ok "a wrong level would be seen" fails is_learned 4.5 8:700,14.5:1300 2.5:900 19:450,11:800 19:2600,11:800
ok "a wrong duration would be seen" fails is_learned 4.5 8:700,14:1300 2.5:900 19:450,11:800 19:2630,11:800
ok "of another device, with more noise" learned 0.3 7.9 22.3:130,5.1:410,12.7:95 17.5:1140 6.2:260 \
	9.4:75,21.6:620,3.3:180
ok "transitions are those that it makes" sh -c 'grep -c "^  on exit" learned.machine | grep -x 4 &&
	grep "on exit modem_on: off -> s1" learned.machine && grep "on exit modem_off: on1 -> s4" learned.machine &&
	grep "on exit modem_send_8_3: on1 -> s5" learned.machine && grep "after s8 -> on1" learned.machine'
ok "it can be used" sh -c "'$post' energy -q --power power.csv --volts 3.3 --machine learned.machine serial \
	driver.elf 2>&1 | tee used | grep 'machines: .* 0 of them expected and not seen'"
# The analyser names a sample by its begin and the pin by its end, and the recorder reads the clock before it
# sets the pin: 7.9 us together, by the rig's own time at the readings of the clock. The shift is kept at 0
# where the curve does not decide.
ok "the clock is that of the board, or as the marks say" awk '
	{ for (i = 1; i < NF; i++) if ($i == "shift") { seen++; far = $(i + 1) > 12 || $(i + 1) < -4 } }
	END { exit seen != 1 || far }' used

# wrong LIST MESSAGE
wrong()
{
	printf '%b' "$1" >list
	! "$post" energy exercise list >driver 2>words && cat words && [ ! -s driver ] && grep "$2" words
}
ok "a list without calls" wrong 'pause wait()\n' 'line 1: there is no call'
ok "a list without a pause" wrong 'call f()\n' 'there is no pause'
ok "a call that is none" wrong 'pause wait()\ncall f\n' 'line 2: a call is: call FUNCTION(ARGUMENTS)'
ok "another word" wrong 'x y\n' 'line 1: a line begins with include, setup, pause or call'
finish
