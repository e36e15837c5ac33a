#!/bin/sh
# Makes with Buildroot an image whose busybox and bzip2 are traced, for buildroot.sh. The toolchain is Debian's, and what
# Buildroot would download is Debian's, too: the sources of both packages, and the programs that it makes for itself.
#
#   tests/packaging/buildroot_tree.sh BUILDROOT TARGET OUTPUT
#
# BUILDROOT is a checkout, in which nothing is changed; TARGET is armhf or mipsel. The build machine has what Buildroot
# and LITIFUT need (scripts/install-dependencies programs) and bc, file, rsync, unzip and wget.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
BUILD=${BUILD:-$root/build}
if [ $# != 3 ] || [ ! -f "$1/Config.in" ]; then
	echo "usage: $0 BUILDROOT TARGET OUTPUT" >&2
	exit 2
fi
buildroot=$1
target=$2
mkdir -p "$3"
output=$(cd "$3" && pwd)
toolchain=$output/toolchain

case $target in
armhf)
	triplet=arm-linux-gnueabihf
	# hard float and Thumb-2, as Debian's
	cpu="BR2_arm=y BR2_cortex_a15=y BR2_ARM_EABIHF=y BR2_ARM_INSTRUCTIONS_THUMB2=y BR2_TARGET_GENERIC_GETTY_PORT=\"ttyAMA0\""
	;;
mipsel)
	triplet=mipsel-linux-gnu
	cpu="BR2_mipsel=y BR2_mips_32r2=y BR2_MIPS_SOFT_FLOAT=n BR2_TARGET_GENERIC_GETTY_PORT=\"ttyS0\""
	;;
*)
	echo "$0: no target $target: it is armhf or mipsel" >&2
	exit 2
	;;
esac

