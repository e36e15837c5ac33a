#!/bin/sh
# No memory on the build machine, at the n-th allocation or from there on: one line says so and
# the link is a plain one, or litifut-post ends with a line and status 1. Nothing crashes.
#
#   POINTS=1000 tests/e2e/wrapper-no_memory.sh      every allocation
TARGETS=${TARGETS:-"armhf mipsel"}
. "$(dirname "$0")/../lib.sh"

POINTS=${POINTS:-16}

# count NAME COMMAND...: allocations of the programs whose path ends so
count()
{
	rm -f counted
	FAIL_NAME=$1 FAIL_COUNT=$(pwd)/counted
	export FAIL_NAME FAIL_COUNT
	shift
	LD_PRELOAD=$(pwd)/fail.so "$@" >/dev/null 2>&1
	unset FAIL_COUNT
	sort -n counted | tail -n 1
}

# each NAME CHECK COMMAND...: CHECK is done with `status`, after a run with a failure
each()
{
	each_check=$2
	each_total=$(count "$1" "$3")
	FAIL_NAME=$1
	export FAIL_NAME
	shift 2
	each_step=$(((each_total + POINTS - 1) / POINTS))
	each_at=1
	each_count=0
	while [ "$each_at" -le "${each_total:-0}" ]; do
		for each_more in "" +; do
			FAIL_AT=$each_at$each_more LD_PRELOAD=$(pwd)/fail.so "$@" >run.out 2>run.err
			status=$?
			$each_check || {
				echo "allocation $each_at$each_more of $each_total, exit status $status"
				cat run.err
				return 1
			}
			each_count=$((each_count + 1))
		done
		each_at=$((each_at + each_step))
	done
	[ "$each_count" -gt 20 ]
}

# Some versions of libelf crash without memory, which litifut-ld survives as it does any crash:
# an internal error, and a plain link.
one_clear_line()
{
	! grep -qiE 'fault|signal|core dumped' run.err && [ "$(grep -c 'litifut' run.err)" -le 2 ]
}

# The output is there, traced or not, and runs. Before it is known which linker is meant, there
# is none.
linked()
{
	[ "$status" = 0 ] || {
		one_clear_line && grep -q 'litifut-ld: out of memory' run.err && [ ! -e program ]
		return
	}
	one_clear_line && run_in . program && rm -f program
}

# Either there is an output as it should be, or there is none and a message.
shown()
{
	if [ "$status" = 0 ]; then
		cmp events.tsv expected.tsv
	else
		[ "$status" = 1 ] && [ -s run.err ] && ! grep -q 'internal error' run.err
	fi
}

behaviour()
{
	cat >fail.c <<-'END'
		#include <errno.h>
		#include <fcntl.h>
		#include <stdio.h>
		#include <stdlib.h>
		#include <string.h>
		#include <unistd.h>
		void *__libc_malloc(size_t);
		void *__libc_calloc(size_t, size_t);
		void *__libc_realloc(void *, size_t);
		static long count = -1, limit;
		static int all;
		static int is_meant(void)
		{
			const char *name = getenv("FAIL_NAME");
			char path[4096];
			ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - 1);
			path[length < 0 ? 0 : length] = 0;
			return name && strlen(path) >= strlen(name) && !strcmp(path + strlen(path) - strlen(name), name);
		}
		static int fails(void)
		{
			if (count < 0) {
				const char *at = getenv("FAIL_AT");
				count = 0;
				if (at && is_meant()) {
					limit = atol(at);
					all = strchr(at, '+') != NULL;
				}
			}
			count++;
			if (!limit || (all ? count < limit : count != limit))
				return 0;
			errno = ENOMEM;
			return 1;
		}
		void *malloc(size_t size) { return fails() ? NULL : __libc_malloc(size); }
		void *calloc(size_t n, size_t size) { return fails() ? NULL : __libc_calloc(n, size); }
		void *realloc(void *old, size_t size) { return fails() ? NULL : __libc_realloc(old, size); }
		static void __attribute__((destructor)) tell(void)
		{
			const char *path = getenv("FAIL_COUNT");
			int file = path && is_meant() ? open(path, O_WRONLY | O_CREAT | O_APPEND, 0600) : -1;
			if (file >= 0)
				dprintf(file, "%ld\n", count);
		}
	END
	if ldd "$BUILD/bin/litifut-ld" | grep -q libasan; then
		skip "allocations that fail" "the sanitizers have an allocator of their own"
		return
	fi
	cc -shared -fPIC -o fail.so fail.c
	cat >main.c <<-'END'
		#include <stdlib.h>
		__attribute__((noipa)) static int leaf(int n) { return abs(n); }
		int main(void) { return leaf(0) + (getenv("NOTHING") != NULL); }
	END
	link program ../main.c || return
	same_run program
	compiler -c -o main.o main.c
	cat >link.sh <<-END
		rm -f program
		exec $BUILD/bin/litifut build -q $triplet-gcc main.o -o program
	END
	chmod +x link.sh
	ok "litifut-ld without memory: a plain link" each bin/litifut-ld linked ./link.sh
	cat >post.sh <<-END
		rm -f events.tsv
		# files, as fts_open() of glibc 2.36 does not survive it
		exec $BUILD/bin/litifut-post -f tsv -o events.tsv data/trace/* data/maps/* traced/program
	END
	chmod +x post.sh
	sed -i '1i #!/bin/sh' link.sh post.sh
	./post.sh 2>/dev/null
	mv events.tsv expected.tsv
	ok "litifut-post without memory: a message" each bin/litifut-post shown ./post.sh
}

for_targets behaviour
