#!/bin/sh
# An image that Buildroot has made with packaging/buildroot, booted in QEMU: the packages that were chosen
# are traced, others are not, a run on the board does its work, and its trace has the calls
# of the same run under qemu-user.
#
#   BUILDROOT=FOLDER [TARGETS="armhf mipsel"] tests/packaging/buildroot.sh
#   BUILDROOT_OUTPUT=FOLDER [TARGETS=armhf] tests/packaging/buildroot.sh
#
# BUILDROOT is a checkout, of which buildroot_tree.sh makes the images. BUILDROOT_OUTPUT is the output folder of a Buildroot
# for one of the targets with glibc, with busybox and bzip2 in BR2_PACKAGE_HOST_LITIFUT_PACKAGES, LITIFUT_MODE=spans and
# BR2_TARGET_ROOTFS_CPIO_GZIP. The kernel is Debian's.
given=${TARGETS:-}
. "$(dirname "$0")/../lib.sh"

# What the image's own init starts last. `seq` and so on are the traced busybox.
board_script()
{
	cat <<-'END'
		#!/bin/sh
		[ "$1" = start ] || exit 0
		seq 1 2000 >/tmp/input
		LITIFUT_DIR=/tmp/data bzip2 -k /tmp/input
		bzip2 -dc /tmp/input.bz2 | cmp - /tmp/input && echo "board: same"
		echo "board: $(uname -m) $(ls /litifut-data/trace | grep -c '^busybox') traces of busybox"
		cd /tmp && echo "board: begin" && tar cf - data input.bz2 | gzip | uuencode -m - && echo "board: end"
		poweroff -f
	END
}

boot()
{
	mkdir -p more/etc/init.d
	board_script >more/etc/init.d/S99litifut
	chmod 755 more/etc/init.d/S99litifut
	(cd more && find . | cpio -o -H newc --quiet | gzip -1) >more.gz
	cat "$BUILDROOT_OUTPUT/images/rootfs.cpio.gz" more.gz >initrd
	case $target in
	armhf)
		package=linux-image-armmp device=ttyAMA0
		set -- qemu-system-arm -M virt,highmem=off -cpu cortex-a15 -smp 2 -m 512
		;;
	mipsel)
		package=linux-image-4kc-malta device=ttyS0
		set -- qemu-system-mipsel -M malta -m 512 -vga none
		;;
	esac
	kernel=$("$root/tests/device/fetch-package" "$target" "$package") || return
	timeout "${BOOT_SECONDS:-400}" "$@" -nic none -display none -monitor none -serial file:console -no-reboot \
		-kernel "$(find "$kernel/boot" -name 'vmlinu[xz]-*')" -initrd initrd \
		-append "console=$device quiet panic=-1" </dev/null || return
	tr -d '\r' <console | sed -n '/^board: begin/,/^board: end/p' | sed '1,2d;/^====/,$d' | base64 -d | tar xz
}

is_traced()
{
	"$host/litifut" info "$BUILDROOT_OUTPUT/$1" | grep ': rewritten'
}

is_plain()
{
	"$host/litifut" info "$BUILDROOT_OUTPUT/$1" >plain.info && ! grep ': rewritten' plain.info
}

# How often each function was called by which.
edges()
{
	"$host/litifut-post" -q --plt -f edges "$1" "$built/bzip2" "$BUILDROOT_OUTPUT/target/lib/libc.so.6" | sort
}

same_calls()
{
	cat board.edges && cmp board.edges emulated.edges && [ "$(wc -l <board.edges)" -gt 20 ]
}

behaviour()
{
	if [ -n "${BUILDROOT:-}" ]; then
		BUILDROOT_OUTPUT=$(pwd)/output
		ok "Buildroot makes the image" "$root/tests/packaging/buildroot_tree.sh" "$BUILDROOT" "$target" "$BUILDROOT_OUTPUT"
	fi
	host=$BUILDROOT_OUTPUT/host/bin
	built=$(echo "$BUILDROOT_OUTPUT"/build/bzip2-*)
	case $target in
	armhf) others=mips machine=armv7l ;;
	mipsel) others=arm machine=mips ;;
	esac
	for file in target/bin/busybox target/usr/bin/bzip2; do
		ok "$file is traced" is_traced $file
	done
	ok "a library of no chosen package is not" is_plain target/lib/libc.so.6
	ok "the tracer was made for this CPU alone" sh -c "ls '$host/../lib/litifut' && ! ls '$host/../lib/litifut' | grep -e $others -e firmware"
	ok "what was built beside the sources is not copied" \
		sh -c "ls '$BUILDROOT_OUTPUT/build/host-litifut/build' && ! ls '$BUILDROOT_OUTPUT/build/host-litifut/build' | grep -x tests"
	ok "the image boots, with a traced init" boot
	ok "what bzip2 wrote is right" sh -c "grep 'board: same' console && seq 1 2000 >input && bzip2 -dc input.bz2 | cmp - input"
	ok "busybox is traced on the board" grep "board: $machine [1-9][0-9]* traces of busybox" console
	edges data >board.edges
	# the image keeps the stripped files, and the C library
	rm -f input.bz2
	mkdir emulated
	ok "the same run under qemu-user" "qemu-$cpu" -L "$BUILDROOT_OUTPUT/target" -E LITIFUT_DIR=emulated \
		"$BUILDROOT_OUTPUT/target/usr/bin/bzip2" -k input
	edges emulated >emulated.edges
	ok "has the same calls" same_calls
}

if [ -z "${BUILDROOT:-}${BUILDROOT_OUTPUT:-}" ]; then
	echo "1..1"
	echo "ok 1 # SKIP BUILDROOT does not name a checkout of Buildroot (docs/recipes.md)"
	exit 0
fi
TARGETS=${given:-armhf} for_targets behaviour
