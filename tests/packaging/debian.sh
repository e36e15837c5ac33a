#!/bin/sh
# The Debian packages of LITIFUT itself, from the committed sources: dpkg-buildpackage with its tests,
# lintian, and debian/tests with what the packages install. Some minutes; part of `make test-long'.
root=$(cd "$(dirname "$0")/../.." && pwd)
BUILD=${BUILD:-$root/build}
work=$BUILD/tests/packaging
count=0

# check DESCRIPTION COMMAND...
check()
{
	count=$((count + 1))
	description=$1
	shift
	if "$@" >"$work/log.$count" 2>&1; then
		echo "ok $count - $description"
	else
		tail -n 30 "$work/log.$count" >&2
		echo "not ok $count - $description"
	fi
}

build()
{
	mkdir source && git -C "$root" archive HEAD | tar -x -C source && cd source &&
		dpkg-buildpackage -us -uc -j2
}

# Overrides give their reasons in debian/.
says_nothing()
{
	lintian --allow-root --info ./*.changes >lintian.out 2>&1
	grep '^[EWI]:' lintian.out
	[ $? = 1 ]
}

unpack()
{
	for package in ./*.deb; do
		dpkg-deb -x "$package" installed || return
	done
	[ "$(for cpu in arm mips mipsel cortex-m avr; do
		dpkg-deb -c "./litifut-tracer-${cpu}_"*.deb | grep -c '/usr/lib/litifut/[^/]*[.][ao]$'
	done | grep -c '^0$')" = 0 ]
}

# traces NAME: a test of debian/tests, with the packages' programs first in the path
traces()
{
	mkdir "traces-$1" && AUTOPKGTEST_TMP=$work/traces-$1 PATH=$work/installed/usr/bin:$PATH \
		"$root/debian/tests/$1"
}

for program in dpkg-buildpackage dh lintian; do
	command -v $program >/dev/null && continue
	echo "1..0 # SKIP $program is missing: scripts/install-dependencies programs"
	exit 0
done
rm -rf "$work" && mkdir -p "$work" && cd "$work" || exit 1
check "dpkg-buildpackage, with the unit tests" build
cd "$work" || exit 1
check "lintian has nothing to say" says_nothing
check "the packages have the tracers of each CPU" unpack
check "what they install traces a program for ARM" traces trace-arm
check "and one for MIPS" traces trace-mipsel
echo "1..$count"
