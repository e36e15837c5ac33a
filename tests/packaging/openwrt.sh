#!/bin/sh
# A package of OpenWrt's own, built by OpenWrt's makefiles under `litifut build`: its files are those of the
# plain package and are traced, it does its work, and its trace has names. docs/recipes.md says how such a tree is made.
#
#   OPENWRT=FOLDER tests/packaging/openwrt.sh
#
# FOLDER is a tree of OpenWrt that is configured for an ARM with glibc and an external toolchain, with the package bzip2
# chosen, packages of opkg (no CONFIG_USE_APK), and package/libs/toolchain built.
. "$(dirname "$0")/../lib.sh"

# package NAME COMMAND...: the files of bzip2 and its library, made by the command, in folder NAME
package()
{
	package_name=$1
	shift
	"$@" make -C "$OPENWRT/package/utils/bzip2" TOPDIR="$OPENWRT" clean compile V=s >"$package_name.log" 2>&1 || return
	mkdir "$package_name" || return
	for part in bzip2 libbz2; do
		tar xzOf "$(find "$OPENWRT/bin/packages" -name "${part}[-_][0-9.]*_*.ipk")" ./data.tar.gz |
			tar xz -C "$package_name" || return
	done
}

# works NAME: a file is packed by the package's program and unpacked by that of the build machine
works()
{
	rm -f input.bz2
	qemu-arm -L "$sysroot" -E "LD_LIBRARY_PATH=$(pwd)/$1/usr/lib" -E "LITIFUT_DIR=$(pwd)/data.$1" \
		"$1/usr/bin/bzip2" -k input && bzip2 -dc input.bz2 | cmp - input
}

same_files()
{
	(cd plain && find . | sort) >plain.files
	(cd traced && find . | sort) >traced.files
	grep 'usr/bin/bzip2' plain.files && cmp plain.files traced.files
}

named()
{
	built=$(echo "$OPENWRT"/build_dir/target-*/bzip2-*)
	"$BUILD/bin/litifut-post" -f edges -o edges data.traced "$built/bzip2-shared" "$built"/libbz2.so.*.* 2>edges.err ||
		return
	grep ' 0 lost.* 0 unresolved' edges.err && grep ' -> BZ2_bzWrite' edges && grep ' -> bsW' edges
}

behaviour()
{
	seq 1 2000 >input
	ok "the package is built plain" package plain env
	ok "and under litifut build" package traced "$BUILD/bin/litifut" build
	ok "which says that both files are traced" grep '^litifut: 2 linked files traced' traced.log
	ok "the package has the same files" same_files
	ok "the plain program works" works plain
	ok "and records nothing" [ ! -e data.plain ]
	ok "the traced program works" works traced
	ok "its calls have names" named
}

if [ -z "${OPENWRT:-}" ]; then
	echo "1..1"
	echo "ok 1 # SKIP OPENWRT does not name a tree of OpenWrt (docs/recipes.md)"
	exit 0
fi
TARGETS=armhf for_targets behaviour
