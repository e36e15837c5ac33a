#!/bin/sh
# Programs without the C library: what the linker would say of the tracer alone is not
# printed.
TARGETS=${TARGETS:-"armhf armel mipsel mips"}
. "$(dirname "$0")/../lib.sh"

sources()
{
	cat >main.c <<-'END'
		static long system_call(long number, long a, long b, long c)
		{
		#ifdef __arm__
			register long r7 __asm__("r7") = number, r0 __asm__("r0") = a;
			register long r1 __asm__("r1") = b, r2 __asm__("r2") = c;
			__asm__ volatile("svc 0" : "+r"(r0) : "r"(r1), "r"(r2), "r"(r7) : "memory");
			return r0;
		#else
			register long v0 __asm__("$2") = 4000 + number, a0 __asm__("$4") = a;
			register long a1 __asm__("$5") = b, a2 __asm__("$6") = c;
			__asm__ volatile("syscall" : "+r"(v0) : "r"(a0), "r"(a1), "r"(a2)
				: "memory", "$7", "$8", "$9", "$10", "$11", "$12", "$13", "$14", "$15", "$24");
			return v0;
		#endif
		}
		int hello(const char *text, int size);
		#ifdef BEGIN
		void begin(void)
		{
			hello("hello\n", 6);
			system_call(1, 7, 0, 0);
		}
		#else
		int hello(const char *text, int size)
		{
			return system_call(4, 1, (long)text, size);
		}
		#endif
	END
	case $cpu in
	arm) plain_flags="-marm -fno-pic" ;;
	*) plain_flags="-mno-abicalls -fno-pic" ;;
	esac
	flags="-ffreestanding $plain_flags" compiler -DBEGIN -c -o plain-main.o main.c
	flags="-ffreestanding $plain_flags" compiler -c -o plain-hello.o main.c
}

# both NAME LINKER ARGUMENTS...: the program in plain/ and traced/, and what is said
both()
{
	name=$1
	linker=$2
	shift 2
	rm -rf plain traced && mkdir plain traced
	(cd plain && "$linker" -o program "$@") >plain.log 2>&1
	(cd traced && "$BUILD/bin/litifut" build -q "$linker" -o program "$@") >traced.log 2>&1
	is "$name: the linker's exit status" $? 0
}

behaviour()
{
	sources
	for linker in "$triplet-ld.bfd" "$triplet-ld.gold"; do
		both "$linker, an entry" "$linker" -e begin ../plain-main.o ../plain-hello.o
		ok "$linker, an entry: nothing but what the linker says, and one line" sh -c \
			"grep -v ' left untraced: ' traced.log | diff plain.log - && [ \$(wc -l <traced.log) -le 1 ]"
		same_run program
	done
	linker=$triplet-ld.bfd
	if [ "$cpu" != arm ]; then
		both "code without abicalls" "$linker" -e begin ../plain-main.o ../plain-hello.o
		is "code without abicalls: why" "$(cat traced.log)" "litifut-ld: warning: program: left \
untraced: the linker warns of the tracer: litifut/litifut-tracer.o: warning: linking abicalls files with \
non-abicalls files"
	fi
}

for_targets behaviour
