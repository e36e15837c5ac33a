#!/bin/sh
# litifut-post --order: the traces of several nodes as one timeline. Three simulated nodes share the air
# (tests/faults/air.c), which says in which order they have really sent and received. Without losses path, blocks and
# units show no frame as received before it is sent; with losses that holds for a node that waits for nothing, and
# the losses are said.
. "$(dirname "$0")/../lib.sh"
few_targets armhf mipsel

node_source()
{
	cat >node.c <<-'END'
		#include "air.h"
		#include <stdlib.h>
		#include <string.h>
		#include <unistd.h>
		#define UNIT __attribute__((noipa))

		static struct air_packet packet, answer;
		static unsigned me, now, heard, state;

		static unsigned chance(unsigned below)
		{
			state = state * 1664525u + 1013904223u;
			return (state >> 8) % below;
		}
		static void send(unsigned length)
		{
			answer.length = (uint8_t)length;
			answer.bytes[0] = (uint8_t)me;
		}
		UNIT static void send_beacon(void) { send(8); }
		UNIT static void send_value_2(void) { send(4 + heard % 20); }
		UNIT static void send_value_3(void) { send(4 + heard % 3); }
		UNIT static void hear_beacon(void) { heard += chance(3); }
		UNIT static void hear_value_2(void) { heard += me == 3; }
		UNIT static void hear_value_3(void) { heard += 3; }
		static void (*const send_own[])(void) = {send_beacon, send_value_2, send_value_3};
		static void (*const hear[])(void) = {hear_beacon, hear_value_2, hear_value_3};
		UNIT static void tick(void)
		{
			now++;
			memset(&answer, 0, sizeof(answer));
			if (packet.length)
				hear[packet.bytes[0] - 1]();
			/* slots, so that what is sent does not collide */
			if (now % 5 == 0 && now / 5 % 3 == me - 1 && chance(3))
				send_own[me - 1]();
		}
		int main(int count, char **arguments)
		{
			me = (unsigned)atoi(arguments[count - 1]);
			state = me * 77;
			while (read(AIR_SOCKET, &packet, sizeof(packet)) == sizeof(packet)) {
				tick();
				if (write(AIR_SOCKET, &answer, sizeof(answer)) != sizeof(answer))
					break;
			}
			return 0;
		}
	END
	gcc -O1 -o air "$root/tests/faults/air.c"
}

# run_nodes TICKS LOSS PROGRAM ARGUMENTS...: traces in the folders node1 and so on, the truth in air.out
run_nodes()
{
	rm -rf node[123]
	ticks=$1
	loss=$2
	program=$3
	shift 3
	number=0
	for arguments; do
		number=$((number + 1))
		echo "LITIFUT_DIR=$(pwd)/node$number exec qemu-$cpu -L $sysroot $program $arguments >node.out"
	done >commands
	(IFS='
	'
	# shellcheck disable=SC2046
	timeout 120 env -i PATH="$PATH" ./air "$ticks" 5 "$loss" $(cat commands)) >air.out
}

post()
{
	"$BUILD/bin/litifut-post" -q "$@"
}

all_calls="--order send_beacon=hear_beacon --order send_value_2=hear_value_2 --order send_value_3=hear_value_3"

# shown_in_order FILE WHICH: lines of a node and the function that it calls, in the order shown, are all that the air has
# seen, and each frame is received behind where it was sent: all of them, or those of node 1, which sends beacons.
shown_in_order()
{
	python3 - "$1" air.out "$2" <<-'END'
		import sys
		shown = [line.split() for line in open(sys.argv[1])]
		true = [line.split() for line in open(sys.argv[2])]
		at = {}
		counts = {}
		for place, (node, function) in enumerate(shown):
		    what = "send" if function.startswith("send") else "receive"
		    number = counts[node, what] = counts.get((node, what), 0) + 1
		    at[what, node, number] = place
		received = 0
		for line in true:
		    node, number = "node" + line[2], int(line[3])
		    if line[1] == "receive":
		        if sys.argv[3] == "beacon" and line[5] != "1":
		            continue
		        received += 1
		        assert at["send", "node" + line[5], int(line[6])] < at["receive", node, number], line
		    else:
		        assert ("send", node, number) in at, line
		assert len(at) == len(true) and received > 20, (len(at), len(true), received)
	END
}

# paths OPTIONS
paths()
{
	# shellcheck disable=SC2086
	post -f blocks $1 -o blocks.out node1 node2 node3 traced/node 2>blocks.err
	awk -F '\t' '$7 ~ /^(send|hear)_/ && last[$1] != $7 $5 { print $1, $7 } { last[$1] = $7 $5 }' blocks.out >blocks.calls
	# shellcheck disable=SC2086
	post -f path $1 -o path.out node1 node2 node3 traced/node 2>path.err
	awk -F '\t' '{ split($3, part, " ") } part[1] ~ /^(send|hear)_/ && last[$1] != part[1] { print $1, part[1] }
		{ last[$1] = part[1] }' path.out >path.calls
}

# Each node's lines are those that are shown of it alone.
lines_are_those_of_each()
{
	for number in 1 2 3; do
		post -f path node$number traced/node >one.out &&
			grep "^node$number	" path.out | cut -f 2- >of_all.out && cmp one.out of_all.out || return
	done
}

