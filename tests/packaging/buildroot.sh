#!/bin/sh
# An image that Buildroot has made with packaging/buildroot, booted in QEMU: the packages that were chosen
# are traced, others are not, a run on the board does its work, and its trace has the calls
# of the same run under qemu-user. docs/recipes.md says how such an image is made.
#
#   BUILDROOT_OUTPUT=FOLDER tests/packaging/buildroot.sh
#
# FOLDER is the output folder of a Buildroot for an ARM with glibc, with busybox and bzip2 in
# BR2_PACKAGE_HOST_LITIFUT_PACKAGES and BR2_TARGET_ROOTFS_CPIO_GZIP. The kernel is Debian's.
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
	kernel=$("$root/tests/device/fetch-package" armhf linux-image-armmp) || return
	timeout "${BOOT_SECONDS:-400}" qemu-system-arm -M virt,highmem=off -cpu cortex-a15 -smp 2 -m 512 \
		-nic none -display none -monitor none -serial file:console -no-reboot \
		-kernel "$(find "$kernel/boot" -name 'vmlinuz-*')" -initrd initrd \
		-append "console=ttyAMA0 quiet panic=-1" </dev/null || return
	tr -d '\r' <console | sed -n '/^board: begin/,/^board: end/p' | sed '1,2d;/^====/,$d' | base64 -d | tar xz
}

is_traced()
{
	"$host/litifut" info "$BUILDROOT_OUTPUT/$1" | grep ': rewritten'
}

# How often each function was called by which.
edges()
{
	"$host/litifut-post" -q --plt -f edges "$1" "$built/bzip2" | sort
}

same_calls()
{
	cat board.edges && cmp board.edges emulated.edges && [ "$(wc -l <board.edges)" -gt 20 ]
}

behaviour()
{
	host=$BUILDROOT_OUTPUT/host/bin
	built=$(echo "$BUILDROOT_OUTPUT"/build/bzip2-*)
	for file in target/bin/busybox target/usr/bin/bzip2; do
		ok "$file is traced" is_traced $file
	done
	ok "a library of no chosen package is not" sh -c "! '$host/litifut' info '$BUILDROOT_OUTPUT/target/lib/libc.so.6' | grep ': rewritten'"
	ok "the tracer was made for this CPU alone" sh -c "ls '$host/../lib/litifut' && ! ls '$host/../lib/litifut' | grep -e mips -e firmware"
	ok "the image boots, with a traced init" boot
	ok "what bzip2 wrote is right" sh -c "grep 'board: same' console && seq 1 2000 >input && bzip2 -dc input.bz2 | cmp - input"
	ok "busybox is traced on the board" grep 'board: armv7l [1-9][0-9]* traces of busybox' console
	edges data >board.edges
	# the image keeps the stripped files, and the C library
	rm -f input.bz2
	mkdir emulated
	ok "the same run under qemu-user" qemu-arm -L "$BUILDROOT_OUTPUT/target" -E LITIFUT_DIR=emulated \
		"$BUILDROOT_OUTPUT/target/usr/bin/bzip2" -k input
	edges emulated >emulated.edges
	ok "has the same calls" same_calls
}

if [ -z "${BUILDROOT_OUTPUT:-}" ]; then
	echo "1..1"
	echo "ok 1 # SKIP BUILDROOT_OUTPUT does not name an output folder of Buildroot (docs/recipes.md)"
	exit 0
fi
TARGETS=armhf for_targets behaviour
