#!/bin/sh
# LITIFUT_ARGS: arguments and return values of chosen functions are those that the program itself
# prints, wherever they are; a string that can't be read is shown as a pointer, and nothing faults.
. "$(dirname "$0")/../lib.sh"
few_targets armhf armhf-arm mipsel

source_code()
{
	cat >main.cc <<-'END'
		#include <cstdio>
		#include <cstdlib>
		#include <cstring>
		#include <csignal>
		#include <fcntl.h>
		#include <pthread.h>
		#include <sys/mman.h>
		#include <sys/wait.h>
		#include <ucontext.h>
		#include <unistd.h>
		#define KEEP __attribute__((noipa))
		#define SAY(...) do { char line[400]; int n = snprintf(line, sizeof line, __VA_ARGS__); \
			if (write(1, line, n) != n) abort(); } while (0)
		static volatile int sink;
		extern "C" {
		KEEP int six(int a, unsigned b, const char *c, unsigned d, int e, const char *f)
		{
			return sink += a + (int)b + c[0] + (int)d + e + f[0];
		}
		KEEP int named(int number, const char *text) { return number + text[0]; }
		KEEP void *same(void *pointer) { sink++; return pointer; }
		KEEP int last(const char *text) { return sink += text[0]; }
		KEEP int tail(int x) { sink += x; return last("from a tail call"); }
		KEEP int counted(int x) { return sink += x; }
		KEEP int look(const void *text) { return text != 0; }
		}
		/* what the conventions of calls have rules for */
		enum color { RED, GREEN };
		struct pair { short one, two; int other; };
		struct triple { int a, b, c; };
		struct floats { float x, y; };
		static void *where;
		struct counted_one { int n; counted_one(int i) : n(i) { where = this; } counted_one(const counted_one &o) : n(o.n + 1) {} };
		extern "C" {
		KEEP int mixed(double d, int i, long long wide, const char *text, float f, pair p, char *out)
		{
			return sink += (int)(d + i + wide + text[0] + f + p.one + p.other + out[0]);
		}
		KEEP triple make(int a, color c, bool b, signed char ch) { return {a, (int)c + b, ch}; }
		KEEP floats halves(unsigned a, const floats f, int b) { return {a / f.x, b / f.y}; }
		KEEP long long wide_one(long long x, int y) { return x + y; }
		KEEP int taken(counted_one one, int i) { return one.n + i; }
		KEEP int listed(const char *what, ...) { return what[0]; }
		}
		static KEEP int hidden(const char *text) { return sink += text[0]; }
		namespace shape {
		struct box { int side; KEEP int set(int s) { return side = s; } KEEP int scaled(short by) const { return side * by; } };
		KEEP int draw(const char *text, int width) { return sink += text[0] + width; }
		}
		static int (*volatile pointer)(const char *, int) = shape::draw;

		static void numbers(int from, int count)
		{
			for (int i = from; i < from + count; i++) {
				char text[40];
				snprintf(text, sizeof text, "text %d", i);
				SAY("named (number=%d, text=\"%s\")\n", i, text);
				sink += named(i, text);
			}
		}
		static void *thread(void *from)
		{
			numbers((int)(long)from, 40);
			return 0;
		}
		/* on an empty stack, behind which nothing can be read */
		static ucontext_t back, coroutine;
		KEEP void entry(void) { named(7, "a tail call"); }
		static void empty_stack()
		{
			char *room = (char *)mmap(0, 1 << 18, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

			if (mprotect(room, 1 << 16, PROT_READ | PROT_WRITE) || getcontext(&coroutine))
				abort();
			coroutine.uc_stack.ss_sp = room;
			coroutine.uc_stack.ss_size = 1 << 16;
			coroutine.uc_link = &back;
			makecontext(&coroutine, entry, 0);
			swapcontext(&back, &coroutine);
			SAY("back\n");
		}
		static void handler(int) { sink += last("handler"); }

		/* what they return is overwritten at once */
		static KEEP void overwritten(int x)
		{
			int before = sink;

			SAY("counted (x=%d)\n", x);
			SAY("R <- counted (returned=%d)\n", before + x);
			counted(x);
			asm volatile("" : : "r"(9));
			SAY("counted (x=1)\n");
			SAY("R <- counted (returned=%d)\n", before + x + 1);
			counted(1);
			asm volatile("" : : "r"(0));
			sink += x;
		}

		static void everything()
		{
			long page = sysconf(_SC_PAGESIZE);
			char *pages = (char *)mmap(0, 2 * page, PROT_READ | PROT_WRITE,
						   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
			char longer[101];
			shape::box box;

			SAY("open (arg0=\"/dev/null\", arg1=%d)\n", O_RDWR);
			int fd = open("/dev/null", O_RDWR);
			SAY("R <- open (returned=%d)\n", fd);
			SAY("malloc (arg0=77)\n");
			void *p = malloc(77);
			SAY("R <- malloc (returned=0x%lx)\n", (long)p);
			SAY("six (a=-5, b=4000000000, c=\"he\\\"l\\\\lo\", d=0xfffffff0, e=-9, f=\"\\tW\\x01\xc3\xa4\\xff\")\n");
			int six_is = six(-5, 4000000000u, "he\"l\\lo", 0xfffffff0, -9, "\tW\001\xc3\xa4\xff");
			SAY("R <- six (returned=%d)\n", six_is);
			SAY("hidden(char const*) (text=\"\")\n");
			hidden("");
			SAY("shape::draw(char const*, int) (text=\"square\", width=0)\n");
			shape::draw("square", 0);
			sink += pointer("by a pointer", 1);
			SAY("shape::box::set(int) (s=-1)\n");
			box.set(-1);
			long long wide = 0x123456789abcdef0;
			pair both = {7, -1, 8};
			unsigned words[4];
			char out[] = "not shown";
			memcpy(words, &wide, 8);
			memcpy(words + 2, &both, 8);
			SAY("mixed (i=-3, wide=0x%x, wide+4=0x%x, text=\"t\", p=0x%x, p+4=0x%x, out=0x%lx)\n",
			    words[0], words[1], words[2], words[3], (long)out);
			int got = mixed(1.5, -3, wide, "t", 2.5f, both, out);
			SAY("R <- mixed (returned=%d)\n", got);
			SAY("make (a=-1, c=1, b=1, ch=-2)\n");
			sink += make(-1, GREEN, true, -2).c;
			SAY("halves (a=3000000000, b=9)\n");
			sink += (int)halves(3000000000u, floats{2, 4}, 9).x;
			SAY("wide_one (x=0x%x, x+4=0x%x, y=5)\n", words[0], words[1]);
			sink += (int)wide_one(wide, 5);
			got = taken(counted_one(1), 6);
			SAY("R <- taken (returned=%d)\n", got);
			SAY("taken (one=0x%lx, i=6)\n", (long)where);
			SAY("listed (what=\"list\")\n");
			got = listed("list", 1, 2);
			SAY("R <- listed (returned=%d)\n", got);
			SAY("shape::box::scaled(short) const (by=-4, this=0x%lx)\n", (long)&box);
			got = box.scaled(-4);
			SAY("R <- shape::box::scaled(short) const (returned=%d)\n", got);
			SAY("access (arg0=\"/dev/null\", arg1=4)\n");
			got = access("/dev/null", R_OK);
			SAY("R <- access (returned=%d)\n", got);
			SAY("last (text=\"from a tail call\")\n");
			tail(1);
			SAY("same (pointer=0x0)\n");
			SAY("R <- same (returned=0)\n");
			same(0);
			SAY("look (text=0x0)\n");
			look(0);
			SAY("look (text=0x10)\n");
			look((void *)16);
			overwritten(3);
			SAY("look (text=0x%lx)\n", (long)-1 & 0xffffffff);
			look((void *)-1);
			memset(longer, 'x', 100);
			longer[100] = 0;
			SAY("look (text=\"%.64s\"...)\n", longer);
			look(longer);
			longer[64] = 0;
			SAY("look (text=\"%s\")\n", longer);
			look(longer);
			/* up to the last byte of a page, over it, and beyond what is there */
			strcpy(pages + page - 5, "over the end");
			SAY("look (text=\"over the end\")\n");
			look(pages + page - 5);
			munmap(pages + page, page);
			strcpy(pages + page - 5, "last");
			SAY("look (text=\"last\")\n");
			look(pages + page - 5);
			pages[page - 1] = '!';
			SAY("look (text=0x%lx)\n", (long)(pages + page - 5));
			look(pages + page - 5);
			signal(SIGUSR1, handler);
			SAY("last (text=\"handler\")\n");
			raise(SIGUSR1);
		}
		int main(int argc, char **argv)
		{
			pthread_t ids[4];
			int count = argc > 2 ? atoi(argv[2]) : 0;

			if (argc < 2)
				everything();
			else if (!strcmp(argv[1], "empty"))
				empty_stack();
			else if (!strcmp(argv[1], "threads")) {
				for (int i = 0; i < 4; i++)
					pthread_create(&ids[i], 0, thread, (void *)(i * 100L));
				for (int i = 0; i < 4; i++)
					pthread_join(ids[i], 0);
			} else {
				numbers(0, count);
				if (!strcmp(argv[1], "fork")) {
					if (!fork()) {
						numbers(1000, count);
						_exit(0);
					}
					wait(0);
					numbers(2000, count);
				}
				if (!strcmp(argv[1], "kill"))
					raise(SIGKILL);
			}
			return 0;
		}
	END
}

# calls_of: the calls with arguments that litifut-post shows, without the rest
calls_of()
{
	"$BUILD/bin/litifut-post" -q data traced/program 2>post.err |
		sed -n 's/^.* [-=]> \(.*\) \[[^ ]*\]\( ([a-z0-9]*=.*\)$/\1\2/p'
	! grep . post.err
}

# shows WHAT PROGRAM ARGUMENTS...: what is shown is what the program has printed, in any order
shows()
{
	shows_what=$1
	shift
	rm -rf data
	same_environment=$guest_environment
	guest_environment="$same_environment LITIFUT_DIR=$(pwd)/data"
	run traced program "$@"
	guest_environment=$same_environment
	grep -v '^R ' traced.out | LC_ALL=C sort >expected
	calls_of >got || ok "$shows_what: litifut-post has nothing to say" false
	LC_ALL=C sort -o got got
	ok "$shows_what: arguments are those that the program prints" sh -c 'test -s got && diff got expected'
}

build()
{
	rm -rf traced
	# shellcheck disable=SC2034
	language=g++
	LITIFUT_ARGS='open:s0,i1;malloc:u0;six:i0,u1,s2,x3,i4,s5;hidden*:s0;named:i0,s1'
	LITIFUT_ARGS="$LITIFUT_ARGS;same:p0;last:s0;look:s0;counted:i0;shape::d*:s0,u1;shape::box::*:i1${results:-}"
	LITIFUT_ARGS="$LITIFUT_ARGS;mixed:*;make:*;halves:*;wide_one:*;taken:*;listed:*;shape::box::scaled:*;access:*"
	export LITIFUT_ARGS
	[ -s main.o ] || compiler -c main.cc -o main.o
	link program ../main.o -pthread
	built=$?
	unset LITIFUT_ARGS
	return $built
}

# 300 functions, of each of which other values are to be recorded
too_many_lists()
{
	awk 'BEGIN {
		for (i = 0; i < 300; i++)
			printf "__attribute__((noipa)) int f%d(int a) { return a + %d; }\n", i, i
		printf "int main(void)\n{\n\tint sum = 0;\n"
		for (i = 0; i < 300; i++)
			printf "\tsum += f%d(sum);\n", i
		printf "\treturn sum == 0;\n}\n" }' >lists.cc
	LITIFUT_ARGS=$(awk 'BEGIN { for (i = 0; i < 300; i++)
		printf "f%d(int):%s%d,%s;", i, substr("iuxp", i % 4 + 1, 1), i / 4 % 16, "i" 16 + int(i / 64) }') &&
		export LITIFUT_ARGS
	LITIFUT_ARGS="f1:*;$LITIFUT_ARGS"
	(cd traced && front="$BUILD/bin/litifut build -q" compiler -g0 -o lists ../lists.cc) >traced.log 2>&1
	unset LITIFUT_ARGS
	is "too many lists of values, and no types: a line each" "$(sed 's/.*: lists: //' traced.log)" \
		"LITIFUT_ARGS: the parameters of f1 are not known: compile with -g, or write them: f1:i0,s1
LITIFUT_ARGS: nothing is recorded of 45 calls: a module has room for 255 different lists of values; choose fewer"
	guest_environment="LITIFUT_DIR=$(pwd)/data" && rm -rf data
	run traced lists
	guest_environment=
	is "the others are recorded" \
		"$("$BUILD/bin/litifut-post" -q -f calls data traced/lists | grep -c '(arg')" 255
}

