#!/bin/sh
# A traced library in a program that is not traced, loaded and unloaded again and again, and with it the
# recorder, which is in it: nothing stays behind that the program could feel.
. "$(dirname "$0")/../lib.sh"

behaviour()
{
	cat >library.c <<-'END'
		__attribute__((noipa)) int leaf(int x) { return x + 1; }
		int enter(int n)
		{
			int sum = 0;
			for (int i = 0; i < n; i++)
				sum += leaf(i);
			return sum;
		}
	END
	cat >host.c <<-'END'
		#include <dlfcn.h>
		#include <fcntl.h>
		#include <signal.h>
		#include <stdio.h>
		#include <sys/resource.h>
		int main(void)
		{
			struct rlimit few = {64, 64};
			int open_ones = 0;
			setrlimit(RLIMIT_NOFILE, &few);
			for (int i = 0; i < 50; i++) {
				void *library = dlopen("./libplugin.so", RTLD_NOW);
				if (!library) {
					puts(dlerror());
					return 1;
				}
				printf("%d\n", ((int (*)(int))dlsym(library, "enter"))(100));
				dlclose(library);
			}
			for (int i = 0; i < 64; i++)
				open_ones += fcntl(i, F_GETFD) >= 0;
			printf("%d descriptors\n", open_ones);
			raise(SIGWINCH); /* ignored */
			puts("done");
			return 0;
		}
	END
	link libplugin.so -shared -fPIC ../library.c || return
	for folder in plain traced; do
		(cd $folder && compiler -o host ../host.c -ldl) || return
	done
	rm -rf data
	(cd plain && "qemu-$cpu" -L "$sysroot" ./host </dev/null) >plain.out
	# SIGWINCH is 28 on ARM and 20 on MIPS
	(cd traced && env -i LITIFUT_DIR="$(pwd)/../data" LITIFUT_SIGNAL="$(kill_number)" \
		"qemu-$cpu" -L "$sysroot" ./host </dev/null) >traced.out 2>traced.err
	is "it prints and ends as untraced: no descriptor and no handler is left" \
		"$(diff plain.out traced.out && cat traced.err)" ""
	is "each loading has a trace" "$(find data/trace -name '*.trace' | wc -l)" 50
	"$BUILD/bin/litifut-post" -q -f tsv -o events.tsv data traced/libplugin.so
	is "with all its calls" "$(recorded leaf)" 5000
}

kill_number()
{
	case $cpu in arm) echo 28 ;; *) echo 20 ;; esac
}

for_targets behaviour
