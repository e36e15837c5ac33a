#!/bin/sh
# KCachegrind opens `litifut-post energy -f callgrind` with energy selected and shows its total. What it
# draws there is compared, pixel by pixel, with what it draws for a file of one function that has nothing
# but that energy.
# Functions are called by ok.
# shellcheck disable=SC2317
for needed in Xvfb xdotool import convert dbus-run-session kcachegrind; do
	command -v $needed >/dev/null || {
		echo "1..0 # SKIP $needed is missing: scripts/install-dependencies programs"
		exit 0
	}
done
. "$(dirname "$0")/../energy.sh"

Xvfb -displayfd 3 -screen 0 1200x800x24 3>display 2>xvfb.log &
server=$!
trap 'kill $server' EXIT
tries=0
until [ -s display ] || [ $tries -eq 60 ]; do
	sleep 0.5
	tries=$((tries + 1))
done
DISPLAY=:$(cat display)
export DISPLAY
mkdir config
printf '[TipOfDay]\nRunOnStart=false\n' >config/kcachegrindrc

# shown FOLDER: what KCachegrind draws for FOLDER/callgrind.out, as FOLDER/bar.png (what is selected) and
# FOLDER/status.png (the total); the words of its windows in FOLDER/windows
shown()
{
	# a group, as dbus-run-session has children
	XDG_CONFIG_HOME=$work/config setsid dbus-run-session -- kcachegrind -geometry 1200x800+0+0 "$1/callgrind.out" \
		>"$1/log" 2>&1 &
	viewer=$!
	found=1
	before=
	for _ in $(seq 20); do
		sleep 1
		xdotool search --name 'callgrind.out' >"$1/id" 2>/dev/null || continue
		import -window root "$1/screen.png"
		# what is drawn no longer changes
		[ "$before" = "$(convert "$1/screen.png" rgb:- | cksum)" ] && found=0 && break
		before=$(convert "$1/screen.png" rgb:- | cksum)
	done
	xdotool search --onlyvisible --name '.' >"$1/windows" 2>/dev/null
	kill -- "-$viewer"
	wait "$viewer"
	convert "$1/screen.png" -crop 471x54+729+0 +repage "$1/bar.png" &&
		convert "$1/screen.png" -crop 1200x20+0+780 +repage "$1/status.png" && return "$found"
}

# same PART A B: the pixels
same()
{
	convert "$2/$1.png" rgb:"$2/$1.rgb" && convert "$3/$1.png" rgb:"$3/$1.rgb" && cmp "$2/$1.rgb" "$3/$1.rgb"
}

# reference FOLDER EVENT NAME COST: a file of one function
reference()
{
	mkdir "$1"
	printf '# callgrind format\nversion: 1\npositions: line\nevent: %s : %s\nevents: %s\n\nfl=\nfn=f\n0 %s\n\ntotals: %s\n' \
		"$2" "$3" "$2" "$4" "$4" >"$1/callgrind.out"
}

mkdir energy
ok "a run with a tracer" "$rig" -p plain.csv -e plain.events -s seed=1 traced "$BUILD/tests/energy/firmware-60.elf"
ok "its energies for KCachegrind" sh -c "'$post' energy -q -f callgrind --power plain.csv --volts 3.3 --hook 3.5,3.25,30.36 \
	--machine '$root/tests/energy/radio.machine' plain.events >energy/callgrind.out"
total=$(sed -n 's/^totals: \([0-9]*\).*/\1/p' energy/callgrind.out)
reference same nJ Energy "$total"
reference other nJ Energy $((total + 1))
reference time ns Time "$total"
ok "it is opened" shown energy
ok "in one window, without a message" sh -c '[ "$(wc -l <energy/windows)" -eq "$(wc -l <energy/id)" ] || { cat energy/windows; false; }'
ok "a file with that energy alone" shown same
ok "one with another energy" shown other
ok "one with a time" shown time
ok "energy is selected" same bar energy same
ok "a time would be seen" fails same bar time same
ok "the total is that of the file" same status energy same
ok "another one would be seen" fails same status other same
finish
