#!/bin/sh
# LITIFUT_DB: what the host must know of call sites is at the end of the file, or
# in one of its own beside it, and is found in both, by name and by build-id.
. "$(dirname "$0")/../lib.sh"
few_targets armhf mipsel

source_code()
{
	cat >main.c <<-'END'
		#include <stdio.h>
		__attribute__((noipa)) int leaf(int x) { return x + 1; }
		__attribute__((noipa)) int middle(int x) { return leaf(x * 3); }
		int main(int argc, char **argv)
		{
			int (*volatile other)(int) = leaf;
			printf("%d %s\n", middle(argc) + leaf(argc) + other(argc), argv[1] ? argv[1] : "");
			return 3;
		}
	END
}

# link_with PLACE ARGUMENTS...: what the link had to say is in traced.log
link_with()
{
	rm -rf traced
	mkdir traced
	# shellcheck disable=SC2034
	(cd traced && front="env LITIFUT_ENGINE=${engine:-db} LITIFUT_DB=$1 $BUILD/bin/litifut build -q" &&
		shift && compiler -o program ../main.c "$@") >traced.log 2>&1
}

# calls FILE...: those of a run, with their sites, without the number of the process
calls()
{
	rm -rf data
	guest_environment="LITIFUT_DIR=$(pwd)/data" run traced program
	"$BUILD/bin/litifut-post" -f tsv -o events.tsv data/trace data/maps "$@" 2>post.log ||
		grep -q 'no symbol table' post.log || return
	sed 's/^[0-9]*\t[0-9]*\t//' events.tsv
}

sites()
{
	"$BUILD/bin/litifut" info --sites "$1" | grep 0x
}

list_bytes()
{
	readelf -SW "$1" | sed -n 's/.*\.litifut\.sites *PROGBITS *[0-9a-f]* [0-9a-f]* \([0-9a-f]*\).*/\1/p'
}

behaviour()
{
	source_code
	mkdir -p plain
	compiler -o plain/program main.c
	ok "loaded: links" link_with loaded
	is "loaded: nothing to warn of" "$(cat traced.log)" ""
	same_run program
	calls traced/program >loaded.calls
	sites traced/program >loaded.sites
	is "each list has a site of each kind" "$(grep -c ' tail' loaded.sites | sed 's/[1-9][0-9]*/some/')" some

	export LITIFUT_STRICT=1
	ok "section: links, also where a link that is not as it was asked for is an error" link_with section
	unset LITIFUT_STRICT
	is "section: one line says that the db engine needs it loaded" \
		"$(grep -c 'LITIFUT_DB.*db engine' traced.log) $(grep -c . traced.log)" "1 1"
	calls traced/program >section.calls
	ok "section: the same calls" diff loaded.calls section.calls

	ok "file: links" link_with file
	is "file: one line says that the db engine needs it loaded" \
		"$(grep -c 'LITIFUT_DB.*db engine' traced.log) $(grep -c . traced.log)" "1 1"
	is "file: it stands beside the program, and nothing else" "$(cd traced && echo *)" \
		"program program.litifut.db"
	is "file: the list in the program is empty" "$(list_bytes traced/program)" 000010
	same_run program
	sites traced/program >file.sites
	ok "file: info finds the same sites" diff loaded.sites file.sites
	calls traced/program >file.calls
	ok "file: the same calls" diff loaded.calls file.calls
	mkdir -p apart
	mv traced/program.litifut.db apart/any-name
	calls traced/program apart/any-name >file.calls
	ok "file: the same calls when it is named" diff loaded.calls file.calls
	is "file: info does not take one that is not there" "$(sites traced/program)" ""
	"$BUILD/bin/litifut" info traced/program >without
	is "file: without it info says how many there are" \
		"$(sed -n 's/.*sites patched *//p' without)" "$(grep -c ' patched' loaded.sites) of $(wc -l <loaded.sites)"
	is "file: and that it is missing" "$(grep -c 'list of sites is not in the file' without)" 1

	ok "a build with another file" link_with file -DOTHER -Wl,--build-id=0x0102030405060708
	cp apart/any-name traced/program.litifut.db
	is "file: info does not take that of another build" "$(sites traced/program)" ""

	ok "file: links without a build-id" link_with file -Wl,--build-id=none
	# nothing is at the place where it was
	is "file: info finds as many sites" "$(sites traced/program | wc -l)" "$(wc -l <loaded.sites)"
	calls traced/program | cut -f 4,8,9 >file.calls
	ok "file: the same calls" sh -c 'cut -f 4,8,9 loaded.calls | diff - file.calls'

	ok "file: links with -s" link_with file -s
	calls traced/program >file.calls
	is "-s: all sites are known" "$(awk -F '\t' 'NR > 1 && $9 == "tail"' file.calls | wc -l)" \
		"$(awk -F '\t' 'NR > 1 && $9 == "tail"' loaded.calls | wc -l)"

	# the DB of a program with thunks has some sites, and is not a list
	engine=thunk
	ok "file: links with thunks" link_with file
	engine=
	same_run program
	rm traced/program.litifut.db
	"$BUILD/bin/litifut-post" -q data traced/program >unknown.txt 2>&1
	is "file: unknown callees have their reason" \
		"$(grep -q 'has no list of call sites' unknown.txt && echo told)" \
		"$(grep -q -- '-> ? ' unknown.txt && echo told)"

	ok "another word" link_with elsewhere
	is "another word is warned of, and ignored" "$(grep -c 'LITIFUT_DB.*elsewhere' traced.log)" 1
	ok "litifut-rewrite refuses a file that can't be written" \
		sh -c "! '$BUILD/bin/litifut-rewrite' --sites-file=/no/such/folder/x traced/program"
}

for_targets behaviour
