#!/bin/sh
# `make CPUS=...` builds the tracers of these CPUs alone, without a compiler of another, and they are the
# same bytes as with all others beside them. A name that is not one of a CPU is refused.
. "$(dirname "$0")/../lib.sh"

# tracers CPU...: what is built, in the folder lib/litifut here
tracers()
{
	chosen=$*
	for other in arm armv7 mips mipsel; do
		case " ${chosen} " in
		*" ${other%v7} "*) ;;
		*) set -- "$@" "TRACER_TOOL_$other=none-" ;;
		esac
	done
	case " $chosen " in
	*" cortex-m "*) ;;
	*) set -- "$@" FIRMWARE_TOOL=none- ;;
	esac
	while [ $# -gt 0 ] && [ "${1#*=}" = "$1" ]; do
		shift
	done
	rm -rf out
	make -s -C "$root" BUILD="$(pwd)/out" PROGRAMS= CPUS="$chosen" "$@" all
}

# has GLOB...: these are there, as in the build of all, and nothing else
has()
{
	for glob; do
		# shellcheck disable=SC2086
		(cd "$BUILD/lib/litifut" && ls $glob)
	done | sort -u >expected
	(cd out/lib/litifut && ls) | sort >found
	cmp expected found || return
	while read -r file; do
		cmp "out/lib/litifut/$file" "$BUILD/lib/litifut/$file" || return
	done <expected
}

behaviour()
{
	ok "one CPU" tracers mipsel
	ok "has its tracer and no other" has '*-mipsel.o'
	ok "two" tracers arm cortex-m
	ok "have theirs" has '*-arm.o' '*-armv7.o' 'firmware-v*'
	ok "another name is refused" sh -c "! make -s -C '$root' BUILD='$(pwd)/out' CPUS=x86 all 2>err && grep 'CPUS: x86: not one of' err"
}

TARGETS=armhf for_targets behaviour
