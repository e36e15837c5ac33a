#!/bin/sh
# Table III of the paper: bytes that tracing adds to the loaded program, buffers
# aside, next to -finstrument-functions. "Fixed" is what a program that
# does nothing has too, "growing" the rest, which calls and functions bring.
. "$(dirname "$0")/lib.sh"

# Bytes that a program which does nothing has more, made this way.
fixed_bytes()
{
	empty=$work/empty.$target
	echo 'int main(void) { return 0; }' >"$empty.c"
	case $1 in
	source) set -- "$triplet-gcc" -finstrument-functions "-Wl,$work/recorder.$target.o" ;;
	*) set -- env "LITIFUT_ENGINE=$1" "$BUILD/bin/litifut" build "$triplet-gcc" ;;
	esac
	# shellcheck disable=SC2031,SC2086
	"$triplet-gcc" $machine_flags -O2 -o "$empty.plain" "$empty.c" &&
		"$@" $machine_flags -O2 -o "$empty.traced" "$empty.c" &&
		echo $(($(loaded_bytes "$empty.traced") - $(loaded_bytes "$empty.plain")))
}

echo "| workload | CPU | plain | how | added | fixed | growing | of it DB | for a call site | for a function" \
	"| added, of source-level | growing, of source-level |"
echo "|---|---|---:|---|---:|---:|---:|---:|---:|---:|---:|---:|"
for name in $bench_targets; do
	use_target "$name"
	for each in $bench_workloads; do
		use_workload "$each"
		build_way plain || continue
		build_way db || continue
		plain=$(loaded_bytes "$tree/plain/$program")
		source_level=0 source_fixed=0
		build_way source && source_level=$(($(loaded_bytes "$tree/source/$program") - plain)) &&
			source_fixed=$(fixed_bytes source)
		functions=$(readelf -sW "$tree/plain/$program" |
			awk '$4 == "FUNC" && $7 != "UND" && !seen[$2]++' | wc -l)
		for how in $(engines) source; do
			build_way "$how" || continue
			added=$(($(loaded_bytes "$tree/$how/$program") - plain))
			db=- sites=0 label="-finstrument-functions" fixed=$source_fixed
			if [ "$how" != source ]; then
				label="LITIFUT, $how"
				fixed=$(fixed_bytes "$how")
				"$BUILD/bin/litifut" info "$tree/$how/$program" >"$work/info"
				db=$(awk '$1 == "DB" { print $2 }' "$work/info")
				sites=$(awk '$1 == "sites" && $2 == "patched" { print $3 }' "$work/info")
			fi
			growing=$((added - fixed))
			echo "| $(title "$each") | $(target_title "$name") | $plain | $label | $added | $fixed |" \
				"$growing | $db | $(ratio "$growing" "$sites" 1) | $(ratio "$growing" "$functions" 1) |" \
				"$(ratio $added $source_level) | $(ratio $growing $((source_level - source_fixed))) |"
		done
	done
done