# Buildroot refuses a compiler that is configured for the folder /, as Debian's is, and asks it where its C library is. So a
# script in its place answers that, and gives it a folder with a copy of that library.
make_toolchain()
{
	rm -rf "$toolchain"
	mkdir -p "$toolchain/bin" "$toolchain/sysroot/usr"
	cp -a "/usr/$triplet/include" "/usr/$triplet/lib" "$toolchain/sysroot/usr/"
	ln -s usr/lib "$toolchain/sysroot/lib"
	# these are scripts for the linker, and name files by the folders of the build machine
	for file in "$toolchain"/sysroot/usr/lib/*.so; do
		head -c 4 "$file" | grep -q ELF || sed -i "s|/usr/$triplet/lib/||g" "$file"
	done
	for tool in addr2line ar as ld ld.bfd nm objcopy objdump ranlib readelf size strings strip gcc-ar gcc-nm gcc-ranlib; do
		ln -s "$(command -v "$triplet-$tool")" "$toolchain/bin/$triplet-$tool"
	done
	for tool in gcc cpp; do
		cat >"$toolchain/bin/$triplet-$tool" <<-END
			#!/bin/sh
			for word; do
				case \$word in
				-print-file-name=libc.a) echo "$toolchain/sysroot/usr/lib/libc.a"; exit ;;
				-v) [ \$# = 1 ] && "$(command -v "$triplet-$tool")" -v 2>&1 | sed 's|--with-sysroot=/ |--with-sysroot=$toolchain/sysroot |' >&2 && exit ;;
				esac
			done
			exec "$(command -v "$triplet-$tool")" --sysroot="$toolchain/sysroot" "\$@"
		END
		chmod 755 "$toolchain/bin/$triplet-$tool"
	done
}

# Buildroot's own words for the versions, such as 12 and 6_1
gcc_version()
{
	"$triplet-gcc" -dumpversion
}

headers_version()
{
	code=$(sed -n 's/^#define LINUX_VERSION_CODE //p' "/usr/$triplet/include/linux/version.h")
	echo "$((code >> 16))_$((code >> 8 & 255))"
}

configuration()
{
	for line in $cpu BR2_TOOLCHAIN_EXTERNAL=y BR2_TOOLCHAIN_EXTERNAL_CUSTOM=y BR2_TOOLCHAIN_EXTERNAL_PREINSTALLED=y \
		"BR2_TOOLCHAIN_EXTERNAL_PATH=\"$toolchain\"" "BR2_TOOLCHAIN_EXTERNAL_CUSTOM_PREFIX=\"$triplet\"" \
		"BR2_TOOLCHAIN_EXTERNAL_GCC_$(gcc_version)=y" "BR2_TOOLCHAIN_EXTERNAL_HEADERS_$(headers_version)=y" \
		BR2_TOOLCHAIN_EXTERNAL_CUSTOM_GLIBC=y BR2_TOOLCHAIN_EXTERNAL_HAS_SSP=y BR2_TOOLCHAIN_EXTERNAL_INET_RPC=n BR2_TOOLCHAIN_EXTERNAL_OPENMP=y \
		BR2_TOOLCHAIN_EXTERNAL_CXX=n BR2_PACKAGE_BUSYBOX=y BR2_PACKAGE_BZIP2=y BR2_TARGET_ROOTFS_CPIO=y BR2_TARGET_ROOTFS_CPIO_GZIP=y \
		"BR2_TARGET_ROOTFS_TAR=n" BR2_PACKAGE_HOST_LITIFUT=y; do
		echo "$line"
	done
	# nothing is downloaded
	echo 'BR2_WGET="false"'
	echo "BR2_DL_DIR=\"$output/dl\""
	echo 'BR2_PACKAGE_HOST_LITIFUT_PACKAGES="busybox bzip2"'
	echo 'BR2_PACKAGE_HOST_LITIFUT_SETTINGS="LITIFUT_MODE=spans"'
}

buildroot()
{
	env -u LIBRARY_PATH -u LD_LIBRARY_PATH FORCE_UNSAFE_CONFIGURE=1 make -C "$buildroot" O="$output" \
		BR2_EXTERNAL="$root/packaging/buildroot" BR2_DEFCONFIG="$output/defconfig" "$@"
}

source_of()
{
	BUILD="$BUILD" "$root/scripts/fetch-source" "$1"
}

# built NAME...: Buildroot takes its packages host-NAME for built.
built()
{
	buildroot -s --no-print-directory printvars \
		VARS="$(for name; do echo "HOST_$(echo "$name" | tr '[:lower:]-' '[:upper:]_')_DIR"; done | tr '\n' ' ')" |
		sed -n 's/^HOST_[A-Z0-9_]*_DIR=//p' >"$output/built"
	[ "$(wc -l <"$output/built")" = $# ]
	while read -r folder; do
		mkdir -p "$folder"
		for stamp in downloaded extracted patched configured built host_installed installed; do
			touch "$folder/.stamp_$stamp"
		done
	done <"$output/built"
}

make_toolchain
configuration >"$output/defconfig"
mkdir -p "$output/dl/bzip2"
cp "$(dirname "$(source_of bzip2)")"/bzip2_*.orig.tar.gz "$output/dl/bzip2/bzip2-1.0.8.tar.gz"
# Debian's is older
echo "BUSYBOX_OVERRIDE_SRCDIR = $(source_of busybox)" >"$output/local.mk"
buildroot defconfig
while read -r line; do
	case $line in
	*=n) line="# ${line%=n} is not set" ;;
	esac
	grep -qxF "$line" "$output/.config" || {
		echo "$0: Buildroot did not take $line" >&2
		exit 1
	}
done <"$output/defconfig"
mkdir -p "$output/host/bin"
for name in fakeroot patchelf tar; do
	ln -sf "$(command -v $name)" "$output/host/bin/$name"
done
# and what these are built by
built m4 autoconf automake libtool attr acl fakeroot patchelf tar
buildroot -j2
