#!/bin/sh
# How much longer a link takes with LITIFUT=1: the linker by itself and through
# the wrapper, in turn, on large programs made of other people's objects: all of LLVM's
# static libraries from Debian (all-), what a compiler for x86 takes of them (some-), and
# those of OpenSSL, SQLite and libgit2, in C (small-). And how fast the rewriter alone is.
#
#   bench/link_delay.sh [PROGRAM...]      default: all of them
#
# RUNS=5 pairs of runs. Everything is fetched into build/, nothing is installed.
root=$(cd "$(dirname "$0")/.." && pwd)
. "$root/tests/lib.sh"
export BUILD

work=$BUILD/bench/link_delay
runs=${RUNS:-5}
programs=${*:-all-arm some-arm some-mips small-arm small-mips}

# What a compiler for x86 needs of LLVM: a third of all of it.
write_source()
{
	cat <<-'END'
		void LLVMInitializeX86TargetInfo(void), LLVMInitializeX86Target(void);
		void LLVMInitializeX86TargetMC(void), LLVMInitializeX86AsmPrinter(void);
		void LLVMInitializeX86AsmParser(void);
		void *LLVMContextCreate(void);
		int LLVMParseIRInContext(void *, void *, void *, void *);
		int main(int count, char **words)
		{
			(void)words;
			if (count < 0)
				return 0;
			LLVMInitializeX86TargetInfo();
			LLVMInitializeX86Target();
			LLVMInitializeX86TargetMC();
			LLVMInitializeX86AsmPrinter();
			LLVMInitializeX86AsmParser();
			return count > 1 && LLVMParseIRInContext(LLVMContextCreate(), 0, 0, 0);
		}
	END
}

# archives PACKAGE:NAME...: the paths of libNAME.a in Debian's packages
archives()
{
	for pair; do
		folder=$("$root/tests/device/fetch-package" "$architecture" "${pair%%:*}") ||
			return
		find "$folder" -name "lib${pair#*:}.a" | sort
	done
}

# prepare PROGRAM: the linker's own command line in $arguments, as g++ makes it,
# with OUTPUT for the output; in $linker the linker.
prepare()
{
	case $1 in
	*-arm) triplet=arm-linux-gnueabihf architecture=armhf ;;
	*-mips) triplet=mipsel-linux-gnu architecture=mipsel ;;
	esac
	case $1 in
	small-*) libraries=$(archives libssl-dev:crypto libsqlite3-dev:sqlite3 libgit2-dev:git2) ;;
	*) libraries=$(archives llvm-14-dev:'LLVM*') ;;
	esac || return
	case $1 in
	all-* | small-*) begin=-Wl,--whole-archive end=-Wl,--no-whole-archive ;;
	some-*) begin=-Wl,--start-group end=-Wl,--end-group ;;
	esac
	# libffi and others that are asked for are not in the package
	objects=$work/$1.o
	case $1 in
	small-*) echo 'int main(void) { return 0; }' ;;
	*) write_source ;;
	esac | "$triplet-gcc" -x c -c -o "$objects" - || return
	# shellcheck disable=SC2086
	arguments=$("$triplet-g++" -### -o OUTPUT "$objects" "$begin" \
		$libraries "$end" -lpthread -ldl \
		-Wl,--unresolved-symbols=ignore-all 2>&1 | grep '/collect2 ' |
		sed 's/^ *[^ ]*collect2//; s/"*-plugin-opt=-fresolution=[^ ]*//; s/"//g')
	linker=$(command -v "$triplet-ld")
}

# measure PROGRAM: one row of the table
measure()
{
	prepare "$1" || return
	mkdir -p "$work/shims"
	ln -sf "$BUILD/bin/litifut-ld" "$work/shims/$triplet-ld"
	plain="$linker $(printf '%s' "$arguments" | sed "s|OUTPUT|$work/$1.plain|")"
	traced="COMPILER_PATH=$(dirname "$linker") LITIFUT=1 $work/shims/$triplet-ld $(
		printf '%s' "$arguments" | sed "s|OUTPUT|$work/$1.traced|"
	)"
	links=$(LITIFUT_VERBOSE=1 sh -c "$traced" 2>&1 | grep -c '^litifut-ld: run:')
	times=$("$root/bench/paired_runs" "$runs" "$plain" "$traced") || return
	sites=$("$BUILD/bin/litifut" info --json "$work/$1.traced" |
		sed 's/.*"patched": *\([0-9]*\).*/\1/; q')
	text=$(text_bytes "$work/$1.traced")
	printf '%s\t%s\t%s\t%s\t%s\n' "$1" "$text" "$sites" "$links" "$times" | awk -F '\t' '{
		printf "| %s | %.1f | %d | %d | %s | %s | %s | %s | %s | %s | %s |\n",
			$1, $2 / 1e6, $3, $4, round($5), round($6), $7, round($9), round($10), $11, $13 }
		function round(seconds) { return sprintf("%.2f", seconds) }'
	rewriter_speed "$1"
}

text_bytes()
{
	"$triplet-size" -A "$1" | awk '$1 == ".text" { print $2 }'
}

# The rewriter alone, on the same image before it is rewritten: the wrapper keeps
# none, so it is linked by hand with what the wrapper would give the linker.
rewriter_speed()
{
	keeper=$work/keeper
	mkdir -p "$keeper"
	cat >"$keeper/$triplet-ld" <<-END
		#!/bin/sh
		$linker "\$@" || exit
		while [ \$# -gt 1 ]; do
			[ "\$1" = -o ] && cp "\$2" "$work/$1.image"
			shift
		done
	END
	chmod +x "$keeper/$triplet-ld"
	sh -c "COMPILER_PATH=$keeper LITIFUT=1 $work/shims/$triplet-ld $(
		printf '%s' "$arguments" | sed "s|OUTPUT|$work/$1.traced|"
	)" || return
	"$root/bench/paired_runs" "$runs" true \
		"$BUILD/bin/litifut-rewrite --engine=thunk $work/$1.copy" \
		"cp $work/$1.image $work/$1.copy" |
		awk -F '\t' -v name="$1" -v text="$text" '{
			printf "| %s | %.0f | %.0f | %d |\n", name, text / 1e6 / ($2 - $1),
				text / 1e6 / ($6 - $5), $9 }' >>"$work/speeds"
}

mkdir -p "$work"
: >"$work/speeds"
cat <<'END'
| program | MB of code | calls traced | links | plain, s CPU | traced, s CPU | ratio | plain, s | traced, s | ratio | MB of memory |
|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|
END
for program in $programs; do
	measure "$program" || echo "link_delay: $program could not be measured" >&2
done
echo
echo "the rewriter alone: MB of code a second, by CPU time and by elapsed time, MB of memory"
echo
echo "| program | by CPU time | elapsed | MB of memory |"
echo "|---|---:|---:|---:|"
cat "$work/speeds"
