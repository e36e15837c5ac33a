#!/bin/sh
# Where root's files may go, and those of a set-uid program: no other user chooses the
# place, by a link or by a folder that they can write to. An ordinary user's program
# follows whatever leads on, as all programs do.
. "$(dirname "$0")/../lib.sh"
few_targets armhf-arm mipsel

# at PATH: the program runs with this folder, as `user` (default: the one we are). It
# never notices. What it said is in traced.err.
at()
{
	# shellcheck disable=SC2086
	env -i LITIFUT_DIR="$1" ${settings:-} LITIFUT_VERBOSE=1 timeout 60 ${user:-} "qemu-$cpu" \
		-L "$sysroot" "$place/work" >traced.out 2>traced.err
	ok "$case_name: the program runs as ever" equal "$(cat traced.out) $?" "done 0"
}

# recorded_in DESCRIPTION PATH FOLDER: it is, and its events are there
recorded_in()
{
	case_name=$1
	at "$2"
	ok "$1: recorded" "$BUILD/bin/litifut-post" -f tsv -o events.tsv "$3" traced/work
	is "$1: every call" "$(recorded step)" 100
	rm -rf "$3/trace" "$3/maps"
}

# refused DESCRIPTION PATH WHY: nothing is recorded, and there is no new file anywhere
refused()
{
	case_name=$1
	find "$place" | sort >before
	at "$2"
	ok "$1: it says why" grep -q "not recording, .*$3" traced.err
	find "$place" | sort >after
	ok "$1: no new file" diff before after
}

fresh()
{
	rm -rf "$place/way"
	mkdir "$place/way"
}

links()
{
	fresh
	mkdir "$place/way/target"
	ln -s target "$place/way/link"
	recorded_in "a link of root's" "$place/way/link" "$place/way/target"
	ln -s "$place/way" "$place/way/target/back"
	recorded_in "links of root's, and steps back" "$place/way/link/back/../way/./link" \
		"$place/way/target"
	# the system's own, in the root itself
	if [ "$(readlink /sbin)" = usr/sbin ]; then
		recorded_in "a relative link in the root" "/sbin/../..$place/way/target" \
			"$place/way/target"
	else
		skip "a relative link in the root" "/sbin is not such a link"
	fi
	ln -s circle "$place/way/circle"
	refused "a link to itself" "$place/way/circle" "links"
	ln -s target "$place/way/foreign"
	chown -h 65534 "$place/way/foreign"
	refused "a link of another user" "$place/way/foreign" "links"
	refused "a link of another user on the way" "$place/way/foreign/deeper" "links"
	ln -s foreign "$place/way/indirect"
	refused "a link of root's to one of another user" "$place/way/indirect" "links"
	mkdir "$place/way/maps-linked"
	ln -s ../target "$place/way/maps-linked/trace"
	chown -h 65534 "$place/way/maps-linked/trace"
	refused "a link of another user in the folder itself" "$place/way/maps-linked" "links"
	user="setpriv --reuid 65534 --regid 65534 --clear-groups"
	chmod 777 "$place/way/target"
	recorded_in "an ordinary user: a link of another one" "$place/way/link" "$place/way/target"
	user=
}

writable()
{
	fresh
	mkdir "$place/way/open" "$place/way/sticky" "$place/way/group"
	chmod 777 "$place/way/open"
	refused "a folder that others may write to" "$place/way/open" "others"
	refused "a new one in it" "$place/way/open/new" "others"
	mkdir "$place/way/open/old"
	refused "one of root's in it" "$place/way/open/old" "others"
	chgrp 65534 "$place/way/group"
	chmod 775 "$place/way/group"
	refused "a folder that a group may write to" "$place/way/group" "others"
	chgrp 0 "$place/way/group"
	recorded_in "a folder that root's group may write to" "$place/way/group" "$place/way/group"
	chmod 1777 "$place/way/sticky"
	recorded_in "a sticky folder" "$place/way/sticky/new" "$place/way/sticky/new"
	mkdir "$place/way/sticky/theirs"
	chown 65534 "$place/way/sticky/theirs"
	refused "a folder of another user in a sticky one" "$place/way/sticky/theirs" "others"
	user="setpriv --reuid 65534 --regid 65534 --clear-groups"
	recorded_in "an ordinary user: a folder that all may write to" "$place/way/open/new" \
		"$place/way/open/new"
	user=
	mkdir -p "$place/home"
	chown 65534 "$place/home"
	recorded_in "a folder of an ordinary user, as with sudo" "$place/home" "$place/home"
	ln -s ../way "$place/home/link"
	refused "a link of root's in it, which they could replace" "$place/home/link" "links"
}

# Nothing on a stick can be a link.
stick()
{
	fresh
	mkdir "$place/way/usb"
	truncate -s 8M stick.img
	PATH=$PATH:/usr/sbin mkfs.vfat stick.img >/dev/null 2>&1
	if ! mount -o loop,umask=0 stick.img "$place/way/usb" 2>/dev/null; then
		skip "a stick that all may write to" "it can't be mounted here; see tests/device"
		return
	fi
	recorded_in "a stick that all may write to" "$place/way/usb/new" "$place/way/usb/new"
	umount "$place/way/usb"
}

# The copies obey as well.
copies()
{
	fresh
	mkdir "$place/way/data" "$place/way/target"
	ln -s target "$place/way/foreign"
	chown -h 65534 "$place/way/foreign"
	settings="LITIFUT_COPY_TO=$place/way/foreign"
	recorded_in "copied to a link of another user" "$place/way/data" "$place/way/data"
	ok "copied to a link of another user: it says that it is not" grep -q "can't copy .*links" traced.err
	is "copied to a link of another user: nothing there" "$(ls "$place/way/target")" ""
	settings="LITIFUT_COPY_TO=$place/way/target"
	recorded_in "copied to a folder" "$place/way/data" "$place/way/data"
	is "copied to a folder: it is there" "$(find "$place/way/target" -name '*.trace' | wc -l)" 1
	settings=
}

behaviour()
{
	cat >work.c <<-'END'
		#include <stdio.h>
		__attribute__((noipa)) void step(void) { __asm__ volatile(""); }
		int main(void)
		{
			for (int i = 0; i < 100; i++)
				step();
			puts("done");
			return 0;
		}
	END
	if [ "$(id -u)" != 0 ] || ! command -v setpriv >/dev/null; then
		skip "root's folders" "not root, or no setpriv"
		return
	fi
	link work ../work.c || return
	place=$(mktemp -d)
	chmod 755 "$place"
	cp traced/work "$place/work"
	links
	writable
	stick
	copies
	rm -rf "$place"
}

for_targets behaviour
