#!/bin/sh
# Figure 3 of the paper: a run with bulk writing and without, over the untraced
# one: executed instructions, and processor time with the kernel's part, which
# instructions do not show.
. "$(dirname "$0")/lib.sh"

echo "| workload | CPU | engine | no bulk, instructions | bulk, instructions | no bulk, time | bulk, time |"
echo "|---|---|---|---:|---:|---:|---:|"
for name in $bench_targets; do
	use_target "$name"
	for each in $bench_workloads; do
		use_workload "$each"
		measure plain none || continue
		plain=$instructions plain_time=$(seconds plain none)
		for engine in $(engines); do
			measure "$engine" all || continue
			bulk=$instructions bulk_time=$(seconds "$engine" all)
			measure "$engine" nobulk || continue
			echo "| $(title "$each") | $(target_title "$name") | $engine |" \
				"$(ratio "$instructions" "$plain") | $(ratio "$bulk" "$plain") |" \
				"$(ratio "$(seconds "$engine" nobulk)" "$plain_time") |" \
				"$(ratio "$bulk_time" "$plain_time") |"
		done
	done
done
