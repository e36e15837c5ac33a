#!/bin/sh
# Somebody else's programs, built by their own unmodified build systems, plain
# and traced: both print the same, and the events are the calls that executed.
#
#   tests/programs/run.sh RECIPE...       tests/programs/RECIPE.recipe, all targets
#
# A recipe sets `package` (Debian source package), `modules` (the linked files
# that are compared), `outputs` (what a link makes; removed before the traced
# build, so that only the links are done again), and the functions build and
# workload, which run in the source tree; in a workload `on_target PROGRAM
# ARGUMENTS...` runs a program. `library_path` is where its libraries are;
# `varies=true` says that the plain and the traced run may well make other calls
# (threads, addresses in hashes), so that only the traced run is its own measure. Each target adds a line to
# build/programs/table/, which `make test-long` prints.
. "$(dirname "$0")/../lib.sh"

oracle_script=$root/tests/oracle/oracle.py
table=$BUILD/programs/table
mkdir -p "$table"

on_target()
{
	on_target_program=$1
	shift
	# shellcheck disable=SC2086
	env -i $guest_environment timeout 600 "qemu-$cpu" -L "$sysroot" $qemu_options \
		-E LD_LIBRARY_PATH="$(pwd)/$library_path" "./$on_target_program" "$@"
}

# Runs the workload in the tree FOLDER; its output goes to FOLDER.out.
run_workload()
{
	(cd "$1" && workload) >"$1.out" 2>&1
}

# build_tree FOLDER [HOW]: builds plain; traced, with `litifut build` around it;
# or wrapped, with the same and LITIFUT unset. Without HOW as FOLDER is named.
build_tree()
{
	(
		cd "$1" || exit 1
		# a function is no command: say it to a shell of its own
		export triplet machine_flags root
		case ${2:-$1} in
		plain) sh -euc ". '$recipe'; build" ;;
		traced) "$BUILD/bin/litifut" build sh -euc ". '$recipe'; build" ;;
		wrapped) "$BUILD/bin/litifut" build env -u LITIFUT sh -euc ". '$recipe'; build" ;;
		esac
	) >"$1.log" 2>&1
}

# A copy of the plain tree where only the links are to be done again.
copy_without_outputs()
{
	cp -a plain "$1"
	# shellcheck disable=SC2086
	(cd "$1" && rm -f $outputs)
}

# Links again in plain/, now through the wrapper with LITIFUT unset; in the same
# folder, since debug information has its name.
build_again()
{
	mv plain kept
	cp -a kept plain
	# shellcheck disable=SC2086
	(cd plain && rm -f $outputs)
	build_tree plain wrapped
}

same_bytes()
{
	for same_module in $modules; do
		cmp "plain/$same_module" "kept/$same_module" || return
	done
}

program()
{
	here=$(pwd)
	rm -rf "$name"
	mkdir -p "$name"
	cd "$name" || return
	cp -a "$source_folder" plain
	if ! ok "$name: builds" build_tree plain; then
		tail -n 5 plain.log | sed 's/^/# /' >&2
		return
	fi
	if [ ! -x "$BUILD/bin/litifut" ]; then
		skip "$name: traced" "no litifut in $BUILD/bin"
		cd "$here" || exit 1
		return
	fi
	build_again
	ok "$name: the same bytes with LITIFUT unset" same_bytes
	rm -rf plain
	mv kept plain
	copy_without_outputs traced
	if ! ok "$name: builds under litifut build" build_tree traced; then
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
	ok "$name: litifut-post reads the trace" "$BUILD/bin/litifut-post" -f tsv -o events.tsv \
		data/trace data/maps $files
	# shellcheck disable=SC2086
	ok "$name: events are the executed calls" \
		keep_counts python3 "$oracle_script" compare traced.oracle events.tsv $files
	if [ -z "$varies" ]; then
		# shellcheck disable=SC2086
		ok "$name: events are the calls of the plain program" \
			python3 "$oracle_script" same plain.oracle events.tsv $files -- $plain_files
	fi
	# shellcheck disable=SC2086
	printf '%-9s %-9s %s; %s\n' "$name" "$target" "$(python3 "$oracle_script" sites $files)" \
		"$(head -n 1 counts)" | tee "$table/$name.$target" | sed 's/^/# /'
	rm -f plain.oracle.* traced.oracle.* events.tsv
	rm -rf data
	cd "$here" || exit 1
}

keep_counts()
{
	"$@" >counts 2>&1
	keep_status=$?
	cat counts
	return $keep_status
}

lacks_our_words()
{
	! grep -a '^litifut' "$1"
}

programs()
{
	for name in $names; do
		recipe=$root/tests/programs/$name.recipe
		library_path='' varies=''
		# shellcheck disable=SC1090
		. "$recipe"
		if source_folder=$("$root/scripts/fetch-source" "$package" 2>fetch.log); then
			program
		else
			skip "$name" "$(tail -n 1 fetch.log)"
		fi
	done
}

names=$*
script=programs-$(echo "$names" | tr ' ' '-')
for_targets programs
