#!/bin/sh
# A library is unloaded and another one takes its place in memory: the calls of
# each are still shown by their own names, also in threads that start later.
. "$(dirname "$0")/../lib.sh"

# Names alone would not make another build-id.
library()
{
	cat >"lib$1.c" <<-END
		static __attribute__((noipa)) int inner_$1(int x) { return $2; }
		int entry(int x) { return inner_$1(x) + inner_$1(x + 1); }
	END
}

behaviour()
{
	library one 'x + 1'
	library two 'x * 5 - 2'
	cat >main.c <<-'END'
		#include <dlfcn.h>
		#include <pthread.h>
		#include <stdio.h>
		static void *visit(void *name)
		{
			void *library = dlopen(name, RTLD_NOW);
			if (!library)
				return (void *)dlerror();
			int (*entry)(int) = (int (*)(int))dlsym(library, "entry");
			printf("%s: %d\n", (char *)name, entry(1));
			return dlclose(library) ? (void *)"dlclose" : 0;
		}
		int main(void)
		{
			static char *const names[] = {"libone.so", "libtwo.so", "libone.so", "libtwo.so"};
			for (int i = 0; i < 4; i++) {
				pthread_t thread;
				void *failed;
				if (pthread_create(&thread, 0, visit, names[i]) ||
				    pthread_join(thread, &failed))
					return 1;
				if (failed)
					puts(failed);
			}
			return 0;
		}
	END
	link libone.so -fPIC -shared ../libone.c || return
	link libtwo.so -fPIC -shared ../libtwo.c || return
	link program ../main.c -pthread -ldl || return
	same_run program
	# shellcheck disable=SC2046
	ok "litifut-post reads the trace" \
		"$BUILD/bin/litifut-post" -f tsv -o events.tsv data $(traced_files) || return
	is "each library's calls have its own names, in the order of loading" \
		"$(awk -F '\t' '$10 ~ /^inner_/ { print $8, $10 }' events.tsv | sort | uniq -c |
			awk '{ print $1, $2, $3 }')" \
		"$(printf '4 libone.so inner_one\n4 libtwo.so inner_two')"
	is "no thread mixes them" \
		"$(awk -F '\t' '$10 ~ /^inner_/ { print $2, $10 }' events.tsv | sort -u | wc -l)" 4
}
for_targets behaviour
