#!/bin/sh
# Programs of other projects, each built twice from its source as its authors say,
# configure and all: plain, and with `litifut build` in front. Both install the same
# files, and the program's own tests say the same of both.
#
#   tests/programs/suite.sh RECIPE...     tests/programs/RECIPE.recipe, four targets
#
# In addition to what run.sh needs, a recipe has the functions install_files (into
# $destination), suite_build (makes what the tests need), suite (runs them; its
# output is compared) and suite_filter (what of it may be, stdin to stdout), and
# says in `suite_says` what a line looks like that tells of success. Before the
# suite a script that runs the emulator is put in the place of each program of the target.
# What they said last is kept in build/programs/suites/.
. "$(dirname "$0")/trees.sh"

table=$BUILD/programs/suites
mkdir -p "$table"

is_program()
{
	readelf -hlW "$1" 2>/dev/null >header || return
	grep -q 'Machine:.*\(ARM\|MIPS\)' header && grep -q 'Type:.*EXEC\|INTERP' header
}

# In the tree that is the present folder.
emulate_programs()
{
	find . -type f -perm -100 | sort | while read -r program; do
		is_program "$program" || continue
		mv "$program" "$program.program"
		cat >"$program" <<-END
			#!/bin/sh
			export LITIFUT_DIR='$(pwd)/../data' LITIFUT_MAX_MB=1
			exec qemu-$cpu -0 "\$0" -L $sysroot -E LD_LIBRARY_PATH='$(pwd)/$library_path' \\
				'$(pwd)/$program.program' "\$@"
		END
		chmod 755 "$program"
	done
	rm -f header
}

installed_files()
{
	(cd "$1" && find . -printf '%y %m %p %l\n' | sort) | sed "s|$(pwd)/$1||"
}

run_suite()
{
	(
		cd "$1" || exit 1
		emulate_programs
		export triplet cpu root sysroot machine_flags LINKAGE
		timeout 3600 sh -uc "$defaults; . '$recipe'; suite" 2>&1
	) >"$1.all" </dev/null
	sed "s|$(pwd)/$1|TREE|g" "$1.all" | suite_filter >"$1.said"
}

own_tests()
{
	for tree in plain traced; do
		cp -a "$source_folder" $tree
		destination=$(pwd)/$tree.installed
		if ! ok "$name: builds, $tree" build_tree $tree $tree "build suite_build install_files"; then
			tail -n 5 $tree.log | sed 's/^/# /' >&2
			return
		fi
		installed_files $tree.installed >$tree.files
	done
	ok "$name: the wrapper has nothing to warn of" lacks_our_words traced.log
	# shellcheck disable=SC2046,SC2086
	ok "$name: is rewritten" are_rewritten $(printf 'traced/%s\n' $modules)
	ok "$name: installs the same files" diff plain.files traced.files
	ok "$name: what it installs is rewritten" all_are_rewritten traced.installed
	# side by side: most of them wait for one emulated program at a time
	run_suite plain &
	run_suite traced
	wait
	ok "$name: its tests pass" grep -a "$suite_says" traced.all
	ok "$name: its tests say the same when traced" diff -a plain.said traced.said
	printf '| %s | %s | %s | %s |\n' "$name" "$target" "$(wc -l <traced.files)" \
		"$(grep -a "$suite_says" traced.all | tail -n 1 |
			sed "s|$(pwd)/traced/||g; s/^[[:space:]]*//")" | tee "$table/$name.$target" |
		sed 's/^/# /'
	ok "$name: and were traced" test -n "$(find data/trace -name '*.trace' | head -n 1)"
}

own_tests_of_programs()
{
	for_recipes own_tests
}

TARGETS=${TARGETS:-armhf armel mipsel mips}
names=$*
# shellcheck disable=SC2086
script=suite-$(together $names)
for_targets own_tests_of_programs
