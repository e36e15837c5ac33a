#!/bin/sh
# install-ld and uninstall-ld on a copy of a toolchain; `make install`; `litifut
# build` as a command. Nothing of the machine's own is touched.
TARGETS=${TARGETS:-armhf}
. "$(dirname "$0")/../lib.sh"

litifut=$BUILD/bin/litifut

# A toolchain in a home folder. Debian makes links; binutils, and so Buildroot
# and OpenWrt, gives one file two names. Debian's toolchain for firmware has the second ones in lib.
toolchain()
{
	rm -rf "home/tools"
	second=$triplet
	[ "${1:-}" != lib ] || second=lib/$triplet
	mkdir -p "home/tools/bin" "home/tools/$second/bin"
	cp "$(readlink -f "$(command -v "$triplet-ld")")" "home/tools/bin/$triplet-ld.bfd"
	ln -s "$triplet-ld.bfd" "home/tools/bin/$triplet-ld"
	if [ "${1:-}" = twins ] || [ "${1:-}" = lib ]; then
		ln -f "home/tools/bin/$triplet-ld.bfd" "home/tools/bin/$triplet-ld"
		ln "home/tools/bin/$triplet-ld" "home/tools/$second/bin/ld"
		ln "home/tools/bin/$triplet-ld.bfd" "home/tools/$second/bin/ld.bfd"
	else
		ln -s "../../bin/$triplet-ld" "home/tools/$triplet/bin/ld"
		ln -s "../../bin/$triplet-ld.bfd" "home/tools/$triplet/bin/ld.bfd"
	fi
}

snapshot()
{
	(cd home/tools && find . ! -type d -printf '%p %l %s\n' | sort)
}

# linked: gcc told to look for its linker in that toolchain.
linked()
{
	rm -f program
	COMPILER_PATH="$(pwd)/home/tools/$second/bin" PATH="$(pwd)/home/tools/bin:$PATH" \
		compiler "$@" -o program main.o
}

said_by_linker()
{
	said_path="$(pwd)/home/tools/bin:$PATH"
	{
		PATH="$said_path" "$triplet-ld" nosuch.o
		PATH="$said_path" "$triplet-ld" -e main -o program main.o
		PATH="$said_path" "home/tools/bin/$triplet-ld" nosuch.o
	} 2>&1
}

is_traced()
{
	"$litifut" info program | grep -q ': rewritten'
}

# A database of dpkg's own in which the toolchain is a package, for dpkg-query and
# dpkg-divert, which install-ld runs.
packaged()
{
	rm -rf dpkg
	mkdir -p dpkg/info dpkg/updates dpkg/triggers
	printf 'Package: tools\nStatus: install ok installed\nMaintainer: nobody\nArchitecture: all\nVersion: 1\nDescription: tools\n' \
		>dpkg/status
	: >dpkg/available
	find "$(pwd)/home/tools" ! -type d | sort >dpkg/info/tools.list
}

diversions()
{
	dpkg-divert --list | sort
}

divert()
{
	if ! command -v dpkg-divert >/dev/null; then
		skip "a toolchain that is a package" "no dpkg"
		return
	fi
	toolchain
	packaged
	DPKG_ADMINDIR=$(pwd)/dpkg && export DPKG_ADMINDIR
	before=$(snapshot)
	echo text >home/passwd
	cp home/passwd home/passwd.before
	ok "a file that is not a linker: refused" sh -c \
		"! '$litifut' install-ld home/passwd >passwd.out 2>&1 && grep -q 'is not a linker' passwd.out"
	ok "a file that is not a linker: stays" cmp home/passwd home/passwd.before
	ok "a folder without a slash" sh -c "cd home && '$litifut' install-ld tools"
	ok "and back" sh -c "cd home && '$litifut' uninstall-ld tools"
	ok "a package: install-ld" "$litifut" install-ld home/tools
	is "a package: what it moves is diverted" "$(diversions)" "$(find home/tools -name '*.litifut-original' |
		sed "s|.*|local diversion of $(pwd)/& to $(pwd)/&|; s|.litifut-original to| to|" | sort)"
	ok "a package: there is something" test -n "$(diversions)"
	ok "a package: uninstall-ld" "$litifut" uninstall-ld home/tools
	is "a package: as it was" "$(snapshot)" "$before"
	is "a package: no diversion is left" "$(diversions)" ""
	ok "a package: install-ld again" "$litifut" install-ld home/tools
	find home/tools -name '*.litifut-original' -exec rm {} +
	rm dpkg/info/tools.list
	rm "home/tools/$triplet/bin/"*
	ok "a package that was removed: uninstall-ld" "$litifut" uninstall-ld home/tools
	is "a package that was removed: no link is left" "$(snapshot)" ""
	is "a package that was removed: nor a diversion" "$(diversions)" ""
	unset DPKG_ADMINDIR
}

