#!/bin/sh
# Which branches were executed, recorded by LITIFUT and by compilers. Each cell has executed
# instructions of the whole run and bytes of the file that are loaded, as factors of the same
# compiler's plain program, and the bytes that were recorded.
. "$(dirname "$0")/lib.sh"

cell()
{
	compared=plain
	case $1 in guard_*) compared=clang ;; esac
	if measure $compared none && plain=$instructions && measure "$1" all; then
		loaded=$(ratio "$(loaded_bytes "$tree/$1/$program")" "$(loaded_bytes "$tree/$compared/$program")")
		echo "$(ratio "$instructions" "$plain") / $loaded / $trace_bytes"
	else
		echo "does not run"
	fi
}

echo "| | LITIFUT_MODE=coverage | gcc --coverage | clang, flags | LITIFUT_MODE=paths | clang, in order |"
echo "|---|---|---|---|---|---|"
for each in ${BENCH_PROGRAMS:-lua bzip2}; do
	for name in armhf armhf-arm mipsel; do
		use_target "$name"
		use_workload "$each"
		row="| $each, $(target_title "$name") |"
		for tool in coverage gcov guard_flags paths guard_trace; do
			row="$row $(cell "$tool") |"
		done
		echo "$row"
	done
done
