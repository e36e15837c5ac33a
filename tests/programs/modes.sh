#!/bin/sh
# Programs of other projects in each way of recording: linked in each mode they print
# and return what they do untraced, what was recorded is what the oracle of that mode
# saw, and what litifut-post makes of it agrees with itself.
#
#   tests/programs/modes.sh RECIPE...     tests/programs/RECIPE.recipe, all targets
#   LINKAGE=pie|nopie|static              how executables are linked; pie if not said
#   MODES="calls db spans ..."            some of the modes
#   ORACLE=no                             without the oracles, which take most of the time
#
# A recipe is what run.sh says. With `varies` the oracles still measure each traced run by
# itself; coverage and paths, whose oracles need a second run, are then compared by what
# they print only. `modes` are those in which the recipe works, all if not said. Each target
# adds a line to build/programs/modes/, and for each mode what `litifut info` and the oracle say.
. "$(dirname "$0")/trees.sh"

# exit() of a static program comes to its last system call, behind which all is only possible
ends=
[ "${LINKAGE:-}" != static ] || ends=--killed
clock=page
[ "${ORACLE:=yes}" != no ] || clock=mono
oracles=$root/tests/oracle
MODES=${MODES:-calls db spans table counts coverage paths}
table=$BUILD/programs/modes
mkdir -p "$table"

# Runs the workload in the tree FOLDER; its output goes to FOLDER.out.
run_workload()
{
	(cd "$1" && workload) >"$1.out" 2>&1
}

# relink_traced MODE: the links of plain/ again, under litifut build, as traced/
relink_traced()
{
	mv plain kept
	cp -a kept plain
	# shellcheck disable=SC2086
	(cd plain && rm -f $outputs)
	(
		export LITIFUT_MODE="$1"
		case $1 in
		db)
			LITIFUT_MODE=calls
			export LITIFUT_ENGINE=db
			;;
		spans | table) [ "$ORACLE" = no ] || export LITIFUT_CLOCK=page ;;
		esac
		build_tree plain traced
	)
	relink_status=$?
	mv plain traced
	mv plain.log traced.log
	mv kept plain
	return $relink_status
}

# run_watched OPTIONS SETTINGS: the workload of traced/ under the plugin with OPTIONS, from an empty data/
run_watched()
{
	rm -rf data oracle.*
	# shellcheck disable=SC2086
	python3 "$oracles/oracle.py" ranges $files >through
	guest_environment="LITIFUT_DIR=$(pwd)/data $2"
	qemu_options="-plugin $BUILD/tests/oracle.so,$1"
	[ "$1" ] && [ "$ORACLE" != no ] || qemu_options=
	run_workload traced
	qemu_options='' guest_environment=''
}

# post FORMAT: what litifut-post makes of data/, in post.FORMAT
post()
{
	# shellcheck disable=SC2086
	timeout 600 "$BUILD/bin/litifut-post" ${2:-} -f "$1" -o "post.$1" data $files && test -s "post.$1"
}

# run_unpatched OPTIONS: the workload once more, of the traced programs as they were before they were patched
run_unpatched()
{
	rm -rf unpatched oracle.*
	cp -a traced unpatched
	for module in $modules; do
		python3 "$oracles/edges.py" plain "traced/$module" "unpatched/$module" || return
	done
	mv traced patched && mv unpatched traced && mv data patched.data
	guest_environment="LITIFUT_DIR=$(pwd)/data"
	qemu_options="-plugin $BUILD/tests/oracle.so,$1"
	run_workload traced
	qemu_options='' guest_environment=''
	rm -rf data
	mv traced unpatched && mv patched traced && mv patched.data data
}

