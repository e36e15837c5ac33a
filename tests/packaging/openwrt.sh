#!/bin/sh
# The feed in a tree of OpenWrt: a package with its include is traced, and built again when a setting changes or
# litifut is left out. And a package of OpenWrt's own, built under `litifut build`: its files are those of the
# plain package and are traced, it does its work, and its trace has names.
#
#   OPENWRT=FOLDER tests/packaging/openwrt.sh
#
# FOLDER is a tree of OpenWrt that is configured for an ARM or a MIPS (o32) with glibc and an external toolchain, with the
# package bzip2 chosen and packages of opkg (no CONFIG_USE_APK); openwrt_tree.sh makes a checkout one. Its feeds are replaced.
. "$(dirname "$0")/../lib.sh"

# A package as users have them: its source is in src/.
package_of_a_user()
{
	mkdir -p mine/demo/src
	# here-documents lose the tabs that a makefile needs
	sed 's/^@/	/' >mine/demo/Makefile <<-'END'
		include $(TOPDIR)/rules.mk

		PKG_NAME:=demo
		PKG_VERSION:=1
		PKG_RELEASE:=1

		-include $(TOPDIR)/feeds/litifut/litifut.mk
		include $(INCLUDE_DIR)/package.mk

		define Package/demo
		  SECTION:=utils
		  CATEGORY:=Utilities
		  TITLE:=Demo
		endef

		define Build/Compile
		@$(TARGET_CC) $(TARGET_CFLAGS) $(TARGET_LDFLAGS) -o $(PKG_BUILD_DIR)/demo $(PKG_BUILD_DIR)/demo.c
		endef

		define Package/demo/install
		@$(INSTALL_DIR) $(1)/usr/bin
		@$(INSTALL_BIN) $(PKG_BUILD_DIR)/demo $(1)/usr/bin
		endef

		$(eval $(call BuildPackage,demo))
	END
	cat >mine/demo/src/demo.c <<-'END'
		#include <stdio.h>

		__attribute__((noinline, noclone)) static int steps(unsigned n)
		{
			int count = 0;

			for (; n != 1; count++)
				n = n % 2 ? 3 * n + 1 : n / 2;
			return count;
		}

		int main(void)
		{
			return printf("%d\n", steps(27)) != 4;
		}
	END
}

feed()
{
	package_of_a_user
	printf 'src-link %s\n' "litifut $root/packaging/openwrt" "mine $(pwd)/mine" >"$OPENWRT/feeds.conf" &&
		(cd "$OPENWRT" && scripts/feeds clean && scripts/feeds update -a && scripts/feeds install litifut demo)
}

# configure LINE...: the choices of this script in .config
configure()
{
	sed -i '/LITIFUT_SETTINGS\|PACKAGE_litifut\|PACKAGE_demo/d' "$OPENWRT/.config" &&
		printf '%s\n' CONFIG_PACKAGE_demo=y "$@" >>"$OPENWRT/.config" &&
		FORCE_UNSAFE_CONFIGURE=1 make -C "$OPENWRT" defconfig && grep CONFIG_PACKAGE_demo=y "$OPENWRT/.config"
}

compile()
{
	configure "$@" >make.log 2>&1 && make -C "$OPENWRT" package/demo/compile V=s >>make.log 2>&1 &&
		unpack feed demo
}

# unpack FOLDER PART...
unpack()
{
	rm -rf "$1"
	mkdir "$1" || return
	unpacked=$1
	shift
	for part; do
		tar xzOf "$(find "$OPENWRT/bin/packages/$packages" -name "${part}[-_][0-9.]*_*.ipk")" ./data.tar.gz |
			tar xz -C "$unpacked" || return
	done
}

run_demo()
{
	rm -rf data.feed
	"$emulator" -L "$sysroot" -E "LITIFUT_DIR=$(pwd)/data.feed" feed/usr/bin/demo | grep -x 111
}

host_post()
{
	"$(echo "$OPENWRT"/staging_dir/target-"$tree_name"*/host/bin)/litifut-post" -f edges -o edges data.feed \
		"$(echo "$OPENWRT"/build_dir/target-"$tree_name"*/demo-1)/demo" && cat edges &&
		grep ' main -> steps' edges
}

mode_is()
{
	"$BUILD/bin/litifut" info "$(echo "$OPENWRT"/build_dir/target-"$tree_name"*/demo-1)/demo" | grep "mode  *$1"
}

# package NAME COMMAND...: the files of bzip2 and its library, made by the command, in folder NAME
package()
{
	package_name=$1
	shift
	"$@" make -C "$OPENWRT/package/utils/bzip2" TOPDIR="$OPENWRT" PKG_BUILD_FLAGS=no-mips16 \
		clean compile V=s >"$package_name.log" 2>&1 || return
	unpack "$package_name" bzip2 libbz2
}

# works NAME: a file is packed by the package's program and unpacked by that of the build machine
works()
{
	rm -f input.bz2
	"$emulator" -L "$sysroot" -E "LD_LIBRARY_PATH=$(pwd)/$1/usr/lib" -E "LITIFUT_DIR=$(pwd)/data.$1" \
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
	built=$(echo "$OPENWRT"/build_dir/target-"$tree_name"*/bzip2-*)
	"$BUILD/bin/litifut-post" -f edges -o edges data.traced "$built/bzip2-shared" "$built"/libbz2.so.*.* 2>edges.err ||
		return
	grep ' 0 lost.* 0 unresolved' edges.err && grep ' -> BZ2_bzWrite' edges && grep ' -> bsW' edges
}

behaviour()
{
	ok "feeds takes the feed" feed
	ok "a package with its include is built" \
		compile CONFIG_PACKAGE_litifut=y 'CONFIG_LITIFUT_SETTINGS="LITIFUT_MODE=spans"'
	ok "by the setting of menuconfig" mode_is spans
	ok "it does its work" run_demo
	ok "and its trace has names, by the programs that the feed has built" host_post
	ok "another setting builds it again" \
		compile CONFIG_PACKAGE_litifut=y 'CONFIG_LITIFUT_SETTINGS="LITIFUT_MODE=counts"'
	ok "by that one" mode_is counts
	ok "without litifut it is built again" compile
	ok "it does its work" run_demo
	ok "and records nothing" [ ! -e data.feed ]
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
case $(grep '^CONFIG_ARCH=' "$OPENWRT/.config") in
*'"arm"') TARGETS=armhf emulator=qemu-arm ;;
*'"mips"') TARGETS=mips emulator=qemu-mips ;;
*'"mipsel"') TARGETS=mipsel emulator=qemu-mipsel ;;
*)
	echo "Bail out! $OPENWRT/.config is for neither an ARM nor a MIPS with o32"
	exit 1
	;;
esac
packages=$(sed -n 's/^CONFIG_TARGET_ARCH_PACKAGES="\(.*\)"/\1/p' "$OPENWRT/.config")
tree_name=$(sed -n 's/^CONFIG_TARGET_NAME="\(.*\)"/\1/p' "$OPENWRT/.config")
for_targets behaviour