behaviour()
{
	source_code
	build || return
	shows "calls"
	is "the program runs to its end" "$(cat traced.status) $(cat traced.err)" "0 "
	ok "tree: the same" sh -c "'$BUILD/bin/litifut-post' -q -f tree data traced/program | sed -n 's/^ *\\(=> \\)\\{0,1\\}\\(.*\\) \\[[^ ]*\\]\\( ([a-z0-9]*=.*\\)$/\\2\\3/p' | LC_ALL=C sort | diff - expected"
	events_equal_calls program
	shows "threads" threads
	shows "children" fork 20
	shows "killed" kill 50
	guest_environment="LITIFUT_BULK_KB=16 LITIFUT_COMPACT=1"
	shows "compact chunks" many 3000
	guest_environment="LITIFUT_BULK_KB=0"
	shows "each event by itself" many 30
	guest_environment="LITIFUT_FILE=write"
	shows "a file that is written" many 900
	guest_environment="LITIFUT_DEDUP=1 LITIFUT_DIR=$(pwd)/data" && rm -rf data
	run traced program many 50
	is "each pair once: the first one's" "$(calls_of)" 'named (number=0, text="text 0")'
	guest_environment="LITIFUT_RING_KB=128 LITIFUT_BULK_KB=16 LITIFUT_DIR=$(pwd)/data" && rm -rf data
	run traced program many 9000
	calls_of >got
	ok "a ring: the last ones" sh -c 'test "$(wc -l <got)" -lt 9000 && tail -n 500 traced.out >expected && tail -n 500 got | diff - expected'
	guest_environment="LITIFUT_SYSCALLS=never LITIFUT_DIR=$(pwd)/data" && rm -rf data
	run traced program many 20
	is "without system calls: strings are pointers" "$(calls_of | grep -c 'named (number=[0-9]*, text=0x[0-9a-f]*)')" 20
	guest_environment=

	LITIFUT_ENGINE=db results=';named:i4' && export LITIFUT_ENGINE
	build
	guest_environment="LITIFUT_DIR=$(pwd)/data" && rm -rf data
	run traced program empty
	guest_environment=
	is "an argument behind an empty stack: nothing faults" "$(cat traced.status) $(cat traced.out)" "0 back"
	is "and the call is there" "$(calls_of | grep -c 'named (number=7, text="a tail call", arg4=')" 1
	results=
	build
	unset LITIFUT_ENGINE
	shows "db engine"

	rm -rf traced && mkdir traced
	(cd traced && front="$BUILD/bin/litifut build -q" LITIFUT_ARGS='named:q0;named;:i0;nosuch:i0;named:i0,i1,i2,i3,i4,i5,i6,i7,i8,i9,i10,i11,i12;look:r;look:i30;look:' &&
		export LITIFUT_ARGS && compiler -o program ../main.o -pthread) >traced.log 2>&1
	is "wrong settings: a line each, and the program is there" \
		"$(sed -n 's/.*LITIFUT_ARGS: //p' traced.log | sed 's/ (.*//')" \
'named:q0: "q0" is not i, u, x, p or s with the number of an argument
named: no colon between the function and its arguments; left out
:i0: no function in front of the colon; left out
named:i0,i1,i2,i3,i4,i5,i6,i7,i8,i9,i10,i11,i12: more than 12 values; left out
look:i30: "i30" is not i, u, x, p or s with the number of an argument
look:: no arguments behind the colon; left out
what functions return
no call is found of a function named nosuch'
	run traced program many 1
	is "it runs" "$(cat traced.status)" 0
	too_many_lists

	case $target in
	armel) return ;; # has no thunks, without which no returns are recorded
	esac
	LITIFUT_MODE=spans LITIFUT_CLOCK=cycle results=';open:r;malloc:r;six:ri;same:r;counted:ri' && export LITIFUT_MODE LITIFUT_CLOCK
	build
	unset LITIFUT_MODE LITIFUT_CLOCK results
	guest_environment="LITIFUT_CLOCK=mono"
	shows "spans"
	is "the program runs to its end" "$(cat traced.status) $(cat traced.err)" "0 "
	grep '^R ' traced.out | sed 's/^R //' >expected
	ok "what functions return" sh -c "'$BUILD/bin/litifut-post' -q -f tree data traced/program | sed -n 's/^ *\\(<- .*\\)/\\1/p' | diff - expected"
	ok "calls has what they return" sh -c "'$BUILD/bin/litifut-post' -q -f calls data traced/program | sed -n 's/^[0-9]* \\(<- .*\\)/\\1/p' | diff - expected"
	ok "without what is left out" sh -c "'$BUILD/bin/litifut-post' -q -f calls --exclude six data traced/program | sed -n 's/^[0-9]* \\(<- .*\\)/\\1/p' >left && ! grep six left && grep -v '<- six ' expected | diff - left"
	"$BUILD/bin/litifut-post" -q -f tsv -o trace.tsv data traced/program
	ok "tsv has them in rows of their own" sh -c 'python3 -c "
