#!/bin/sh
# What a traced call costs, in executed guest instructions: (traced - plain) /
# calls recorded, on real programs built by their own build systems. The counts
# are exact and the same on every machine.
#
#   bench/call_cost.sh [TARGET...]        default: armhf armhf-arm mipsel
. "$(dirname "$0")/lib.sh"

echo "| program | CPU | engine | calls | every call | as it is | with time | each once (dedup) | no bulk | bytes a call | as it is |"
echo "|---|---|---|---:|---:|---:|---:|---:|---:|---:|---:|"
[ $# != 0 ] || set -- armhf armhf-arm mipsel
for name; do
	use_target "$name"
	for each in ${BENCH_PROGRAMS:-lua bzip2 sqlite3}; do
		use_workload "$each"
		measure plain none || continue
		plain=$instructions
		for engine in $(engines); do
			measure "$engine" all || continue
			calls=$events bytes=$trace_bytes costs=
			for mode in all raw time dedup nobulk; do
				measure "$engine" $mode || instructions=
				[ $mode != raw ] || raw_bytes=$trace_bytes
				costs="$costs ${instructions:+$(per_call "$instructions" "$plain" "$calls")} |"
			done
			echo "| $each | $(target_title "$name") | $engine | $calls |$costs" \
				"$(ratio "$bytes" "$calls") | $(ratio "$raw_bytes" "$calls") |"
		done
	done
done