behaviour()
{
	echo 'int main(void) { return 0; }' >main.c
	compiler -c -o main.o main.c
	for what in "$triplet" folder bin twins lib linker linked; do
		toolchain "$what"
		before=$(snapshot)
		linked
		cp program plain
		said_by_linker >said.plain
		case $what in
		folder | twins | lib) argument=home/tools ;;
		bin) argument=$(pwd)/home/tools/bin ;;
		# as Buildroot's host/bin does for a toolchain from elsewhere
		linked)
			mkdir -p home/tools/host/bin
			ln -s "../../bin/$triplet-ld" "../../bin/$triplet-ld.bfd" home/tools/host/bin
			before=$(snapshot)
			argument=home/tools/host
			;;
		linker) argument=home/tools/bin/$triplet-ld ;;
		*) argument=$what ;;
		esac
		ok "install-ld $what" env PATH="$(pwd)/home/tools/bin:$PATH" "$litifut" install-ld "$argument"
		linked
		ok "install-ld $what: LITIFUT unset is the plain linker" cmp program plain
		said_by_linker >said
		ok "install-ld $what: and so are its words, by name and by path" diff said.plain said
		LITIFUT=1 said_by_linker >said
		ok "install-ld $what: and with LITIFUT=1" diff said.plain said
		export LITIFUT=1
		linked
		unset LITIFUT
		ok "install-ld $what: LITIFUT=1 rewrites" is_traced
		if [ "$what" != linker ]; then
			export LITIFUT=1
			linked -fuse-ld=bfd
			unset LITIFUT
			ok "install-ld $what: -fuse-ld=bfd too" is_traced
		fi
		installed=$(snapshot)
		ok "install-ld $what again" env PATH="$(pwd)/home/tools/bin:$PATH" "$litifut" install-ld "$argument"
		is "install-ld $what again changes nothing" "$(snapshot)" "$installed"
		ok "litifut build with it in place" "$litifut" build env COMPILER_PATH="$(pwd)/home/tools/$second/bin" \
			"$triplet-gcc" -o program main.o
		ok "uninstall-ld $what" env PATH="$(pwd)/home/tools/bin:$PATH" "$litifut" uninstall-ld "$argument"
		is "uninstall-ld $what: as it was" "$(snapshot)" "$before"
	done

	divert

	toolchain
	before=$(snapshot)
	ok "a prefix: install-ld" env PATH="$(pwd)/home/tools/bin:$PATH" "$litifut" install-ld "$triplet-"
	ok "a prefix: there is a link" test -L "home/tools/bin/$triplet-ld.bfd"
	ok "a prefix: uninstall-ld" env PATH="$(pwd)/home/tools/bin:$PATH" "$litifut" uninstall-ld "$triplet-"
	is "a prefix: as it was" "$(snapshot)" "$before"
	for command in install-ld uninstall-ld; do
		"$litifut" install-ld home/tools >install.log
		installed=$(snapshot)
		find home/tools -lname "*/litifut-ld" -exec ln -sf /nowhere/bin/litifut-ld {} \;
		ok "an installation that was removed: $command of another" \
			env PATH="$(pwd)/home/tools/bin:/usr/bin:/bin" "$litifut" $command "$(pwd)/home/tools"
		[ $command = uninstall-ld ] || is "an installation that was removed: linked anew" \
			"$(snapshot)" "$installed"
	done
	is "an installation that was removed: as it was" "$(snapshot)" "$before"
	"$litifut" install-ld home/tools >install.log
	find home/tools -lname "*/litifut-ld" -exec ln -sf /nowhere/bin/litifut-ld {} \;
	mkdir -p tools-only
	for tool in env dpkg-query dpkg-divert; do
		ln -sf "$(command -v $tool)" tools-only
	done
	ok "an installation that was removed: uninstall-ld by the triplet" \
		tools-only/env PATH="$(pwd)/home/tools/bin:$(pwd)/tools-only" "$litifut" uninstall-ld "$triplet"
	is "an installation that was removed: all of it is back" "$(snapshot)" "$before"
	for other in x86_64-linux-gnu-ld wasm-ld; do
		echo "$other" >"home/tools/bin/$other"
		chmod +x "home/tools/bin/$other"
	done
	ok "a folder with other linkers: install-ld" "$litifut" install-ld home/tools/bin
	is "a folder with other linkers: they stay" \
		"$(cat home/tools/bin/x86_64-linux-gnu-ld home/tools/bin/wasm-ld)" \
		"$(printf 'x86_64-linux-gnu-ld\nwasm-ld')"
	ok "a folder with other linkers: ours does not" test -L "home/tools/bin/$triplet-ld.bfd"
	mv "home/tools/bin/$triplet-ld.bfd.litifut-original" kept
	"$litifut" uninstall-ld home/tools/bin 2>refused
	is "an original that is gone: exit status" $? 1
	is "an original that is gone: one line" "$(cat refused)" \
		"litifut: error: home/tools/bin/$triplet-ld.bfd: stays a link to litifut-ld: $triplet-ld.bfd.litifut-original is not there"
	is "an original that is gone: the others are put back" \
		"$(find home/tools -name '*.litifut-original')" ""
	rm home/tools/bin/x86_64-linux-gnu-ld home/tools/bin/wasm-ld
	mv kept "home/tools/bin/$triplet-ld.bfd.litifut-original"
	ok "an original that is back: uninstall-ld" "$litifut" uninstall-ld home/tools/bin
	is "an original that is back: as it was" "$(snapshot)" "$before"

	toolchain
	echo precious >"home/tools/bin/$triplet-ld.bfd.litifut-original"
	before=$(snapshot)
	ok "install-ld refuses to overwrite" sh -c "! '$litifut' install-ld home/tools/bin 2>refused"
	is "in one line" "$(wc -l <refused)" 1
	is "and changes nothing" "$(snapshot)" "$before"
	toolchain
	rm "home/tools/bin/$triplet-ld"
	ln -s /somewhere/else "home/tools/bin/$triplet-ld"
	before=$(snapshot)
	ok "uninstall-ld leaves what it did not make" "$litifut" uninstall-ld home/tools/bin
	is "all of it" "$(snapshot)" "$before"
	"$litifut" install-ld no-such-triplet 2>refused
	is "install-ld of nothing: exit status" $? 1
	is "install-ld of nothing: one line" "$(wc -l <refused)" 1
	"$litifut" install-ld 2>/dev/null
	is "install-ld without a word: exit status" $? 2

	# Two installations, each first on the other's way.
	mkdir -p one two
	for place in one two; do
		make -s -C "$root" BUILD="$BUILD" install DESTDIR="$(pwd)/$place" PREFIX=/usr >install.log 2>&1
		is "make install: exit status" $? 0
	done
	ok "make install: the programs" test -x one/usr/bin/litifut -a -x one/usr/bin/litifut-ld \
		-a -x one/usr/bin/litifut-post -a -x one/usr/bin/litifut-rewrite
	ok "make install: the header" test -f one/usr/include/litifut/litifut.h
	ok "make install: the manual" test -f one/usr/share/man/man1/litifut.1
	one/usr/bin/litifut build "$triplet-gcc" -o program main.o
	ok "an installed litifut rewrites" is_traced
	one/usr/bin/litifut build two/usr/bin/litifut build "$triplet-gcc" -o program main.o
	ok "one in the other: rewritten, no loop" is_traced
	one/usr/bin/litifut build env LITIFUT=0 two/usr/bin/litifut build env LITIFUT=0 \
		"$triplet-gcc" -o program main.o
	ok "one in the other, plain: no loop" cmp program plain

	touch two/other
	env -u MAKEFLAGS -u V make --no-print-directory -C "$root" BUILD="$BUILD" uninstall DESTDIR="$(pwd)/two" \
		PREFIX=/usr >uninstall.log 2>&1
	is "make uninstall: exit status" $? 0
	is "make uninstall: one line" "$(cat uninstall.log)" "LITIFUT was removed from $(pwd)/two/usr"
	is "make uninstall: nothing is left" "$(find two | sort | tr '\n' ' ')" "two two/other "

	# unquoted, this names the folders `a' and `b', which uninstall would remove with all that is in them
	mkdir a b
	touch a/kept b/kept
	place="$(pwd)/a b it's"
	make -s -C "$root" BUILD="$BUILD" install DESTDIR="$place" PREFIX="/usr a" >install.log 2>&1
	is "make install, blanks: exit status" $? 0
	"$place/usr a/bin/litifut" build "$triplet-gcc" -o program main.o
	ok "make install, blanks: it rewrites" is_traced
	(cd a && make -s -C "$root" BUILD="$BUILD" uninstall DESTDIR="$place" PREFIX="/usr a") >uninstall.log 2>&1
	is "make uninstall, blanks: exit status" $? 0
	is "make uninstall, blanks: nothing else is removed" "$(find a* b* | sort | tr '\n' ' ')" \
		"a a/kept b b/kept "
	ok "make install takes ~ for the home folder" env HOME="$(pwd)/b" sh -c "
		make -s -C '$root' BUILD='$BUILD' install 'PREFIX=~/tools' >install.log 2>&1 &&
		'$(pwd)/b/tools/bin/litifut' --version && grep -q '^prefix=$(pwd)/b/tools' b/tools/lib/pkgconfig/litifut.pc"

	"$litifut" build sh -c 'exit 7'
	is "build: the command's exit status" $? 7
	"$litifut" build no-such-command 2>/dev/null
	is "build: no such command" $? 127
	"$litifut" build /etc/passwd 2>/dev/null
	is "build: not a program" $? 126
	"$litifut" build 2>/dev/null
	is "build: no command" $? 125
	"$litifut" build --config missing true 2>/dev/null
	is "build: a missing configuration file" $? 125
	"$litifut" 2>/dev/null
	is "no command at all" $? 2
	"$litifut" dance 2>/dev/null
	is "an unknown command" $? 2
	(eval "$("$litifut" env)" && "$triplet-gcc" -o program main.o)
	ok "env: a shell can use it" is_traced
	"$litifut" info main.c 2>refused
	is "info of no ELF file: exit status" $? 1
	is "info of no ELF file: one line" "$(wc -l <refused)" 1
	"$litifut" info --json program plain | python3 -m json.tool >/dev/null
	is "info --json is JSON" $? 0
	rm -rf one two home
}

for_targets behaviour
