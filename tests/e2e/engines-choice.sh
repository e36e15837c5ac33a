#!/bin/sh
# A library is traced by thunks if it, or a library that it needs, needs glibc; where thunks are not
# taken, `litifut info' and LITIFUT_VERBOSE say why.
. "$(dirname "$0")/../lib.sh"
few_targets armhf armel mips
unset ENGINE

engine_of()
{
	"$BUILD/bin/litifut" info "traced/$1" | sed -n 's/^ *engine *//p'
}

# needed FILE: the libraries that it names
needed()
{
	readelf -dW "$1" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | tr '\n' ' '
}

behaviour()
{
	thunk=thunk
	cat >library.cpp <<-'END'
		#include <stdexcept>
		#include <vector>
		__attribute__((noipa)) static int at(const std::vector<int> &v, unsigned i) { return v.at(i); }
		int sum(unsigned n)
		{
			std::vector<int> v(7, 3);
			int sum = 0;
			try {
				for (unsigned i = 0; i < n; i++)
					sum += at(v, i);
			} catch (const std::out_of_range &) {
				sum += 1000;
			}
			return sum;
		}
	END
	printf '%s\n' '#include <stdio.h>' 'int sum(unsigned);' \
		'int main() { printf("%d %d\n", sum(5), sum(9)); return 2; }' >main.cpp
	printf '%s\n' 'int helper(int x);' '__attribute__((noipa)) int step(int x) { return x + 1; }' \
		'int helper(int x) { return step(x) * step(x + 1); }' >alone.c

	language=g++
	flags="-shared -fPIC -Wl,--as-needed"
	link libsum.so ../library.cpp
	flags=
	case $(needed plain/libsum.so) in
	*libc.so*) ok "the library needs libstdc++ only" false ;;
	*libstdc++*) ok "the library needs libstdc++ only" true ;;
	esac
	is "its engine" "$(engine_of libsum.so)" "$thunk"
	link program ../main.cpp -L. -lsum
	same_run program
	events_equal_calls program
	language=gcc

	# It uses nothing of glibc, as a small plugin may, but was linked with it.
	flags="-shared -fPIC -Wl,--as-needed"
	link libplugin.so ../alone.c
	flags=
	is "a plugin that needs no library" "$(needed plain/libplugin.so)" ""
	is "its engine" "$(engine_of libplugin.so)" "$thunk"
	printf '%s\n' '#include <dlfcn.h>' '#include <stdio.h>' 'int main() { void *plugin = dlopen("libplugin.so", RTLD_NOW);' \
		'printf("%d\n", ((int (*)(int))dlsym(plugin, "helper"))(3)); return 3; }' >host.c
	link host ../host.c -ldl
	same_run host
	events_equal_calls host

	# Nothing shows what libc it will meet.
	flags="-shared -fPIC -nostdlib"
	link libalone.so ../alone.c
	flags=
	thunk="db (no library that it needs is known to need glibc: link it with -Wl,--no-as-needed -lc)"
	is "a library that needs none" "$(engine_of libalone.so)" "$thunk"
	(cd traced && LITIFUT_VERBOSE=1 front="$BUILD/bin/litifut build -q" compiler -shared -fPIC \
		-nostdlib -o libalone.so ../alone.c) >verbose.log 2>&1
	is "and LITIFUT_VERBOSE says so" \
		"$(sed -n 's/^litifut-ld: the db engine in place of thunks: //p' verbose.log)" \
		"$(echo "$thunk" | sed 's/^db (//; s/)$//')"
	is "and --json" "$("$BUILD/bin/litifut" info --json traced/libalone.so |
		sed 's/.*"engine_reason": "\([^"]*\)".*/\1/')" "$(echo "$thunk" | sed 's/^db (//; s/)$//')"
	(cd traced && LITIFUT_ENGINE=db front="$BUILD/bin/litifut build -q" compiler -o asked ../alone.c \
		-x c++ ../main.cpp ../library.cpp -lstdc++) >verbose.log 2>&1
	is "asked for: no reason" "$(engine_of asked)" db
}

for_targets behaviour
