# Sourced by run.sh and suite.sh, which say what a recipe is: source trees of
# a program of another project, one plain and one traced, and its programs run in them.
# shellcheck shell=sh

. "${root:-$(dirname "$0")/../..}/tests/lib.sh" # same-links lies elsewhere, and has set `root`

# shellcheck disable=SC2034 # for run.sh
oracle_script=$root/tests/oracle/oracle.py
LINKAGE=${LINKAGE:-pie}

# What a recipe says, and what it need not have.
# shellcheck disable=SC2034 # for run.sh and suite.sh
names='' package='' modules='' outputs='' suite_says='' library_path='' linkages='' modes=''
defaults="library_path='' varies='' links_compile='' linkages='pie nopie static' modes=''
	suite_build() { :; }
	suite_filter() { cat; }"

# together NAME...: one word for a folder. It is short, as the path of a socket in it has 108 bytes at most.
together()
{
	together_name=$(echo "$*" | tr ' ' '-')
	[ ${#together_name} -le 40 ] || together_name=$#-$(echo "$together_name" | cksum | cut -d ' ' -f 1)
	echo "$together_name"
}

# The compiler's flags that make a target's executables what LINKAGE says; the
# compilers' own default is PIE.
use_linkage()
{
	case $LINKAGE in
	pie) ;;
	nopie) machine_flags="$machine_flags -fno-pie -no-pie" ;;
	static) machine_flags="$machine_flags -static" ;;
	*)
		echo "Bail out! no linkage $LINKAGE"
		exit 1
		;;
	esac
}

# A program in the tree that is the present folder, as the target would run it.
on_target()
{
	on_target_program=$1
	shift
	# shellcheck disable=SC2086
	env -i $guest_environment timeout 600 "qemu-$cpu" -L "$sysroot" $qemu_options \
		-E LD_LIBRARY_PATH="$(pwd)/$library_path" "./$on_target_program" "$@"
}

# build_tree FOLDER [HOW] [STEPS]: builds plain; traced, with `litifut build`
# around it; or wrapped, with the same and LITIFUT unset. Without HOW as FOLDER is
# named. STEPS are functions of the recipe, build if not said.
build_tree()
{
	(
		cd "$1" || exit 1
		# a function is not a command: say it to a shell of its own
		export triplet cpu machine_flags root BUILD LINKAGE sysroot destination
		steps="set -eu; $defaults; . '$recipe'; for step in ${3:-build}; do (\$step); done"
		case ${2:-$1} in
		plain) set -- ;;
		traced) set -- "$BUILD/bin/litifut" build ;;
		wrapped) set -- "$BUILD/bin/litifut" build -q env -u LITIFUT ;;
		esac
		# nothing here takes so long but what hangs
		timeout 3600 "$@" sh -c "$steps"
	) >"$1.log" 2>&1 </dev/null
}

# target_modules FOLDER: each executable and each library for a target in it but for
# files of debug symbols.
target_modules()
{
	find "$1" -type f ! -path '*/debug/*' | sort | while read -r module_file; do
		readelf -hW "$module_file" 2>/dev/null >header || continue
		grep -q 'Machine:.*\(ARM\|MIPS\)' header && grep -q 'Type:.*\(EXEC\|DYN\)' header &&
			echo "$module_file"
	done
	rm -f header
}

# are_rewritten FILE...: each of them; `litifut info` finds no fault with one that is not
are_rewritten()
{
	"$BUILD/bin/litifut" info "$@" >info.said || return
	! grep ': not rewritten' info.said
}

# all_are_rewritten FOLDER: those of target_modules, if any; their paths go to rewritten.list
all_are_rewritten()
{
	target_modules "$1" >rewritten.list
	test -s rewritten.list || return 0
	set --
	while read -r rewritten_file; do set -- "$@" "$rewritten_file"; done <rewritten.list
	are_rewritten "$@"
}

# lacks_our_words FILE: none but the line that ends a build without faults
lacks_our_words()
{
	! grep -a '^litifut' "$1" | grep -vE '^litifut: [0-9]+ linked files? traced$'
}

# for_recipes FUNCTION: reads each recipe and calls FUNCTION in an empty folder
# where its source can be had. The folder stays only when a test failed.
for_recipes()
{
	recipes_folder=$(pwd)
	for name in $names; do
		recipe=$root/tests/programs/$name.recipe
		eval "$defaults"
		destination=''
		use_target "$target"
		use_linkage
		# shellcheck disable=SC1090
		. "$recipe"
		case " $linkages " in
		*" $LINKAGE "*) ;;
		*)
			skip "$name" "its build makes no such executable: $LINKAGE"
			continue
			;;
		esac
		# shellcheck disable=SC2034 # for FUNCTION
		if source_folder=$("$root/scripts/fetch-source" "$package" 2>fetch.log); then
			rm -rf "${name:?}"
			mkdir "$name"
			cd "$name" || exit 1
			failed_before=$failed_count
			"$1"
			cd "$recipes_folder" || exit 1
			[ $failed_count != "$failed_before" ] || rm -rf "${name:?}"
		else
			skip "$name" "$(tail -n 1 fetch.log)"
		fi
	done
}
