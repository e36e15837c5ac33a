#!/bin/sh
# usage: tests/programs/path_sizes.sh [TARGET...]
# The sizes of a run in the encodings of "Diagnostic tracing for wireless sensor networks" (its figures 17
# and 18 and table IV), for programs at hand: three of other people, and the sensor node of examples/node on
# Linux, which samples and sends 60 bundles to another one. Prints the tables of docs/paths.md.
# Targets: armhf armhf-arm mipsel. ID_BITS (14) is the size of the largest number of a path.
LINKAGE=nopie
. "$(dirname "$0")/trees.sh"
id_bits=${ID_BITS:-14}
rows=$BUILD/bench/path_sizes
mkdir -p "$rows"

# row NAME PROGRAM LOG [OPTION...]: keeps the sizes
row()
{
	row_name=$1.$target
	shift
	"$BUILD/bin/litifut-post" path-sizes --id-bits "$id_bits" "$@" >"$rows/$row_name" \
		2>"$rows/$row_name.summary"
}

# Of several processes the one that has executed most branches; other programs are among them.
most()
{
	most_branches=0
	for most_log in log.*; do
		row "$1" traced.program "$most_log" || continue
		most_of=$(sed -n 's/.*: \([0-9]*\) conditional branches and.*/\1/p' "$rows/$1.$target.summary")
		[ "$most_of" -gt "$most_branches" ] || continue
		most_branches=$most_of
		mv "$rows/$1.$target" sizes
		mv "$rows/$1.$target.summary" summary
	done
	mv sizes "$rows/$1.$target" && mv summary "$rows/$1.$target.summary"
}

program()
{
	cp -a "$source_folder" traced
	module=${modules%% *}
	export LITIFUT_MODE=coverage
	ok "$name: is linked for its graph" build_tree traced || return
	mv "traced/$module" traced.program
	ok "$name: as it was" "$BUILD/bin/litifut-post" path-plain -o "traced/$module" traced.program
	guest_environment="LITIFUT_DIR=$(pwd)/data"
	qemu_options="-d exec,nochain -D $(pwd)/log.%d"
	(cd traced && workload) >out 2>&1
	qemu_options='' guest_environment=''
	ok "$name: sizes" most "$name"
	rm -f log.*
}

# The node, connected to another one by two pipes.
node()
{
	sources=$(find "$root/examples/node" -name '*.c' ! -name board.c)
	for task in sample receive; do
		# shellcheck disable=SC2086
		LITIFUT_MODE=coverage "$BUILD/bin/litifut" build -q "$triplet-gcc" $machine_flags -no-pie \
			-std=gnu11 -Os -g -DTASK_$task -DCOUNT=60 -I"$root/examples/node" \
			-I"$root/bench/node_linux" -o "$task.traced" $sources \
			"$root/bench/node_linux/board.c" >"$task.log" 2>&1
		ok "node: $task is linked" "$BUILD/bin/litifut-post" path-plain -o $task $task.traced || return
	done
	rm -f there back
	mkfifo there back
	env -i LITIFUT_DIR="$(pwd)/data" timeout 60 "qemu-$cpu" -L "$sysroot" ./receive 3<there 4>back >received &
	env -i LITIFUT_DIR="$(pwd)/data" timeout 60 "qemu-$cpu" -L "$sysroot" -d exec,nochain -D log \
		./sample 4>there 3<back >sent
	wait
	is "node: all bundles were sent and received" "$(cat sent received)" "result 60
result 60"
	ok "node: sizes" row node sample.traced log
	# as on a node, some components only: not the line, the frames and the numbers
	ok "node: sizes of some components" row components sample.traced log --function \
		'agent_*,beacon_*,bundle_*,custody_*,endpoint_*,event_*,neighbour_*,report_*,seen_*,statistics_*,store_*'
	rm -f log
}

# figure ENCODING...: for each program and target, what the sizes say of them
figure()
{
	for figure_file in "$rows"/*.*; do
		[ "${figure_file%.summary}" = "$figure_file" ] || continue
		printf '| %s |' "$(basename "$figure_file" | sed 's/\./, /')"
		for encoding; do
			awk -v name="${encoding#*=}" -v field="${encoding%%=*}" '{
				line = $0
				sub(/^ *[^ ]+ +[^ ]+ +[^ ]+ +/, "", line)
				if (line == name) printf " %s |", $field
			}' "$figure_file"
		done
		echo
	done
}

tables()
{
	echo "Factors of TinyTracer-var: bytes, NodeMD*-var, LIS-local, LIS-global, branches"
	figure "1=TinyTracer-var" "3=NodeMD*-var" 3=LIS-local 3=LIS-global "3=branches, jumps and unknown callees"
	echo "Factors of TinyTracer: bytes, Melski-Reps with 17, 20, 24 and 32 bits"
	figure 1=TinyTracer "3=Melski-Reps, 17 bits" "3=Melski-Reps, 20 bits" "3=Melski-Reps, 24 bits" \
		"3=Melski-Reps, 32 bits"
	echo "Factors of TinyTracer: bytes, 2 patterns, 16 patterns, LZW, Sequitur"
	figure 1=TinyTracer "3=TinyTracer, 2 patterns, run lengths" "3=TinyTracer, 16 patterns, run lengths" \
		"3=TinyTracer, LZW" "3=TinyTracer, Sequitur"
	echo "Branches: bytes, and bits each with jumps and unknown callees; predicted with 128 B, 512 B and 8 KB"
	figure "1=branches, one bit each" "2=branches, jumps and unknown callees" \
		"2=branches, predicted with 128 bytes" "2=branches, predicted with 512 bytes" \
		"2=branches, predicted with 8 KB"
	grep -h 'conditional branches' "$rows"/*.summary | sed 's/^[^:]*: //'
}

all()
{
	names="lua bzip2 minigzip"
	for_recipes program
	mkdir -p node
	cd node || exit
	node
}

TARGETS=${*:-armhf armhf-arm mipsel}
rm -f "$rows"/*
for_targets all
tables