# The starts of units, also of those that are folded: node and function
unfolded()
{
	python3 -c '
import re, sys
lines = []
for line in sys.stdin:
    node, text = line.rstrip("\n").split("\t", 1)
    folded = re.fullmatch(r"\[(\d+) more of the (?:(\d+) lines|line) above\]", text.strip())
    if folded:
        lines += lines[-int(folded[2] or 1):] * int(folded[1])
    else:
        lines.append((node, text))
for node, text in lines:
    found = re.fullmatch(r"\s*<(\w+)> start", text)
    if found:
        print(node, found[1])
'
}

# What the calls that are counted say of the losses.
losses_are_said()
{
	python3 - "$1" air.out <<-'END'
		import re, sys
		said = open(sys.argv[1]).read()
		found = re.findall(r"(node\d) has sent (\d+) and received (\d+)", said)
		true = [line.split() for line in open(sys.argv[2])]
		assert len(found) == 9, said # of each kind
		for node in "123":
		    for i, what in enumerate(["send", "receive"]):
		        assert sum(int(f[1 + i]) for f in found if f[0] == "node" + node) == sum(
		            1 for line in true if line[1:3] == [what, node]), said
	END
}

# Nodes with a radio stack: with acknowledgements, and a tree of routes to node 0, with losses.
whole_nodes()
{
	mkdir -p whole
	sed '/repair: delete/d' "$root/tests/faults/voltage.c" >whole/voltage.c
	(cd whole && front="$BUILD/bin/litifut build -q" compiler -I"$root/tests/faults/node" -o node voltage.c \
		"$root"/tests/faults/node/*.c) >link.log 2>&1 || ok "whole nodes: link" show_and_fail link.log
	run_nodes 1500 10 whole/node "1 0" "2 1" "3 5"
	post -f blocks --order channel_put=mac_heard -o whole.out node1 node2 node3 whole/node 2>whole.err
	is "whole nodes: an order that fits" $? 0
	is "whole nodes: all that is heard is there" "$(grep -o 'received [0-9]*' whole.err | awk '{ count += $2 } END { print count }')" \
		"$(grep -c receive air.out)"
	ok "whole nodes: what is sent reaches the base" grep -q '^node1	.*	route_heard_data$' whole.out
}

behaviour()
{
	case $target in
	armel)
		skip "--order" "LITIFUT_MODE=paths is not there"
		return
		;;
	esac
	node_source
	flags="-O1 -g -I$root/tests/faults"
	export LITIFUT_MODE=paths
	link node ../node.c
	run_nodes 600 0 traced/node 1 2 3
	paths "$all_calls"
	ok "blocks: frames are sent before they are received" shown_in_order blocks.calls all
	ok "path: the same" shown_in_order path.calls all
	ok "path: the lines of a node are those that are shown of it alone" lines_are_those_of_each
	is "nothing is wrong" "$(cat path.err)" ""
	run_nodes 600 6 traced/node 1 2 3
	paths "$all_calls"
	ok "lost messages are said" losses_are_said path.err
	is "and nothing else" "$(grep -vc 'messages were lost, or did not go to all nodes' path.err)" 0
	# who sends them waits for nothing, so whichever were lost, all are sent before they are received
	paths "--order send_beacon=hear_beacon"
	ok "with losses, beacons are sent before they are received" shown_in_order path.calls beacon
	# shellcheck disable=SC2086
	post -f path --order send_beacon=hear_beacon --last 50 node1 node2 node3 traced/node >last.out 2>last.err
	is "--last: the end of the timeline" "$(tail -n 50 path.out)" "$(cat last.out)"

	post -f path --order hear_value_2=send_value_2 --order send_value_2=hear_value_2 \
		node1 node2 traced/node >wrong.out 2>wrong.err
	is "calls that do not belong together: exit status" $? 1
	is "one line says so" "$(grep -c 'node[12]: --order: nodes wait for each other: no order has call 1 of [hs]e[an][rd]_value_2' wrong.err)" 1
	is "all is shown all the same" "$(wc -l <wrong.out)" "$(grep -vc ^node3 path.out)"
	post -f path --order send_value_3=hear_value_3 node2 traced/node >wrong.out 2>wrong.err
	is "a node alone: exit status" $? 1
	ok "a node alone: its messages come from nowhere" grep -q 'call 1 of hear_value_3 is one more than the others have made of send_value_3' \
		wrong.err
	post -f path --order send_value=hear_value_2 node1 node2 node3 traced/node >wrong.out 2>wrong.err
	is "no such function: exit status" $? 1
	ok "no such function: it says what may have been meant" grep -q 'no call of send_value,.*send_value_2' wrong.err
	post -f path --order 'send_value_2(1)=hear_value_2' node1 traced/node >wrong.out 2>wrong.err
	is "arguments are not there" "$? $(cat wrong.err)" \
		"2 litifut-post: --order takes SEND=RECEIVE, names of functions, not send_value_2(1)=hear_value_2; try --help"

	whole_nodes

	export LITIFUT_MODE=units LITIFUT_UNITS='send_*,hear_*,tick'
	rm -rf traced plain
	link node ../node.c
	run_nodes 600 0 traced/node 1 2 3
	# shellcheck disable=SC2086
	post -f units $all_calls --function 'send_*,hear_*' -o units.out node1 node2 node3 traced/node
	unfolded <units.out >units.calls
	ok "units: frames are sent before they are received" shown_in_order units.calls all
	run_nodes 600 8 traced/node 1 2 3
	# shellcheck disable=SC2086
	post -f units $all_calls --function 'send_*,hear_*' -o units.out node1 node2 node3 traced/node 2>units.err
	ok "units: lost messages are said" losses_are_said units.err
	ok "units: a column for the node" grep -q '^node2	<hear_value_3> start' units.out
	unset LITIFUT_UNITS
}

for_targets behaviour
