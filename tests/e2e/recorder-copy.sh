#!/bin/sh
# LITIFUT_COPY_TO and LITIFUT_SIGNAL: what is carried to the stick is whole under its
# name or not there, whatever was there before and however little room there is;
# and recording switched off and on from outside while threads are busy.
. "$(dirname "$0")/../lib.sh"
few_targets armhf mips

# carried DESCRIPTION: the run with copy_to, the program unharmed
carried()
{
	rm -rf data
	guest_environment="LITIFUT_DIR=$(pwd)/data LITIFUT_COPY_TO=$copy_to LITIFUT_CLOCK=none"
	run traced work
	guest_environment=
	ok "$1: the program does not notice" diff plain.out traced.out
	ok "$1: no message of the tracer" diff plain.err traced.err
	is "$1: nothing half-written is left" "$(find "$copy_to" -name '*.tmp' | wc -l)" 0
}

whole()
{
	cmp data/trace/*.trace "$copy_to"/trace/*.trace && cmp data/maps/*.maps "$copy_to"/maps/*.maps
}

# The order in which the kernel is asked: what is written before a rename has
# been synced before it, and the name afterwards.
in_order()
{
	awk '/openat.*trace.*tmp/ { opened = 1 }
		opened && /write\(/ { written = NR }
		opened && /fsync\(/ { if (renamed) { good = 1; exit } synced = NR }
		opened && /renameat\(/ { if (written && written < synced) renamed = 1; else exit }
		END { exit !good }' "$1"
}

# Something else in the place of a file that is to be read or written: a FIFO, at whose
# other end is not open.
fifos()
{
	cat >fifo.c <<-'END'
		#include <stdio.h>
		#include <sys/stat.h>
		#include <unistd.h>
		__attribute__((noipa)) void step(void) { __asm__ volatile(""); }
		static void replace(const char *folder, const char *kind)
		{
			char path[600];
			snprintf(path, sizeof(path), "%s/%s/fifo.%d.%s", folder, kind, (int)getpid(), kind);
			unlink(path);
			if (mkfifo(path, 0600))
				perror(path);
		}
		int main(int count, char **arguments)
		{
			for (int i = 0; i < 30000; i++)
				step();
			if (count > 2) {
				replace(arguments[1], "trace");
				replace(arguments[1], "maps");
			}
			for (int i = 0; i < 30000; i++)
				step();
			puts("done");
			return 3;
		}
	END
	link fifo ../fifo.c || return
	rm -rf data usb
	guest_environment="LITIFUT_DIR=$(pwd)/data LITIFUT_COPY_TO=$(pwd)/usb LITIFUT_COMPACT=0"
	run traced fifo "$(pwd)/data" replaced
	is "FIFOs in the place of the files: the program ends" "$(cat traced.out traced.err traced.status)" \
		"done
3"
	ok "FIFOs in the place of the files: the copy is read" "$BUILD/bin/litifut-post" -f tsv \
		-o events.tsv usb/trace usb/maps traced/fifo
	is "FIFOs in the place of the files: every call" "$(recorded step)" 60000
	rm -rf data usb
	mkfifo usb
	run traced fifo "$(pwd)/data"
	guest_environment=
	is "a FIFO in the place of the stick: the program ends" "$(cat traced.out traced.err traced.status)" \
		"done
3"
	ok "a FIFO in the place of the stick: the trace is read" "$BUILD/bin/litifut-post" -f tsv \
		-o events.tsv data/trace data/maps traced/fifo
	rm usb
}

stick()
{
	copy_to=$(pwd)/usb
	carried "an empty stick"
	ok "an empty stick: both files are there" whole

	# what a loss of power leaves: longer than the new one, and of another run
	rm -rf usb
	mkdir -p usb/trace usb/maps
	guest_environment="LITIFUT_DIR=$(pwd)/data LITIFUT_COPY_TO=$copy_to LITIFUT_CLOCK=none"
	rm -rf data
	(
		cd usb || exit
		seq 200000 | tee trace/half maps/half >/dev/null
	)
	leftover_run
	guest_environment=
	ok "a half-written file of before: the new one is whole" whole
	is "a half-written file of before: it is gone" \
		"$(find usb -name '*.tmp' | wc -l)" 0

	rm -rf usb data
	guest_environment="LITIFUT_DIR=$(pwd)/data LITIFUT_COPY_TO=$copy_to LITIFUT_CLOCK=none"
	qemu_options="-strace -D $(pwd)/calls.log"
	run traced work
	qemu_options='' guest_environment=''
	ok "written, synced, and only then renamed" in_order calls.log
	ok "and nothing else is synced" sh -c '! grep "[^f]sync(\|syncfs(" calls.log'

	mkdir -p small
	if mount -t tmpfs -o size=48k none small 2>/dev/null; then
		copy_to=$(pwd)/small
		carried "a stick that is too small"
		is "a stick that is too small: no trace claims to be whole" \
			"$(find small -name '*.trace' | wc -l)" 0
		umount small
		mount -t tmpfs -o ro none small
		carried "a stick that can't be written"
		umount small
	else
		skip "a stick that is too small" "no right to mount"
	fi
}

# The program's process id is not known before: it is started by a shell that
# becomes it.
leftover_run()
{
	# shellcheck disable=SC2016,SC2086
	env -i $guest_environment sh -c '
		mv usb/trace/half usb/trace/work.$$.trace.tmp
		mv usb/maps/half usb/maps/work.$$.maps.tmp
		exec "$@"' sh "qemu-$cpu" -L "$sysroot" traced/work >traced.out 2>traced.err
}

# Switched off and on forty times from outside. The program notes what it knew:
# between two marks that only it sees, calls are all there or none.
toggled()
{
	cat >toggle.c <<-'END'
		#include <pthread.h>
		#include <signal.h>
		#include <stdio.h>
		#include <unistd.h>
		#define KEEP __attribute__((noipa))
		static volatile int stop;
		KEEP void in_thread(void) { __asm__ volatile(""); }
		KEEP void while_off(void) { __asm__ volatile(""); }
		KEEP void while_on(void) { __asm__ volatile(""); }
		static void *worker(void *argument)
		{
			while (!stop)
				in_thread();
			return argument;
		}
		int main(void)
		{
			pthread_t thread[3];
			while_on();
			for (int i = 0; i < 3; i++)
				pthread_create(&thread[i], 0, worker, 0);
			/* handled by this thread, before kill() comes back */
			for (int i = 0; i < 20; i++) {
				pthread_kill(pthread_self(), SIGUSR2);
				while_off();
				usleep(500);
				pthread_kill(pthread_self(), SIGUSR2);
				while_on();
				usleep(500);
			}
			stop = 1;
			for (int i = 0; i < 3; i++)
				pthread_join(thread[i], 0);
			puts("done");
			return 0;
		}
	END
	flags=-pthread
	link toggle ../toggle.c || return
	flags=
	number=$([ "$cpu" = arm ] && echo 12 || echo 17)
	rm -rf data usb
	guest_environment="LITIFUT_DIR=$(pwd)/data LITIFUT_SIGNAL=$number LITIFUT_COPY_TO=$(pwd)/usb"
	run traced toggle
	guest_environment=
	is "LITIFUT_SIGNAL: the program goes on" "$(cat traced.out traced.status)" "done