import csv, json
rows = list(csv.DictReader(open(\"trace.tsv\"), delimiter=\"\\t\", quoting=csv.QUOTE_NONE))
for row in rows:
    if row[\"kind\"] == \"return\":
        assert any(r[\"kind\"] == \"call\" and r[\"site_offset\"] == row[\"site_offset\"] and int(r[\"seq\"]) <= int(row[\"seq\"]) for r in rows), row
        print(\"<- %s (returned=%s)\" % (row[\"callee\"], json.loads(row[\"arguments\"])[\"returned\"]))" | diff - expected'
	"$BUILD/bin/litifut-post" -q -f sqlite -o trace.db data traced/program
	is "sqlite has both" "$(sqlite3 trace.db "SELECT a.value, b.text, r.value FROM spans s JOIN functions f ON f.id = s.function JOIN arguments a ON a.span = s.id AND a.number = 4 JOIN arguments b ON b.span = s.id AND b.name = 'c' JOIN arguments r ON r.span = s.id AND r.number IS NULL WHERE f.name = 'six'")" \
		"-9|he\"l\\lo|$(sed -n 's/<- six (returned=\(.*\))/\1/p' expected)"
	"$BUILD/bin/litifut-post" -q -f chrome -o trace.json data traced/program
	is "chrome has both" "$(python3 -c '
import json
open_ = [e for e in json.load(open("trace.json"))["traceEvents"]]
for i, e in enumerate(open_):
    if e.get("name") == "open":
        print(e["args"]["arg0"], e["args"]["arg1"], open_[i + 1]["ph"], open_[i + 1]["args"]["returned"] > 2)')" "/dev/null 2 E True"
	"$BUILD/bin/litifut-post" -q -f perfetto -o trace.pf data traced/program
	is "perfetto has the strings" "$(strings -n 4 trace.pf | grep -c 'from a tail call')" 1
}

for_targets behaviour
