#!/bin/sh
# Two sensor nodes joined by a serial link, simulated together: each call site of the traced one is
# counted as often as it is executed, and all bundles arrive and are answered.
. "$(dirname "$0")/../lib.sh"

target=atmega1284p
folder=$BUILD/tests/e2e/$script
mkdir -p "$folder"

tasks()
{
	BUILD=$BUILD OUT=$folder/tasks "$root/bench/avr_tasks.sh" 8 "$@" >"$folder/table" &&
		cat "$folder/table" && [ "$(grep -c ' %' "$folder/table")" = $# ]
}

ok "bundles one way" tasks send
ok "bundles that are echoed" tasks echo
ok "bundles whose memory grows" tasks slow
echo "1..$test_count"
[ "$failed_count" = 0 ]
