#!/bin/sh
# What LITIFUT_MODE=counts costs a call, in executed guest instructions, as call_cost.sh has it.
#
#   bench/counts_cost.sh [TARGET...]      default: armhf armhf-arm armel mipsel
. "$(dirname "$0")/lib.sh"

echo "| program | CPU | calls | instructions a call | bytes of the file |"
echo "|---|---|---:|---:|---:|"
[ $# != 0 ] || set -- armhf armhf-arm armel mipsel
for name; do
	use_target "$name"
	for each in ${BENCH_PROGRAMS:-lua bzip2}; do
		use_workload "$each"
		measure plain none || continue
		plain=$instructions
		measure counters all || continue
		echo "| $each | $(target_title "$name") | $events |" \
			"$(per_call "$instructions" "$plain" "$events") | $trace_bytes |"
	done
done