0"
	ok "LITIFUT_SIGNAL: the trace is read" "$BUILD/bin/litifut-post" -f tsv -o events.tsv \
		data/trace data/maps traced/toggle
	is "LITIFUT_SIGNAL: nothing while it is off" "$(recorded while_off)" 0
	is "LITIFUT_SIGNAL: everything while it is on" "$(recorded while_on)" 21
	ok "LITIFUT_SIGNAL: the threads were busy" test "$(recorded in_thread)" -gt 1000
	ok "LITIFUT_SIGNAL: a copy was made, and is whole" "$BUILD/bin/litifut-post" \
		-f tsv -o copy.tsv usb/trace usb/maps traced/toggle
	is "LITIFUT_SIGNAL: nothing half-written is left" "$(find usb -name '*.tmp' | wc -l)" 0
}

# Four threads stop and start at once, so that copies overlap. A fifth looks at the
# copy all the time: each that has the name is whole, header and chunks.
overlapping()
{
	cat >overlap.c <<-'END'
		#include <pthread.h>
		#include <stdio.h>
		#include <sys/stat.h>
		#include <unistd.h>
		#include <litifut/litifut.h>
		static volatile int stop;
		static volatile unsigned sum;
		__attribute__((noipa)) void leaf(void) { __asm__ volatile(""); }
		__attribute__((noipa)) void through(void (*callee)(void)) { callee(); sum++; }
		static void *watch(void *path)
		{
			long last = 0, part = 16384;
			while (!stop) {
				struct stat now;
				if (!stat(path, &now)) {
					if (now.st_size < 3 * part || now.st_size % part)
						printf("%ld bytes\n", (long)now.st_size);
					last = now.st_size;
				}
				usleep(200);
			}
			return (void *)last;
		}
		static void *worker(void *argument)
		{
			for (int i = 0; i < 15; i++) {
				for (int j = 0; j < 3000; j++)
					through(leaf);
				if (litifut_stop)
					litifut_stop();
				if (litifut_start)
					litifut_start();
			}
			return argument;
		}
		int main(int count, char **arguments)
		{
			pthread_t thread[4], watcher;
			void *seen;
			char path[512];
			snprintf(path, sizeof(path), "%s/trace/overlap.%d.trace", arguments[count - 1],
				(int)getpid());
			pthread_create(&watcher, 0, watch, path);
			for (int i = 0; i < 4; i++)
				pthread_create(&thread[i], 0, worker, 0);
			for (int i = 0; i < 4; i++)
				pthread_join(thread[i], 0);
			stop = 1;
			pthread_join(watcher, &seen);
			puts(seen ? "seen" : "not seen");
			return 0;
		}
	END
	flags="-pthread -I$root/include"
	link overlap ../overlap.c || return
	flags=
	copy_to=$(pwd)/usb
	rm -rf data usb
	guest_environment="LITIFUT_DIR=$(pwd)/data LITIFUT_COPY_TO=$copy_to LITIFUT_CLOCK=mono LITIFUT_BULK_KB=16"
	run traced overlap "$copy_to"
	guest_environment=
	is "copies that overlap: each is whole when it has its name" "$(cat traced.out)" seen
	ok "copies that overlap: the last one is that of the end" whole
	is "copies that overlap: nothing half-written is left" "$(find usb data -name '*.tmp' | wc -l)" 0
}

behaviour()
{
	cat >work.c <<-'END'
		#include <stdio.h>
		static volatile unsigned sum;
		__attribute__((noipa)) void step(unsigned n) { sum += n; }
		int main(void)
		{
			for (unsigned i = 0; i < 20000; i++)
				step(i);
			printf("%u\n", sum);
			return 3;
		}
	END
	link work ../work.c || return
	run plain work
	stick
	fifos
	toggled
	overlapping
}

for_targets behaviour
