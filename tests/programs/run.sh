#!/bin/sh
# Programs of other projects, built by their own unmodified build systems, plain
# and traced: both print the same, and the events are the calls that executed.
#
#   tests/programs/run.sh RECIPE...       tests/programs/RECIPE.recipe, all targets
#   LINKAGE=pie|nopie|static              how executables are linked; pie if not said
#
# A recipe sets `package` (Debian source package), `modules` (the linked files
# that are compared), `outputs` (what a link makes; removed before the traced
# build, so that only the links are done again), and the functions build and
# workload, which run in the source tree; in a workload `on_target PROGRAM
# ARGUMENTS...` runs a program. `library_path` is where its libraries are;
# `varies=true` says that the plain and the traced run may well make other calls
# (threads, addresses in hashes), so that only the traced run is its own measure;
# `links_compile=true`, that its links take long, since they compile as well;
# `linkages` are the ways that it can be linked, all three if not said. What
# suite.sh needs of a recipe stands there. Each target adds a line to
# build/programs/table/, which `make test-long` prints, and lists the sites that were
# left in build/programs/left/.
. "$(dirname "$0")/trees.sh"

table=$BUILD/programs/table
left_sites=$BUILD/programs/left
mkdir -p "$table" "$left_sites"

# Runs the workload in the tree FOLDER; its output goes to FOLDER.out.
run_workload()
{
	(cd "$1" && workload) >"$1.out" 2>&1
}

# relink HOW: does the links of plain/ again, and keeps that tree as HOW/; in a folder
# of the same name, which is in debug information and in what CMake wrote.
relink()
{
	mv plain kept
	cp -a kept plain
	# shellcheck disable=SC2086
	(cd plain && rm -f $outputs)
	build_tree plain "$1"
	relink_status=$?
	mv plain "$1"
	mv plain.log "$1.log"
	mv kept plain
	return $relink_status
}

same_bytes()
{
	for same_module in $modules; do
		cmp "plain/$same_module" "wrapped/$same_module" || return
	done
}

# The executables of the tree FOLDER are what LINKAGE says: libtool, for one, takes
# -static for itself.
linked_as_said()
{
	for linked_module in $modules; do
		case $linked_module in
		*.so*) continue ;;
		esac
		echo "$linked_module"
		readelf -hlW "$1/$linked_module" >linked || return
		case $LINKAGE in
		pie) grep -q 'Type:.*DYN' linked && grep -q INTERP linked ;;
		nopie) grep -q 'Type:.*EXEC' linked && grep -q INTERP linked ;;
		static) ! grep -q INTERP linked ;;
		esac || return
	done
}

program()
{
	rm -f "$table/$name.$LINKAGE.$target"
	cp -a "$source_folder" plain
	if ! ok "$name: builds" build_tree plain; then
		tail -n 5 plain.log | sed 's/^/# /' >&2
		return
	fi
	ok "$name: is linked as $LINKAGE" linked_as_said plain || return
	if [ ! -x "$BUILD/bin/litifut" ]; then
		skip "$name: traced" "no litifut in $BUILD/bin"
		return
	fi
	if [ -z "$links_compile" ] || [ "$LINKAGE" = pie ]; then
		relink wrapped
		ok "$name: the same bytes with LITIFUT unset" same_bytes
		rm -rf wrapped
	fi
	if ! ok "$name: builds under litifut build" relink traced; then
		tail -n 5 traced.log | sed 's/^/# /' >&2
		return
	fi
	ok "$name: the wrapper has nothing to warn of" lacks_our_words traced.log
	files=
	plain_files=
	for module in $modules; do
		files="$files traced/$module"
		plain_files="$plain_files plain/$module"
	done

	# the same for both, because shells and awk read all of the environment
	guest_environment="LITIFUT_DIR=$(pwd)/data"
	qemu_options="-plugin $BUILD/tests/oracle.so,calls=$(pwd)/plain.oracle"
	run_workload plain
	# shellcheck disable=SC2086
	python3 "$oracle_script" ranges $files >through
	qemu_options="-plugin $BUILD/tests/oracle.so,calls=$(pwd)/traced.oracle,through=$(pwd)/through"
	run_workload traced
	qemu_options=
	guest_environment=
	ok "$name: prints the same" diff plain.out traced.out
	# shellcheck disable=SC2086
	ok "$name: litifut-post reads the trace" "$BUILD/bin/litifut-post" -f tsv --plt -o events.tsv \
		data/trace data/maps $files
	# shellcheck disable=SC2086
	ok "$name: events are the executed calls" \
		keep_counts python3 "$oracle_script" compare traced.oracle events.tsv $files
	grep -q '^executed' counts || return
	if [ -z "$varies" ]; then
		# shellcheck disable=SC2086
		ok "$name: events are the calls of the plain program" \
			python3 "$oracle_script" same plain.oracle events.tsv $files -- $plain_files
	fi
	# shellcheck disable=SC2086
	"$BUILD/bin/litifut" info --skipped $files >"$left_sites/$name.$LINKAGE.$target"
	# shellcheck disable=SC2086
	printf '%-9s %-6s %-9s %-6s %s; %s\n' "$name" "$LINKAGE" "$target" "$(engines $files)" \
		"$(python3 "$oracle_script" sites $files)" "$(head -n 1 counts)" | tee "$table/$name.$LINKAGE.$target" | sed 's/^/# /'
}

# The engine of these files; if not all have the same, both as a+b.
engines()
{
	"$BUILD/bin/litifut" info "$@" | awk '$1 == "engine" { print $2 }' | sort -u | paste -s -d +
}

keep_counts()
{
	"$@" >counts 2>&1
	keep_status=$?
	cat counts
	return $keep_status
}

programs()
{
	for_recipes program
}

names=$*
# shellcheck disable=SC2086
script=programs-$LINKAGE-$(together $names)
for_targets programs
