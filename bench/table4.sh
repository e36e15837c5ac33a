#!/bin/sh
# Table IV of the paper: the size of the trace, with and without de-duplication.
. "$(dirname "$0")/lib.sh"

echo "| workload | CPU | engine | calls | trace, bytes | a call | de-duplicated, bytes |"
echo "|---|---|---|---:|---:|---:|---:|"
for name in $bench_targets; do
	use_target "$name"
	for each in $bench_workloads; do
		use_workload "$each"
		for engine in $(engines); do
			measure plain none || continue
			measure "$engine" all || continue
			line="| $(title "$each") | $(target_title "$name") | $engine | $events | $trace_bytes"
			line="$line | $(ratio "$trace_bytes" "$events")"
			measure "$engine" dedup && echo "$line | $trace_bytes |"
		done
	done
done
