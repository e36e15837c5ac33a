#!/bin/sh
# The Yocto layer in packaging/yocto: BitBake builds LITIFUT and two recipes of bzip2, of which one is to be
# traced, and the programs are run under qemu-user. What BitBake would build before that (compiler, C
# library, patch, pseudo) is Debian's, and no image is made.
#
#   POKY=FOLDER [TARGETS="armhf armel mips mipsel"] tests/packaging/yocto.sh
#
# FOLDER is a clone of poky, release scarthgap. The build machine has the programs that BitBake calls: beside those of
# scripts/install-dependencies diffstat, file, gawk, locales, lz4, rpcsvc-proto and wget. docs/recipes.md says what was run.
given=${TARGETS:-}
. "$(dirname "$0")/../lib.sh"

# What recipes of oe-core would provide.
provided='gcc g++ binutils compilerlibs'
natives='quilt rpm dwarfsrcfiles file xz zstd patch patch-replacement opkg opkg-utils'

configuration()
{
	# BitBake does not start without this locale
	mkdir locales && localedef -i en_US -f UTF-8 locales/en_US.UTF-8 || return
	mkdir -p build/conf try/conf try/recipes-try/try
	for name in LAYERSERIES_COMPAT_try=scarthgap LAYERDEPENDS_try=core BBFILE_COLLECTIONS=try \
		BBFILE_PATTERN_try="^$(pwd)/try/" BBFILES="\${BBFILES} $(pwd)/try/recipes-try/*/*.bb"; do
		echo "${name%%=*} = \"${name#*=}\""
	done | sed 's/^BBFILE_COLLECTIONS =/BBFILE_COLLECTIONS +=/; s/^BBFILES = "${BBFILES}/BBFILES += "/' >try/conf/layer.conf
	cat >build/conf/bblayers.conf <<-END
		BBPATH = "\${TOPDIR}"
		BBFILES = ""
		BBLAYERS = "$POKY/meta $root/packaging/yocto $(pwd)/try"
	END
	mode=spans
	case $target in
	armhf) machine=qemuarm tune='' ;;
	# returns are not recorded before ARMv7
	armel) machine=qemuarmv5 tune='' mode=calls ;;
	mips) machine=qemumips tune='' ;;
	mipsel) machine=qemumips tune=mips32r2el ;;
	esac
	cat >build/conf/local.conf <<-END
		MACHINE = "$machine"
		$([ -z "$tune" ] || echo "DEFAULTTUNE = \"$tune\"")
		DISTRO = "nodistro"
		# it would refuse root
		INHERIT:remove = "sanity"
		BB_NO_NETWORK = "1"
		BB_NUMBER_THREADS = "2"
		BB_NUMBER_PARSE_THREADS = "2"
		PARALLEL_MAKE = "-j2"
		BBMASK = "/meta/recipes-"
		PACKAGE_CLASSES = "package_ipk"
		TARGET_PREFIX = "$triplet-"
		TOOLCHAIN_OPTIONS = ""
		DEBUG_PREFIX_MAP = ""
		ASSUME_PROVIDED += "virtual/libc virtual/crypt virtual/fakeroot-native glibc libgcc gcc-runtime base-files"
		ASSUME_PROVIDED += "$(for name in $provided; do printf "virtual/$triplet-%s " "$name"; done)"
		ASSUME_PROVIDED += "$(for name in $natives; do printf '%s-native ' "$name"; done)"
		HOSTTOOLS += "pkg-config $(for tool in gcc g++ cpp ld ld.bfd ar as nm objcopy objdump strip ranlib readelf gcc-ar gcc-nm gcc-ranlib; do
			printf "$triplet-%s " $tool
		done)"
		INHERIT += "litifut"
		LITIFUT_RECIPES = "traced"
		LITIFUT_SETTINGS = "LITIFUT_MODE=spans LITIFUT_CLOCK=mono"
	END
	cp -a "$(BUILD="$BUILD" "$root/scripts/fetch-source" bzip2)" bzip2 || return
	for recipe in traced plain; do
		cat >try/recipes-try/try/$recipe.bb <<-END
			LICENSE = "CLOSED"
			inherit externalsrc
			EXTERNALSRC = "$(pwd)/bzip2"
			EXTERNALSRC_BUILD = "$(pwd)/built/$recipe"
			# not with git, which ignores the folder of the tests
			do_compile[file-checksums] = ""
			do_compile() {
			    cp -a \${S}/. \${B}
			    oe_runmake -C \${B} clean
			    oe_runmake -C \${B} bzip2 CC="\${CC}" AR="\${AR}" RANLIB="\${RANLIB}" CFLAGS="\${CFLAGS}" LDFLAGS="\${LDFLAGS}"
			}
		END
	done
}

bake()
{
	locales=$(pwd)/locales
	(cd build && env -u LC_ALL LANG=C.UTF-8 LOCPATH="$locales" BB_ENV_PASSTHROUGH_ADDITIONS=LOCPATH BBPATH="$(pwd)" BUILDDIR="$(pwd)" \
		PATH="$POKY/bitbake/bin:$POKY/scripts:$PATH" timeout 1500 bitbake "$@" </dev/null)
}

program()
{
	echo "built/$1/bzip2"
}

mode_is()
{
	"$BUILD/bin/litifut" info "$(program traced)" | grep "mode  *$1"
}

is_plain()
{
	"$BUILD/bin/litifut" info "$(program plain)" >plain.info && ! grep ': rewritten' plain.info
}

# The names come from the programs that BitBake has built.
shows_calls()
{
	post=$(find build -path '*/traced/*/recipe-sysroot-native/usr/bin/litifut-post')
	"qemu-$cpu" -L "$sysroot" -E LITIFUT_DIR=data "$(program traced)" -k input &&
		"qemu-$cpu" -L "$sysroot" "$(program plain)" -dc input.bz2 | cmp - input &&
		"$post" -q -f report data "$(program traced)" | grep BZ2_compressBlock
}

is_refused()
{
	sed -i 's/^LITIFUT_SETTINGS.*/LITIFUT_SETTINGS = "MODE=spans"/' build/conf/local.conf
	! bake -p >refused 2>&1 && grep 'MODE=spans is not LITIFUT_NAME=VALUE' refused
}

behaviour()
{
	ok "a build folder" configuration
	ok "BitBake builds LITIFUT and both programs" bake -c compile traced plain
	ok "the recipe that was named is traced" mode_is "$mode"
	ok "the other one is not" is_plain
	seq 1 2000 >input
	ok "the program does its work, and its calls are shown" shows_calls
	sed -i 's/LITIFUT_MODE=spans/LITIFUT_MODE=counts/' build/conf/local.conf
	ok "with another setting" bake -c compile traced
	ok "it is linked again" mode_is counts
	ok "what is not a setting is refused" is_refused
}

if [ -z "${POKY:-}" ]; then
	echo "1..1"
	echo "ok 1 # SKIP POKY does not name a clone of poky, release scarthgap (docs/recipes.md)"
	exit 0
fi
TARGETS=${given:-armhf} for_targets behaviour
