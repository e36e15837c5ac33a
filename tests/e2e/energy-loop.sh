#!/bin/sh
# litifut energy-loop with the simulated board: from calls of main alone, and from those of all functions,
# to the sets that were chosen by hand, in four rounds and with at most 5 % of the time in hooks.
# Functions are called by ok.
# shellcheck disable=SC2317
. "$(dirname "$0")/../energy.sh"

# loop PROGRAM SENT-AT OPTIONS...: what it prints is in rounds
loop()
{
	program=$1
	sent=$2
	shift 2
	LITIFUT_CLOCK=timer1:16000000 LITIFUT_RING_KB=8 LITIFUT_PORT=usart LITIFUT_MARK_SET=0x23:8 \
		LITIFUT_MARK_CLEAR=0x23:8 LITIFUT_MARK_EVERY=10 LITIFUT_SEND=call:$sent \
		"$BUILD/bin/litifut" energy-loop "$@" \
		--measure "'$rig' -p power.csv -u serial recorded next.elf" \
		--energy "--volts 3.3 --power power.csv --machine '$root/tests/energy/radio.machine' serial next.elf" \
		sh -c "rm -f next.elf && avr-gcc -mmcu=atmega1284p -Os -g -I'$root/include' -DROUNDS=24 \
		-DRECORDED '$root/tests/energy/$program.c' -o next.elf" >rounds
}

# The hooks of the last round
within_budget()
{
	cat rounds
	awk '/hooks take/ { share = $5 } END { exit !(share > 0 && share <= 5) }' rounds
}

# opens FUNCTION...: the last settings trace the calls of these, and of no others
opens()
{
	cat rounds energy.config
	[ "$(sed -n 's/^include = //p' energy.config | sort | tr '\n' ' ')" = "$* " ]
}

ok "a node, from main's calls" loop firmware work
ok "ends with what was chosen by hand" opens main work
ok "after at most four rounds" sh -c '[ "$(wc -l <rounds)" -le 4 ]'
ok "within the budget" within_budget

ok "a costly phase that lies deep" loop hidden control
ok "is found, and nothing else is opened" opens control evaluate main refine
ok "after at most four rounds" sh -c '[ "$(wc -l <rounds)" -le 4 ]'
ok "within the budget" within_budget

printf 'exclude_callees = __*,litifut_*\n' >all
ok "a node, from the calls of all functions" loop firmware work -c all -o all.config
ok "was above the budget" grep -q '^round 1: hooks take [0-9][0-9]\.' rounds
ok "and is within it at the end" within_budget
ok "what the first settings had stays" grep -q '^exclude_callees = __\*,litifut_\*$' all.config

# what stops it
ok "settings that cannot be written are said" sh -c "! '$BUILD/bin/litifut' energy-loop --measure true \
	--energy '--volts 3.3 --power power.csv serial next.elf' -o none/energy.config true 2>words &&
	grep 'none/energy.config: No such file' words"
ok "no new link is said" sh -c "! '$BUILD/bin/litifut' energy-loop --measure true \
	--energy '--volts 3.3 --power power.csv serial next.elf' true 2>words &&
	grep 'each round needs a new link' words"
ok "a link that fails ends it" sh -c "! '$BUILD/bin/litifut' energy-loop --measure true \
	--energy x sh -c 'exit 3' 2>words && grep 'sh: has failed with exit status 3' words"
ok "the advice of the last round is not taken as measured" fails loop firmware work --rounds 1
ok "and is in the settings" opens main nap work
finish
