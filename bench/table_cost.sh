#!/bin/sh
# What a call and its return cost with LITIFUT_MODE=spans and table, in executed guest instructions, as
# call_cost.sh has it. The clock is that of the tests, which takes an instruction more at each event
# than the counter of an ARM CPU does, two more on T32 and A32.
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
		measure spans raw || continue
		spans=$(per_call "$instructions" "$plain" "$events")
		measure table all || continue
		echo "| $each | $(target_title "$name") | $events | $spans |" \
			"$(per_call "$instructions" "$plain" "$events") | $trace_bytes |"
	done
done
