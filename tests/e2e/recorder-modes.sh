#!/bin/sh
# What the recorder's settings do: clock, de-duplication, buffer sizes, off at
# the start, a signal that switches, the functions for programs, the copy to
# another place, libraries that come and go.
. "$(dirname "$0")/../lib.sh"
few_targets armhf armel mips

# traced PROGRAM SETTINGS...: runs it with these settings; what it prints is what
# the plain program printed. The trace is read into events.tsv, post.err.
traced()
{
	traced_program=$1
	shift
	rm -rf data copy
	guest_environment="LITIFUT_DIR=$(pwd)/data $*"
	run traced "$traced_program"
	guest_environment=
	ok "$*: the program does not notice" diff plain.out traced.out
	ok "$*: no message of the tracer" diff plain.err traced.err
	ok "$*: the trace is read" "$BUILD/bin/litifut-post" -f tsv -o events.tsv data/trace data/maps \
		traced
	"$BUILD/bin/litifut-post" -f report -o report.txt data/trace data/maps traced 2>post.err
}

# header FIELD-OFFSET: a 32-bit number of the trace's header
header()
{
	order=little
	[ "$cpu" = mips ] && order=big
	python3 - "$1" $order data/trace/*.trace <<-'END'
		import sys
		with open(sys.argv[3], "rb") as file:
		    file.seek(int(sys.argv[1]))
		    print(int.from_bytes(file.read(4), sys.argv[2]))
	END
}

# total_time FOLDER: microseconds of all calls
total_time()
{
	"$BUILD/bin/litifut-post" -f csv "$1" traced 2>/dev/null |
		awk -F , 'NR > 1 { total += $9 } END { print int(total / 1000) }'
}

program()
{
	cat >work.c <<-'END'
		#include <signal.h>
		#include <stdio.h>
		#include <unistd.h>
		#include <litifut/litifut.h>
		#define KEEP __attribute__((noipa))
		static volatile unsigned sum;
		KEEP void leaf(unsigned n) { sum += n; }
		KEEP void through(void (*callee)(unsigned), unsigned n) { callee(n); __asm__ volatile(""); }
		KEEP void while_off(void) { sum++; }
		KEEP void while_on(void) { sum++; }
		KEEP void after_signal(void) { sum++; }
		KEEP void after_second_signal(void) { sum++; }
		int main(void)
		{
			struct sigaction old;
			for (unsigned i = 0; i < 20000; i++)
				through(leaf, i);
			if (litifut_stop)
				litifut_stop();
			while_off();
			if (litifut_start)
				litifut_start();
			while_on();
			sigaction(SIGUSR2, 0, &old);
			if (old.sa_handler != SIG_DFL) {
				raise(SIGUSR2);
				after_signal();
				raise(SIGUSR2);
				after_second_signal();
			}
			puts("done");
			return 0;
		}
	END
	flags="-I$root/include"
	link work ../work.c || return 1
	run plain work
}

spans()
{
	(cd traced && LITIFUT_MODE=spans front="$BUILD/bin/litifut build -q" compiler -o spans ../work.c) \
		>spans.log 2>&1
	traced spans LITIFUT_DEDUP=1
	is "dedup: spans have each call" "$(recorded leaf)" 20000

	traced spans LITIFUT_CLOCK=mono
	whole=$(total_time data)
	cp -r data cut
	truncate -s $(($(stat -c %s data/trace/*.trace) * 3 / 10)) cut/trace/*.trace
	ok "most chunks are missing, and so is most of the time" \
		test "$(total_time cut)" -lt $((whole / 2))
	rm -rf cut
}

settings()
{
	program || return
	traced work LITIFUT_CLOCK=none
	is "all calls" "$(recorded leaf)" 20000
	is "litifut_stop: nothing is recorded" "$(recorded while_off)" 0
	is "litifut_start: it goes on" "$(recorded while_on)" 1
	is "the trace says that it is complete" "$(header 48)" 2
	plain_bytes=$(stat -c %s data/trace/*.trace)

	traced work LITIFUT_CLOCK=mono
	is "mono: all calls" "$(recorded leaf)" 20000
	is "mono: the header says so" "$(header 40)" 1
	ok "mono: time goes on from event to event" times_rise

	traced work LITIFUT_CLOCK=cycle
	is "cycle: all calls" "$(recorded leaf)" 20000
	ok "cycle: the header tells which clock it was" test "$(header 40)" -ge 1

	traced work LITIFUT_BULK_KB=0
	is "no bulk: all calls" "$(recorded leaf)" 20000
	traced work LITIFUT_BULK_KB=16
	is "16 KB: all calls" "$(recorded leaf)" 20000
	traced work LITIFUT_BULK_KB=1024
	is "1 MB: all calls" "$(recorded leaf)" 20000

	traced work LITIFUT_DEDUP=1
	is "dedup: each pair once" "$(recorded leaf)" 1
	is "dedup: no pair twice" "$(cut -f 4,5,8,9 events.tsv | sort | uniq -d | wc -l)" 0
	is "dedup: the header has the size of the filter" "$(header 80)" $((64 * 8192))
	ok "dedup: and counts the rest" test "$(header 92)" -ge 39998
	ok "dedup: the trace is smaller" test "$(stat -c %s data/trace/*.trace)" -le "$plain_bytes"

	# where returns are recorded
	[ "$target" = armel ] || spans

	traced work LITIFUT_START=off
	is "off at the start" "$(recorded leaf)" 0
	is "until the program switches it on" "$(recorded while_on)" 1

	traced work LITIFUT_SIGNAL="$([ "$cpu" = arm ] && echo 12 || echo 17)"
	is "the signal stops" "$(recorded after_signal)" 0
	is "and starts again" "$(recorded after_second_signal)" 1
	is "before it, all calls" "$(recorded leaf)" 20000

	mkdir -p usb
	traced work "LITIFUT_COPY_TO=$(pwd)/usb/stick"
	ok "the trace is carried to LITIFUT_COPY_TO" cmp data/trace/*.trace usb/stick/trace/*.trace
	ok "and the maps" cmp data/maps/*.maps usb/stick/maps/*.maps
	is "nothing half-written is left" "$(find usb data -name '*.tmp' | wc -l)" 0
	is "the files are private" "$(stat -c %a data/trace/*.trace data/maps/*.maps | sort -u)" 600
}

times_rise()
{
	"$BUILD/bin/litifut-post" -f tsv data/trace data/maps traced 2>/dev/null >/dev/null || return 1
	python3 - "$([ "$cpu" = mips ] && echo '>' || echo '<')" data/trace/*.trace <<-'END'
		import struct, sys
		order, path = sys.argv[1:]
		with open(path, "rb") as file:
		    data = file.read()
		header, chunk = struct.unpack_from(order + "II", data, 16)
		timed = 0
		places = [(at, chunk) for at in range(header, len(data), chunk)]
		places += [struct.unpack_from(order + "II", data, 192 + 8 * i) for i in range(4)]
		for at, size in places:
		    if not size:
		        continue
		    magic, kind, encoding, flags, _, _, _, start = struct.unpack_from(
		        order + "IHHIIIIQ", data, at)
		    if kind != 1 or encoding != 1:
		        continue
		    if not flags & 1 or not start:
		        sys.exit("a chunk without a clock")
		    words = struct.unpack_from(f"{order}{(size - 64) // 4}I", data, at + 64)
		    i, last = 0, None
		    while i < len(words) and words[i]:
		        if words[i] >= 0x10000:
		            i += 2
		        else:
		            kind = words[i] & 0xff
		            i += 1 + (words[i] >> 8)
		            if kind > 3:
		                continue
		        if last is not None and (words[i - 1] - last) & 0x80000000:
		            sys.exit(f"word {i}: time goes back")
		        last = words[i - 1]
		        timed += 1
		print(timed, "events with a time")
		sys.exit(not timed)
	END
}

libraries()
{
	cat >library.c <<-'END'
		__attribute__((noipa)) static int inner(int n) { return n + NUMBER; }
		int NAME(int n) { return inner(n) + inner(n + 1); }
	END
	cat >loader.c <<-'END'
		#include <dlfcn.h>
		#include <stdio.h>
		int main(void)
		{
			int sum = 0;
			for (int i = 0; i < 10; i++) {
				const char *name = i % 2 ? "odd" : "even";
				void *library = dlopen(i % 2 ? "libodd.so" : "libeven.so", RTLD_NOW);
				int (*function)(int);
				if (!library)
					return 1;
				function = (int (*)(int))dlsym(library, name);
				sum += function(i);
				dlclose(library);
			}
			printf("%d\n", sum);
			return 0;
		}
	END
	flags="-shared -fPIC -DNAME=even -DNUMBER=2"
	link libeven.so ../library.c || return
	flags="-shared -fPIC -DNAME=odd -DNUMBER=1"
	link libodd.so ../library.c || return
	flags=
	link loader ../loader.c -ldl || return
	run plain loader
	traced loader LITIFUT_CLOCK=none
	is "libraries that come and go at one address: the even ones' calls" \
		"$(awk -F '\t' '$4 == "libeven.so" && $9 == "inner" || $4 == "libeven.so" && $10 == "inner"' events.tsv | wc -l)" 10
	is "and the odd ones'" \
		"$(awk -F '\t' '$4 == "libodd.so" && $9 == "inner" || $4 == "libodd.so" && $10 == "inner"' events.tsv | wc -l)" 10
}

behaviour()
{
	settings
	libraries
}

for_targets behaviour