# What a mode recorded, beside its oracle.
equals_oracle()
{
	# shellcheck disable=SC2086
	case $1 in
	calls | db)
		"$BUILD/bin/litifut-post" -f tsv --plt -o events.tsv data/trace data/maps $files &&
			python3 "$oracles/oracle.py" compare oracle events.tsv $files
		;;
	spans) python3 "$oracles/returns.py" times-side-by-side oracle data $files ;;
	table) post csv && python3 "$oracles/table.py" oracle post.csv $files ;;
	counts) post csv && python3 "$oracles/counts.py" oracle post.csv $files ;;
	coverage)
		file_pairs=
		for module in $modules; do file_pairs="$file_pairs traced/$module unpatched/$module"; done
		# shellcheck disable=SC2086
		post branches && run_unpatched "steps=$(pwd)/oracle" &&
			python3 "$oracles/edges.py" compare oracle post.branches $file_pairs
		;;
	paths)
		post blocks && run_unpatched "blocks=$(pwd)/oracle" &&
			python3 "$oracles/paths.py" compare oracle post.blocks $files $ends
		;;
	esac
}

# keep_said MODE: what the oracle says is kept beside the list of sites.
keep_said()
{
	equals_oracle "$1" >"$table/$name.$LINKAGE.$target.$1.oracle" 2>&1
	kept_status=$?
	cat "$table/$name.$LINKAGE.$target.$1.oracle"
	return $kept_status
}

mode()
{
	rm -rf traced
	if ! ok "$name, $1: builds under litifut build" relink_traced "$1"; then
		tail -n 5 traced.log | sed 's/^/# /' >&2
		result=unbuilt
		return
	fi
	ok "$name, $1: the wrapper has nothing to warn of" lacks_our_words traced.log
	files=
	for module in $modules; do files="$files traced/$module"; done
	# shellcheck disable=SC2086
	"$BUILD/bin/litifut" info --skipped $files >"$table/$name.$LINKAGE.$target.$1.info"
	with="calls=$(pwd)/oracle,through=$(pwd)/through" settings=''
	case $1 in
	spans | table) with="$with,returns=1,clock=1" settings="LITIFUT_CLOCK=$clock LITIFUT_COMPACT=0" ;;
	coverage | paths) with='' ;;
	esac
	run_watched "$with" "$settings"
	ok "$name, $1: prints the same" diff -a plain.out traced.out || result=differs
	for format in $(formats_of "$1"); do
		ok "$name, $1: litifut-post -f $format" post "$format" "$([ "$format" != path ] || echo --last=1000)" || result="$result,$format"
	done
	[ ! -s post.csv ] || ok "$name, $1: the sums agree" \
		python3 "$oracles/sums.py" post.csv post.json || result="$result,sums"
	case $1${varies:-}$ORACLE in
	coveragetrue* | pathstrue* | *no) return ;;
	esac
	ok "$name, $1: is what the oracle saw" keep_said "$1" || result="$result,oracle"
}

formats_of()
{
	case $1 in
	calls | db) echo report html tree callgrind ;;
	spans) echo report html tree csv json ;;
	table | counts) echo report html csv json ;;
	coverage) echo coverage lcov ;;
	paths) echo coverage path ;;
	esac
}

program()
{
	cp -a "$source_folder" plain
	if ! ok "$name: builds" build_tree plain; then
		tail -n 5 plain.log | sed 's/^/# /' >&2
		return
	fi
	guest_environment="LITIFUT_DIR=$(pwd)/data"
	run_workload plain
	guest_environment=''
	line=
	for mode in $MODES; do
		case " $modes " in
		*" $mode "* | "  ") ;;
		*) continue ;;
		esac
		case $mode$target in
		pathsarmel | spansarmel | tablearmel) continue ;;
		esac
		result=same
		failed_modes=$failed_count
		rm -f post.*
		mode "$mode"
		[ "$failed_modes" = "$failed_count" ] || {
			rm -rf "failed.$mode"
			mkdir "failed.$mode"
			cp plain.out "failed.$mode"
			mv traced unpatched data traced.out oracle.* through post.* events.tsv "failed.$mode" 2>/dev/null
		}
		line="$line $mode:$result"
		rm -rf unpatched
	done
	echo "$name $LINKAGE $target$line" | tee "$table/$name.$LINKAGE.$target" | sed 's/^/# /'
}

programs()
{
	for_recipes program
}

names=$*
# shellcheck disable=SC2086
script=modes-$LINKAGE-$(together $names)
for_targets programs
