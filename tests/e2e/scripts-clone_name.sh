#!/bin/sh
# The working copy is in a folder with a blank and a letter beyond ASCII in its name: make builds there, also if it is
# told where by the folder's whole name, as scripts/demo does.
. "$(dirname "$0")/../lib.sh"

# makes NAME WORDS...: make builds these from nothing
makes()
{
	name=$1
	shift
	rm -rf "$clone/build"
	ok "$name" env -u MAKEFLAGS -u BUILD make -s -C "$clone" "$@" build/host/common/error.o build/tests/interrupt.so
	ok "$name: they are there" test -s "$clone/build/host/common/error.o" -a -s "$clone/build/tests/interrupt.so"
}

behaviour()
{
	clone="$(pwd -P)/a folder of Zoë/litifut clone"
	mkdir -p "$clone"
	for each in "$root"/*; do
		[ "${each##*/}" = build ] || ln -s "$each" "$clone"
	done
	makes "make"
	makes "make with the name of the folder" BUILD="$clone/build"
	# of all targets, what is not quoted for the shell would be seen here
	for goal in all check unit-tests oracle demo demo-avr demo-energy install uninstall; do
		env -u MAKEFLAGS make -n -C "$clone" BUILD="$clone/build" PREFIX="$clone/a place" "$goal" >commands 2>words
		ok "make -n $goal" [ $? = 0 -a ! -s words ]
		ok "make -n $goal: commands for a shell" sh -n commands
	done
	is "a name that make cannot use" \
		"$(env -u MAKEFLAGS make -s -C "$clone" BUILD="another folder" all 2>&1 | sed 's/.*\*\*\* //')" \
		"BUILD: another folder: make cannot use a name with a blank: choose another folder.  Stop."
}

need_build
in_folders behaviour true clone
