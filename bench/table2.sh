#!/bin/sh
# Table II of the paper: what the workloads are made of.
. "$(dirname "$0")/lib.sh"

echo "| workload | CPU | file, bytes | functions | direct calls | indirect calls | tail calls |"
echo "|---|---|---:|---:|---:|---:|---:|"
for name in $bench_targets; do
	use_target "$name"
	for each in $bench_workloads; do
		use_workload "$each"
		build_way plain || continue
		build_way db || continue
		functions=$(readelf -sW "$tree/plain/$program" |
			awk '$4 == "FUNC" && $7 != "UND" && !seen[$2]++' | wc -l)
		"$BUILD/bin/litifut" info --sites "$tree/db/$program" >"$work/sites"
		awk -v title="$(title "$each")" -v target="$(target_title "$name")" \
			-v bytes="$(wc -c <"$tree/plain/$program")" -v functions="$functions" '
			/^0x/ { kinds[$2]++ }
			END { printf("| %s | %s | %d | %d | %d | %d | %d |\n", title, target, bytes, functions,
				kinds["direct"], kinds["indirect"], kinds["tail-direct"] + kinds["tail-indirect"]) }' \
			"$work/sites"
	done
done
