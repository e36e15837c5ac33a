#!/bin/sh
# What a call and its return cost with LITIFUT_MODE=spans and table, in executed guest instructions, as
# call_cost.sh has it. The clock is that of the tests, which takes an instruction more at each event
# than the counter of the CPU does.
#
#   bench/table_cost.sh [TARGET...]       default: armhf armhf-arm mipsel
. "$(dirname "$0")/lib.sh"

echo "| program | CPU | calls | spans | table | bytes of the table's file |"
echo "|---|---|---:|---:|---:|---:|"
[ $# != 0 ] || set -- armhf armhf-arm mipsel
for name; do
	use_target "$name"
	for each in ${BENCH_PROGRAMS:-lua bzip2 sqlite3}; do
		use_workload "$each"
		measure plain none || continue
		plain=$instructions
		measure table all || continue
		calls=$events table_bytes=$trace_bytes
		table=$(per_call "$instructions" "$plain" "$calls")
		measure spans raw || continue # its events are calls and returns
		echo "| $each | $(target_title "$name") | $calls |" \
			"$(per_call "$instructions" "$plain" "$calls") | $table | $table_bytes |"
	done
done
