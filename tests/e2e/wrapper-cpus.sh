#!/bin/sh
# `make CPUS=...` builds the tracers of these CPUs alone, without a compiler of another, and they are the
# same bytes as with all others beside them, also by a compiler that is a script of Buildroot. A name that is not one of a CPU is refused.
. "$(dirname "$0")/../lib.sh"

# tracers CPU... [VARIABLE=VALUE]: what is built, in the folder lib/litifut here
tracers()
{
	chosen=
	for word; do
		case $word in
		*=*) ;;
		*) chosen="$chosen $word" ;;
		esac
	done
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

# A compiler as Buildroot's, which adds its CPU where the options of a command have none.
adding_compiler()
{
	for name in ld objcopy nm; do
		ln -s "$(command -v mipsel-linux-gnu-$name)" "adding-$name" || return
	done
	cat >adding-gcc <<-'END'
		#!/bin/sh
		case " $* " in
		*" -march="*) ;;
		*) set -- -march=mips32r2 "$@" ;;
		esac
		exec mipsel-linux-gnu-gcc "$@"
	END
	chmod 755 adding-gcc
}

behaviour()
{
	ok "a compiler that adds its CPU" adding_compiler
	ok "one CPU" tracers mipsel "TRACER_TOOL_mipsel=$(pwd)/adding-"
	ok "has its tracer and no other" has '*-mipsel.o'
	ok "two" tracers arm cortex-m
	ok "have theirs" has '*-arm.o' '*-armv7.o' 'firmware-v*'
	ok "another name is refused" sh -c "! make -s -C '$root' BUILD='$(pwd)/out' CPUS=x86 all 2>err && grep 'CPUS: x86: not one of' err"
}

TARGETS=armhf for_targets behaviour
