#!/bin/sh
# Table III of the paper: bytes that tracing adds to the loaded program, buffers
# aside, next to -finstrument-functions.
. "$(dirname "$0")/lib.sh"

echo "| workload | CPU | plain | how | added | of it DB | for a call site | for a function | of source-level |"
echo "|---|---|---:|---|---:|---:|---:|---:|---:|"
for name in $bench_targets; do
	use_target "$name"
	for each in $bench_workloads; do
		use_workload "$each"
		build_way plain && build_way db || continue
		plain=$(loaded_bytes "$tree/plain/$program")
		source_level=0
		build_way source && source_level=$(($(loaded_bytes "$tree/source/$program") - plain))
		functions=$(readelf -sW "$tree/plain/$program" |
			awk '$4 == "FUNC" && $7 != "UND" && !seen[$2]++' | wc -l)
		for how in $(engines) source; do
			build_way "$how" || continue
			added=$(($(loaded_bytes "$tree/$how/$program") - plain))
			db=- sites=0 label="-finstrument-functions"
			if [ "$how" != source ]; then
				label="LITIFUT, $how"
				"$BUILD/bin/litifut" info "$tree/$how/$program" >"$work/info"
				db=$(awk '$1 == "DB" { print $2 }' "$work/info")
				sites=$(awk '$1 == "sites" && $2 == "patched" { print $3 }' "$work/info")
			fi
			echo "| $(title "$each") | $(target_title "$name") | $plain | $label | $added | $db |" \
				"$(ratio $added $sites 1) | $(ratio $added "$functions" 1) |" \
				"$(ratio $added $source_level) |"
		done
	done
done
