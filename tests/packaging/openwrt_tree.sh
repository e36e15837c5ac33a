#!/bin/sh
# Configures a tree of OpenWrt for openwrt.sh. The toolchain is Debian's, and what OpenWrt would build or download is Debian's,
# too: the programs that it makes for itself, and the source of bzip2.
#
#   tests/packaging/openwrt_tree.sh OPENWRT TARGET
#
# OPENWRT is a checkout of OpenWrt, in which this works; TARGET is armhf (OpenWrt's armsr/armv7), mips (malta/be) or mipsel
# (malta/le). The build machine has what OpenWrt and LITIFUT need: scripts/install-dependencies programs, and file, flex,
# gawk, python3-distutils, rsync, unzip and wget.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
BUILD=${BUILD:-$root/build}
if [ $# != 2 ] || [ ! -f "$1/feeds.conf.default" ]; then
	echo "usage: $0 OPENWRT TARGET" >&2
	exit 2
fi
openwrt=$(cd "$1" && pwd)
target=$2
toolchain=$openwrt/debian-toolchain

case $target in
armhf) triplet=arm-linux-gnueabihf board=armsr subtarget=armv7 ;;
mips) triplet=mips-linux-gnu board=malta subtarget=be ;;
mipsel) triplet=mipsel-linux-gnu board=malta subtarget=le ;;
*)
	echo "$0: no target $target: it is armhf, mips or mipsel" >&2
	exit 2
	;;
esac

# OpenWrt builds with -msoft-float for malta, for which Debian's C library is not made.
make_toolchain()
{
	rm -rf "$toolchain"
	mkdir -p "$toolchain/bin"
	ln -s "/usr/$triplet/include" "/usr/$triplet/lib" "$toolchain/"
	for tool in addr2line ar as cpp g++ ld ld.bfd nm objcopy objdump ranlib readelf size strings strip gcc-ar gcc-nm gcc-ranlib; do
		ln -s "$(command -v "$triplet-$tool")" "$toolchain/bin/$triplet-$tool"
	done
	cat >"$toolchain/bin/$triplet-gcc" <<-END
		#!/bin/sh
		for word; do
			shift
			[ "\$word" = -msoft-float ] || set -- "\$@" "\$word"
		done
		exec "$(command -v "$triplet-gcc")" "\$@"
	END
	chmod 755 "$toolchain/bin/$triplet-gcc"
}

configuration()
{
	cat <<-END
		CONFIG_TARGET_$board=y
		CONFIG_TARGET_${board}_$subtarget=y
		CONFIG_DEVEL=y
		CONFIG_EXTERNAL_TOOLCHAIN=y
		CONFIG_EXTERNAL_TOOLCHAIN_LIBC_USE_GLIBC=y
		CONFIG_TARGET_NAME="$triplet"
		CONFIG_TOOLCHAIN_PREFIX="$triplet-"
		CONFIG_TOOLCHAIN_ROOT="$toolchain"
		CONFIG_TOOLCHAIN_BIN_PATH="./bin"
		CONFIG_TOOLCHAIN_INC_PATH="./include"
		CONFIG_TOOLCHAIN_LIB_PATH="./lib"
		CONFIG_EXTERNAL_GCC_VERSION="$("$triplet-gcc" -dumpfullversion)"
		CONFIG_PACKAGE_bzip2=y
		# CONFIG_USE_APK is not set
		# CONFIG_SIGNED_PACKAGES is not set
	END
}

make_toolchain
mkdir -p "$openwrt/dl" "$openwrt/staging_dir/host/bin"
sources=$(dirname "$(BUILD="$BUILD" "$root/scripts/fetch-source" bzip2)")
cp "$sources"/bzip2_*.orig.tar.gz "$openwrt/dl/bzip2-1.0.8.tar.gz"
for tool in fakeroot flock m4 patchelf pkg-config xz; do
	ln -sf "$(command -v $tool)" "$openwrt/staging_dir/host/bin/$tool"
done
ln -sf "$(command -v gzip)" "$openwrt/staging_dir/host/bin/libdeflate-gzip"
configuration >"$openwrt/.config"
# the feed of the test replaces the others
: >"$openwrt/feeds.conf"
env -u LIBRARY_PATH -u LD_LIBRARY_PATH FORCE_UNSAFE_CONFIGURE=1 make -C "$openwrt" defconfig
configuration | while read -r line; do
	case $line in
	*" is not set") ! grep -q "^$(echo "$line" | cut -d ' ' -f 2)=" "$openwrt/.config" ;;
	*) grep -qxF "$line" "$openwrt/.config" ;;
	esac || {
		echo "$0: OpenWrt did not take $line" >&2
		exit 1
	}
done
