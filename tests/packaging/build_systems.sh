#!/bin/sh
# A custom recorder, built by CMake and by Meson: with what `make install` copies, and with the archive
# and the wrap that `make dist` makes. The programs are run. Part of `make test-long'.
. "$(dirname "$0")/../lib.sh"

sources()
{
	cat >mine.c <<-'END'
		#include <stdio.h>
		#include <litifut/litifut.h>
		#include "calls.h"
		void litifut_record_trace(const struct litifut_call *call)
		{
			(void)call;
			calls_add();
		}
	END
	cat >calls.c <<-'END'
		#include <stdio.h>
		#include "calls.h"
		static unsigned count;
		void calls_add(void) { count++; }
		static __attribute__((destructor)) void say(void) { fprintf(stderr, "%u calls\n", count); }
	END
	echo 'void calls_add(void);' >calls.h
	cat >program.c <<-'END'
		#include <stdio.h>
		__attribute__((noipa)) static int step(int n) { return n + 1; }
		int main(void)
		{
			int n = 0;
			while (n < 100)
				n = step(n);
			printf("%d\n", n);
			return 0;
		}
	END
}

# The recorder has counted the hundred calls of step() and those of the C library's start-up code.
runs()
{
	"qemu-$cpu" -L "$sysroot" "$1" >out 2>err
	[ "$(cat out)" = 100 ] && grep '^1[0-9][0-9] calls$' err
}

with_cmake()
{
	cat >CMakeLists.txt <<-'END'
		cmake_minimum_required(VERSION 3.19)
		project(counted C)
		find_package(litifut 0.1 REQUIRED)
		litifut_add_recorder(mine mine.c calls.c)
		add_executable(program program.c)
		litifut_trace(program RECORDER mine LITIFUT_EXCLUDE=none_such*)
		add_executable(plain program.c)
	END
	for generator in "Unix Makefiles" Ninja; do
		rm -rf built
		ok "CMake, $generator: it is built" sh -c '
			cmake -G "$1" -S . -B built -DCMAKE_SYSTEM_NAME=Linux -DCMAKE_SYSTEM_PROCESSOR="$3" -DCMAKE_C_COMPILER="$2-gcc" \
				-Dlitifut_DIR="$(pwd)/installed/usr/lib/cmake/litifut" -DCMAKE_BUILD_TYPE=Release &&
				cmake --build built' sh "$generator" "$triplet" "$cpu"
		ok "CMake, $generator: the recorder counts" runs built/program
		ok "CMake, $generator: a target that is not named is plain" sh -c "! '$BUILD/bin/litifut' info built/plain | grep ': rewritten'"
		touch mine.c
		ok "CMake, $generator: another recorder, another program" sh -c 'cmake --build built -v | grep -- "-o program\|-o ./program"'
	done
}

with_meson()
{
	cat >meson.build <<-'END'
		project('counted', 'c')
		mine = static_library('mine', 'mine.c', 'calls.c', pic: true, dependencies: dependency('litifut'))
		recorder = custom_target('recorder', output: 'mine.o', input: mine.extract_all_objects(recursive: false),
			command: [meson.get_compiler('c').cmd_array(), '-r', '-nostdlib', '-o', '@OUTPUT@', '@INPUT@'])
		executable('program', 'program.c', link_depends: recorder)
	END
	cat >cross.ini <<-END
		[binaries]
		c = '$triplet-gcc'
		ar = '$triplet-ar'
		strip = '$triplet-strip'
		[host_machine]
		system = 'linux'
		cpu_family = '${cpu%el}'
		cpu = '$cpu'
		endian = '$([ "$cpu" = mips ] && echo big || echo little)'
	END
	mkdir -p subprojects/packagefiles
	cp "$BUILD"/litifut-*.tar.xz subprojects/packagefiles/
	cp "$BUILD/litifut.wrap" subprojects/
	rm -rf built
	ok "Meson, with the wrap: it is built" sh -c '
		meson setup --cross-file cross.ini --wrap-mode default built &&
			LITIFUT_RECORDER="$(pwd)/built/mine.o" "$1/bin/litifut" build ninja -C built' sh "$BUILD"
	ok "Meson, with the wrap: the recorder counts" runs built/program
}

behaviour()
{
	for program in cmake ninja meson; do
		command -v $program >/dev/null && continue
		skip "CMake and Meson" "$program is missing: scripts/install-dependencies programs"
		return
	done
	sources
	ok "make install" make -s -C "$root" BUILD="$BUILD" install DESTDIR="$(pwd)/installed" PREFIX=/usr
	# as if it were not inside of DESTDIR
	sed -i "s|\"/usr/|\"$(pwd)/installed/usr/|" installed/usr/lib/cmake/litifut/litifut-config.cmake
	with_cmake
	[ "$target" = armhf ] || return 0
	ok "make dist" make -s -C "$root" BUILD="$BUILD" dist
	with_meson
}

few_targets armhf mipsel
for_targets behaviour
