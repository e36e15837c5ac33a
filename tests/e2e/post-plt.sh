#!/bin/sh
# A call through a PLT entry or a lazy stub is a call of the function behind it: that of the
# library, or of what interposes it. What can't be known is marked with a '?'. --plt shows
# the entries. Either way the events are the executed calls.
. "$(dirname "$0")/../lib.sh"
few_targets armhf mipsel

# callees FILE...: what the functions of the test call, each once
callees()
{
	# shellcheck disable=SC2086
	"$BUILD/bin/litifut-post" -q -f tsv $view data "$@" 2>post.err |
		awk -F '\t' '$6 ~ /^(main|area)$/ { print $6, $10, $12 }' |
		LC_ALL=C sort | uniq -c | awk '{ printf "%s %s %s %s;", $1, $2, $3, $4 }'
}

behaviour()
{
	cat >shape.c <<-'END_C'
		__attribute__((noipa)) int helper(int x) { return x + 1; }
		int area(int x) { return helper(x) * 2; }
		__attribute__((noipa)) int old_name(int x) { return x + 3; }
		__attribute__((noipa)) int new_name(int x) { return x + 4; }
		__asm__(".symver old_name, versioned@V1");
		__asm__(".symver new_name, versioned@@V2");
	END_C
	echo 'V1 { global: versioned; }; V2 { global: versioned; area; helper; local: *; } V1;' >versions
	cat >other.c <<-'END_C'
		int helper(int x) { return x + 51; }
	END_C
	cat >main.c <<-'END_C'
		int area(int), versioned(int);
		int main(void)
		{
			int sum = 0;
			for (int i = 0; i < 5; i++)
				sum += area(i) + versioned(i);
			return sum & 127;
		}
	END_C
	mkdir -p traced
	link libshape.so -fPIC -shared ../shape.c -Wl,--version-script=../versions || return
	link libother.so -fPIC -shared ../other.c || return
	link program ../main.c -L. -lshape || return
	same_run program
	events_equal_calls program
	# MIPS: an indirect call, of which only the first goes through a lazy stub
	case $target in
	mips*)
		joined="5 area helper ;5 main area plt;5 main versioned plt?;"
		apart="5 area helper ;5 main area@plt plt;5 main versioned@plt plt;"
		twice=
		;;
	*)
		joined="5 area helper plt;5 main area plt;5 main versioned plt?;"
		apart="5 area helper@plt plt;5 main area@plt plt;5 main versioned@plt plt;"
		twice="plt?"
		;;
	esac
	view=
	is "entries are one with their functions" "$(callees traced/program traced/libshape.so)" \
		"$joined"
	view=--plt
	is "--plt shows the entries" "$(callees traced/program traced/libshape.so)" \
		"$apart"
	view=
	is "without the library's file the entry is the callee" "$(
		view=--no-maps-paths
		callees traced/program | grep -o 'main area@[^;]*'
	)" "main area@plt plt"
	is "a function has one row" "$("$BUILD/bin/litifut-post" -q -f report data traced/program \
		traced/libshape.so 2>post.err | awk '$6 ~ /^(area|helper)(@plt)?$/ { print $1, $3, $6 }' |
		sort -k 3)" "$(printf '5 5 area\n5 0 helper')"

	# the program itself is linked to the library that interposes: it comes first
	link program ../main.c -L. -lother -lshape -Wl,--no-as-needed -lother || return
	same_run program
	is "a name that two libraries define is marked as a guess" "$(
		callees traced/program traced/libshape.so traced/libother.so | grep -o 'area helper [^;]*'
	)" "area helper $twice"
}

for_targets behaviour
