#!/bin/sh
# ld.bfd, gold and lld, called by gcc and by clang.
. "$(dirname "$0")/../lib.sh"
few_targets armhf armel mips
[ "$TARGETS" = "$all_targets" ] && TARGETS="armhf armel mipsel mips"

# clang needs to be told where Debian keeps the other toolchain.
clang_for_target()
{
	case $target in
	armhf) echo "clang --target=arm-linux-gnueabihf" ;;
	armel) echo "clang --target=arm-linux-gnueabi" ;;
	*) echo "clang --target=$triplet" ;;
	esac
}

# What lld says of the sections that it removes.
removed()
{
	mkdir -p gc
	ln -sf "$(command -v "$triplet-ld.lld" || command -v ld.lld)" gc/ld.lld
	words="-fuse-ld=lld -Wl,--gc-sections,--print-gc-sections -o program ../main.c"
	# shellcheck disable=SC2086
	(cd gc && COMPILER_PATH=$(pwd) compiler $words) >gc.plain 2>&1
	# shellcheck disable=SC2086
	(cd gc && front="$BUILD/bin/litifut build -q" COMPILER_PATH=$(pwd) compiler $words) >gc.traced 2>&1
	ok "lld --print-gc-sections: there are some" grep -q '^removing unused section' gc.plain
	sed 's|/tmp/cc[A-Za-z0-9]*|/tmp/cc|' gc.plain >gc.words
	sed 's|/tmp/cc[A-Za-z0-9]*|/tmp/cc|' gc.traced | diff gc.words - >gc.diff
	ok "lld --print-gc-sections: the same words" test ! -s gc.diff
}

# --reproduce, which only lld has: its archive links the program again, before it
# is rewritten, and so without tracing.
reproduced()
{
	rm -rf again again.tar
	mkdir -p again
	ln -s "$(command -v "$triplet-ld.lld" || command -v ld.lld)" again/ld.lld
	(cd again && front="$BUILD/bin/litifut build -q" COMPILER_PATH=$(pwd) \
		compiler -fuse-ld=lld -Wl,--reproduce=../again.tar -o program ../main.c) >again.log 2>&1
	ok "--reproduce: rewritten, without a word" equal "$(own_words again.log)" ""
	ok "--reproduce: the archive is there" tar -C again -xf again.tar
	ok "--reproduce: it links" sh -c "cd again/again && ../ld.lld @response.txt -o ../../plain/again"
	cp plain/program traced/again
	same_run again
	rm -f traced/again
}

behaviour()
{
	cat >main.c <<-'END'
		#include <stdio.h>
		__attribute__((noinline)) int twice(int x) { return printf("%d\n", x) + x; }
		/* in T32 code a branch, for which lld makes a thunk: the PLT is A32 code */
		__attribute__((noinline)) int say(const char *text) { return puts(text); }
		int main(void) { say("words"); return twice(3) + twice(4); }
	END
	# What configure finds out by trying must be the same.
	for linker in bfd gold lld; do
		compiler -fuse-ld=$linker -o tried main.c 2>/dev/null
		plain_status=$?
		front="$BUILD/bin/litifut build -q" compiler -fuse-ld=$linker -o tried main.c 2>/dev/null
		is "-fuse-ld=$linker: as without the wrapper" $? $plain_status
	done
	for linker in bfd gold lld; do
		rm -rf plain traced
		if [ $linker != bfd ] && ! command -v "$triplet-ld.$linker" >/dev/null && ! command -v ld.$linker >/dev/null; then
			skip "$linker" "not installed"
			continue
		fi
		mkdir -p plain traced
		path=$(mktemp -d)
		ln -s "$(command -v "$triplet-ld.$linker" || command -v ld.$linker)" "$path/ld.$linker"
		if ! (cd plain && COMPILER_PATH=$path compiler -fuse-ld=$linker -o program ../main.c) \
			>plain.log 2>&1 || { run plain program && [ "$(head -n 1 plain.out)" != words ]; }; then
			rm -r "$path"
			skip "$linker" "it makes no working program for this target"
			continue
		fi
		folding=
		[ $linker = bfd ] || folding="-ffunction-sections -Wl,--icf=all,--gc-sections"
		# shellcheck disable=SC2086
		(cd traced && front="$BUILD/bin/litifut build -q" COMPILER_PATH=$path \
			compiler -fuse-ld=$linker $folding -o program ../main.c) >traced.log 2>&1
		rm -r "$path"
		ok "$linker: rewritten, and nothing to warn of" rewritten traced/program
		[ $linker != lld ] || reproduced
		[ $linker != lld ] || removed
		same_run program
		events_equal_calls program
	done
	if ! command -v clang >/dev/null; then
		skip "clang" "not installed"
		return
	fi
	rm -rf plain traced
	mkdir -p plain traced
	# shellcheck disable=SC2046
	(cd plain && $(clang_for_target) -O1 -o program ../main.c) >plain.log 2>&1 || {
		skip "clang" "it makes no program for this target"
		return
	}
	# shellcheck disable=SC2046
	(cd traced && "$BUILD/bin/litifut" build -q $(clang_for_target) -O1 -o program ../main.c) \
		>traced.log 2>&1
	ok "clang: rewritten, and nothing to warn of" rewritten traced/program
	same_run program
	events_equal_calls program
}

for_targets behaviour
