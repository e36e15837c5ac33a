#!/bin/sh
# A set-uid program (AT_SECURE) takes no word from its environment, and writes to no
# place that its caller chose. qemu-user passes AT_SECURE on, so a set-uid qemu makes
# the guest a set-uid program; tests/device does it with a real kernel.
. "$(dirname "$0")/../lib.sh"

# secure_run PROGRAM: as nobody, through a qemu that belongs to another
secure_run()
{
	(
		cd "$place/here" &&
			env -i LITIFUT_DIR="$place/environment" LITIFUT_VERBOSE=1 LITIFUT_START=off \
				LITIFUT_COPY_TO="$place/environment" timeout 60 setpriv --reuid 65534 \
				--regid 65534 --clear-groups "$place/qemu" -L "$sysroot" "$place/$1"
	) >traced.out 2>traced.err
}

traces()
{
	find "$place" -name '*.trace' | sed 's|.*/\([^/]*\)/trace/.*|\1|'
}

behaviour()
{
	cat >work.c <<-'END'
		#include <stdio.h>
		#include <sys/auxv.h>
		__attribute__((noipa)) void step(void) { __asm__ volatile(""); }
		int main(void)
		{
			for (int i = 0; i < 100; i++)
				step();
			printf("secure: %d\n", getauxval(AT_SECURE) != 0);
			return 0;
		}
	END
	if [ "$(id -u)" != 0 ] || ! command -v setpriv >/dev/null; then
		skip "set-uid programs" "not root, or no setpriv"
		return
	fi
	place=$(mktemp -d)
	mkdir "$place/here" "$place/baked"
	chmod 755 "$place"
	chmod 777 "$place/here"
	chown 65533 "$place/baked"
	link work ../work.c || return
	cp traced/work "$place/work"
	export LITIFUT_DEFAULTS="LITIFUT_DIR=$place/baked"
	link baked ../work.c || return
	unset LITIFUT_DEFAULTS
	cp traced/baked "$place/baked-in"
	cp "$(command -v "qemu-$cpu")" "$place/qemu"
	chown 65533:65533 "$place/qemu"
	chmod 6755 "$place/qemu"

	secure_run work
	if [ "$(cat traced.out)" = "secure: 0" ]; then
		skip "set-uid programs" "set-uid has no effect here"
		rm -rf "$place"
		return
	fi
	is "the program runs as ever" "$(cat traced.out)" "secure: 1"
	is "no message of the tracer, whatever LITIFUT_VERBOSE" "$(cat traced.err)" ""
	is "no trace where the caller says or stands" "$(traces)" ""
	is "and no folder" "$(ls "$place/here")" ""

	secure_run baked-in
	is "given at the link: the program runs as ever" "$(cat traced.out)" "secure: 1"
	is "given at the link: it is recorded there, and only there" "$(traces)" baked
	ok "given at the link: the trace is read" "$BUILD/bin/litifut-post" -f tsv -o events.tsv \
		"$place/baked" traced/baked
	is "given at the link: LITIFUT_START is not looked at" "$(recorded step)" 100

	# whoever has the link, or may write to the folder, would choose where it goes
	rm -rf "$place/baked"
	mkdir "$place/elsewhere"
	chown 65533 "$place/elsewhere"
	ln -s elsewhere "$place/baked"
	chown -h 65534 "$place/baked"
	secure_run baked-in
	is "given at the link, a link of the caller: not recorded" "$(cat traced.out traced.err; traces)" \
		"secure: 1"
	chown -h 65533 "$place/baked"
	secure_run baked-in
	is "given at the link, a link of the program's user: recorded" "$(traces)" elsewhere
	rm -rf "$place/baked" "$place/elsewhere"
	mkdir "$place/baked"
	chown 65533 "$place/baked"
	chmod 777 "$place/baked"
	secure_run baked-in
	is "given at the link, a folder that all may write to: not recorded" "$(traces)" ""
	chmod 755 "$place/baked"
	chown 65532 "$place/baked"
	secure_run baked-in
	is "given at the link, a folder of a third user: not recorded" "$(traces)" ""
	rm -rf "$place"
}

for_targets behaviour
