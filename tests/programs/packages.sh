#!/bin/sh
# Debian packages of programs of other projects, made for the target by their own
# debian/rules: plain, and with `litifut build` in front. Both make the same packages
# with the same files and fields; the stripped programs in them are rewritten, print
# the same, and the packages of debug symbols have the names of their calls.
#
#   tests/programs/packages.sh [PACKAGE...]     Debian source packages, four targets
. "$(dirname "$0")/trees.sh"

# The cross compilers' libraries belong to no package of the target: dpkg-shlibdeps
# finds them where it is configured to, and learns about them from those compilers.
build_packages()
{
	(
		cd "$1/source" || exit 1
		case $1 in
		plain) set -- ;;
		traced) set -- "$BUILD/bin/litifut" build ;;
		esac
		export LD_LIBRARY_PATH="$sysroot/lib" DEB_BUILD_OPTIONS='nocheck parallel=2'
		timeout 3600 "$@" dpkg-buildpackage -a "$architecture" -Pnobiarch,cross,nocheck -B -d -us -uc
	) >"$1.log" 2>&1 </dev/null
}

# unpack FOLDER: into FOLDER/unpacked/PACKAGE; what they say and hold into FOLDER.fields and
# FOLDER.files. A build-id, after which files of debug symbols are named, is of the content.
unpack()
{
	mkdir "$1/unpacked"
	for deb in "$1"/*.deb "$1"/*.udeb; do
		[ -f "$deb" ] || continue
		basename "$deb"
		dpkg-deb -f "$deb" | grep -v '^\(Installed-Size\|Build-Ids\):'
		dpkg-deb -x "$deb" "$1/unpacked/$(basename "$deb" | sed 's/_.*//')" || return
	done >"$1.fields"
	(cd "$1/unpacked" && find . -printf '%y %m %p %l\n' | sed 's,build-id/.*,build-id,' | sort) >"$1.files"
	test -s "$1.fields"
}

# What the linker was told stays told: needed libraries, names, flags.
says_to_the_loader()
{
	target_modules "$1/unpacked" | while read -r packed; do
		echo "${packed#"$1"/}"
		readelf -dW "$packed" | sed -n 's/.*(\(NEEDED\|SONAME\|RUNPATH\|RPATH\|FLAGS\|FLAGS_1\))/\1/p'
		readelf -lW "$packed" | sed -n 's/^ *\(GNU_RELRO\|GNU_STACK\|INTERP\) .* \([RWE]*\) .*/\1 \2/p'
	done
}

# run_packed FOLDER PATH ARGUMENTS...: of the unpacked packages the program whose path ends so
run_packed()
{
	packed_program=$(find "$1/unpacked" -path "*/$2" ! -path '*/debug/*' | sort | head -n 1)
	packed_libraries=$(find "$(pwd)/$1/unpacked" -name '*.so.*' ! -path '*/debug/*' -printf '%h\n' | sort -u | paste -s -d :)
	shift 2
	env -i LITIFUT_DIR="$(pwd)/data" timeout 600 "qemu-$cpu" -L "$sysroot" \
		-E LD_LIBRARY_PATH="$packed_libraries" "$packed_program" "$@"
}

# What is tried of each package.
# shellcheck disable=SC2016 # what awk expands
try()
{
	case $name in
	bzip2)
		run_packed "$1" bin/bzip2 -9 <"$root/LICENSE" >packed.bz2
		run_packed "$1" bin/bunzip2 <packed.bz2
		head -c 100 packed.bz2 | run_packed "$1" bin/bzcat
		;;
	xz-utils)
		run_packed "$1" bin/xz -T2 <"$root/LICENSE" >packed.xz
		run_packed "$1" bin/unxz <packed.xz
		run_packed "$1" bin/xzcat -l packed.xz
		;;
	mawk) run_packed "$1" bin/mawk '{ n += NF; print toupper($0) } END { printf "%d %.3f\n", n, log(n) }' "$root/LICENSE" ;;
	esac
	echo "status $?"
}

# Of the events of the programs in packages some have the names of their functions
# only in the packages of debug symbols.
names_are_found()
{
	"$BUILD/bin/litifut-post" data "$unpacked" 2>post.said >calls && test -s calls && grep ' 0 unresolved' post.said
}

make_packages()
{
	for tree in plain traced; do
		mkdir $tree
		dpkg-source --no-check -x "$(dirname "$source_folder")"/*.dsc $tree/source >unpack.log 2>&1
		if ! ok "$name: its packages are made, $tree" build_packages $tree; then
			tail -n 5 $tree.log | sed 's/^/# /' >&2
			return
		fi
		ok "$name: its packages are unpacked, $tree" unpack $tree
		says_to_the_loader $tree >$tree.loader
	done
	ok "$name: the wrapper has nothing to warn of" lacks_our_words traced.log
	ok "$name: the same packages, which say the same of themselves" diff plain.fields traced.fields
	ok "$name: the same files in them" diff plain.files traced.files
	ok "$name: their programs and libraries are rewritten" all_are_rewritten traced/unpacked
	ok "$name: and are to the loader what they were" diff plain.loader traced.loader
	ok "$name: there are some" test -s rewritten.list
	printf '# %s %s: %s packages, %s files, %s rewritten\n' "$name" "$target" \
		"$(grep -c '^Package:' traced.fields)" "$(wc -l <traced.files)" "$(wc -l <rewritten.list)"
	# zlib is a library alone
	[ "$name" != zlib ] || return
	try plain >plain.out 2>&1
	try traced >traced.out 2>&1
	ok "$name: its programs print the same" diff plain.out traced.out
	unpacked=$(pwd)/traced/unpacked
	ok "$name: the names of its calls are found in the packages" names_are_found
}

packages()
{
	for name in $names; do
		architecture=$target
		if ! source_folder=$("$root/scripts/fetch-source" "$name" 2>fetch.log); then
			skip "$name" "$(tail -n 1 fetch.log)"
			continue
		fi
		mkdir "$name"
		cd "$name" || exit 1
		failed_before=$failed_count
		make_packages
		cd ..
		[ $failed_count != "$failed_before" ] || rm -rf "${name:?}"
	done
}

TARGETS=${TARGETS:-armhf armel mipsel mips}
[ $# != 0 ] || set -- bzip2 zlib mawk xz-utils
names=$*
# shellcheck disable=SC2086
script=packages-$(together $names)
for_targets packages
