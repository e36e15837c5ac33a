#!/bin/sh
# scripts/fetch-source tries again where a file is not on the server the first time, and fails
# in one line where it never is.
TARGETS=${TARGETS:-armhf}
. "$(dirname "$0")/../lib.sh"

# A package archive that lacks a file for the first TIMES tries.
archive()
{
	rm -rf bin sources && mkdir -p bin
	echo "$1" >left
	cat >bin/apt-get <<-END
		#!/bin/sh
		case "\$*" in
		*" update"*) exit 0 ;;
		*" source "*) ;;
		*) exit 100 ;;
		esac
		left=\$(cat "$(pwd)/left")
		echo try >>"$(pwd)/tries"
		if [ "\$left" -gt 0 ]; then
			echo \$((left - 1)) >"$(pwd)/left"
			echo "E: Failed to fetch lua_1-1.debian.tar.xz  404  Not Found" >&2
			exit 100
		fi
		touch lua_1-1.dsc
	END
	printf '%s\n' '#!/bin/sh' 'mkdir lua-1' >bin/dpkg-source
	printf '%s\n' '#!/bin/sh' 'echo "Version: 1-1"' >bin/apt-cache
	printf '%s\n' '#!/bin/sh' >bin/sleep
	chmod +x bin/*
	rm -f tries
	PATH=$(pwd)/bin:$PATH BUILD=$(pwd) "$root/scripts/fetch-source" lua >folder 2>words
	status=$?
}

behaviour()
{
	for misses in 0 1 3; do
		archive $misses
		is "$misses misses: exit status" $status 0
		is "$misses misses: the folder" "$(cat folder)" "$(pwd)/sources/lua/lua-1"
		is "$misses misses: tries" "$(wc -l <tries)" $((misses + 1))
	done
	archive 1000
	is "never there: exit status" $status 1
	is "never there: what is said" "$(tail -n 1 words)" \
		"fetch-source: the Debian source of lua can't be fetched"
	is "an option is not a package" "$(PATH=$(pwd)/bin:$PATH BUILD=$(pwd) "$root/scripts/fetch-source" --help 2>&1; echo $?)" \
		"usage: $root/scripts/fetch-source PACKAGE
2"
}

for_targets behaviour
