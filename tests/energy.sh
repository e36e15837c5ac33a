# What the scripts about the simulated board with a power analyser (tests/energy/rig.c) share. A
# script sources this, tests with ok(), and ends with finish.
# Functions are called by ok, and the scripts use the variables.
# shellcheck shell=sh disable=SC2034,SC2317
root=$(cd "$(dirname "$0")/../.." && pwd)
BUILD=${BUILD:-$root/build}
script=$(basename "$0" .sh)
work=$BUILD/tests/$script
post=$BUILD/bin/litifut-post
rig=$BUILD/tests/energy/rig
count=0
failed=0

# ok DESCRIPTION COMMAND...
ok()
{
	description=$1
	shift
	count=$((count + 1))
	if "$@" >"$work/log" 2>&1; then
		echo "ok $count - $description"
	else
		failed=1
		echo "not ok $count - $description"
		echo "$* (in $work):" >&2
		cat "$work/log" >&2
	fi
}

fails()
{
	! "$@"
}

# late_marks FROM TO: the recording, with the edges of the pin three samples later
late_marks()
{
	awk -F, 'NR > 1 { pin[NR] = $3; print $1, $2, (NR > 4 ? pin[NR - 3] : $3); next } { print }' \
		OFS=, "$1" >"$2"
}

finish()
{
	echo "1..$count"
	[ $failed -eq 0 ] && rm -rf "$work"
	exit $failed
}

rm -rf "$work"
mkdir -p "$work"
make -s -C "$root" BUILD="$BUILD" energy-rig >&2 || {
	echo "Bail out! the rig can't be built (simavr, avr-gcc)"
	exit 1
}
cd "$work" || exit 1
