#!/bin/sh
# What has no effect is reported in one line: names that nothing has, misspelt settings and
# commands, with what was meant, LITIFUT=0 under
# `litifut build', links that --strict leaves plain all the same. Every command answers
# -h and -V.
TARGETS=${TARGETS:-"armhf mipsel"}
. "$(dirname "$0")/../lib.sh"

# words ENVIRONMENT... -- ARGUMENTS: what is said by a link with these.
words()
{
	settings=
	while [ "$1" != -- ]; do
		settings="$settings $1"
		shift
	done
	shift
	rm -rf traced && mkdir traced
	(cd traced && front="env $settings ${around-$BUILD/bin/litifut build -q}" compiler ../main.o "$@") 2>&1 |
		sed 's/^litifut-ld: warning: //'
}

unused()
{
	is "a name to exclude that is there" "$(words LITIFUT_EXCLUDE=twice -- -o program)" ""
	is "and one of two" "$(words LITIFUT_EXCLUDE=twice,thrice -- -o program)" ""
	is "none of them" "$(words LITIFUT_EXCLUDE=thrice,four\* -- -o program)" \
		"program: no function has a name of LITIFUT_EXCLUDE (thrice,...); did you mean twice?"
	is "but not in a trial of configure" "$(words LITIFUT_EXCLUDE=thrice -- -o conftest)" ""
	is "no name to include" "$(words LITIFUT_INCLUDE=thrice -- -o program)" \
		"program: no function has a name that LITIFUT_INCLUDE asks for (thrice): no call is traced; did you mean twice?"
	is "nearly one to exclude" "$(words LITIFUT_EXCLUDE=nothing,twcie -- -o program)" \
		"program: no function has a name of LITIFUT_EXCLUDE (nothing,...); did you mean twice?"
	is "nearly one to include" "$(words LITIFUT_INCLUDE=twic -- -o program)" \
		"program: no function has a name that LITIFUT_INCLUDE asks for (twic): no call is traced; did you mean twice?"
	is "nearly one to include, with a number of calls" "$(words LITIFUT_INCLUDE=twic+2 -- -o program)" \
		"program: no function has a name that LITIFUT_INCLUDE asks for (twic+2): no call is traced; did you mean twice?"
	is "one to include, with a number of calls" "$(words LITIFUT_INCLUDE=twice+2 -- -o program)" ""
	is "a pattern is like none" "$(words LITIFUT_INCLUDE='twik*' -- -o program)" \
		"program: no function has a name that LITIFUT_INCLUDE asks for (twik*): no call is traced"
	is "arguments of a function that is there, and that no call names" "$(words LITIFUT_ARGS=main:i0 -- -o program)" \
		"program: LITIFUT_ARGS: no call is found of a function named main (a call through a pointer does not name its function)"
	is "the last line of the build says so, too" \
		"$(around="$BUILD/bin/litifut build" words LITIFUT_EXCLUDE=thrice LITIFUT_INCLUDE=four -- -o program | tail -n 1)" \
		"litifut: 1 linked file traced; 2 settings named nothing, see above"
	is "semicolons are not what stands between names" "$(words 'LITIFUT_INCLUDE=twice;main' -- -o program)" \
		"program: no function has a name that LITIFUT_INCLUDE asks for (twice;main): no call is traced: write commas between the names"
	is "an object to exclude" "$(words LITIFUT_EXCLUDE_OBJECTS=main.o -- -o program)" ""
	is "no such object" "$(words LITIFUT_EXCLUDE_OBJECTS=mian.o -- -o program)" \
		"program: no input has a name of LITIFUT_EXCLUDE_OBJECTS or LITIFUT_EXCLUDE_LIBS"
	is "no such library" "$(words LITIFUT_EXCLUDE_LIBS=greek -- -o program)" \
		"program: no input has a name of LITIFUT_EXCLUDE_OBJECTS or LITIFUT_EXCLUDE_LIBS"
}

# A build of two programs, of which one has the function `twice'.
two_links()
{
	is "a name that one of two links has" "$(both LITIFUT_EXCLUDE=twice LITIFUT_ARGS='twice:i0')" ""
	is "names that none of them has: a line each, at the end" \
		"$(both LITIFUT_EXCLUDE=thrice LITIFUT_ARGS='twice:i0;four:i0;five:i0' LITIFUT_TRIGGER=start:six | sed 's/ (a call.*//')" \
		"litifut: warning: in all 2 linked files: no function has a name of LITIFUT_EXCLUDE (thrice); did you mean twice?
litifut: warning: in all 2 linked files: LITIFUT_ARGS: no call is found of a function named four
litifut: warning: in all 2 linked files: LITIFUT_ARGS: no call is found of a function named five
litifut: warning: in all 2 linked files: LITIFUT_TRIGGER: no call is found of a function named six"
	is "what was meant by the name of a function whose arguments are asked for" \
		"$(both LITIFUT_ARGS='twcie:i0' | sed 's/ (a call.*)//')" \
		"litifut: warning: in all 2 linked files: LITIFUT_ARGS: no call is found of a function named twcie; did you mean twice?"
	is "what was meant, where one of two has it" "$(both LITIFUT_EXCLUDE=twcie)" \
		"litifut: warning: in all 2 linked files: no function has a name of LITIFUT_EXCLUDE (twcie); did you mean twice?"
	is "not of a build that fails" "$(also=no.o both LITIFUT_EXCLUDE=thrice | grep -c 'in all')" 0
	is "each link says so where no build is around it" \
		"$(eval "$("$BUILD/bin/litifut" env)" && cd traced && LITIFUT_EXCLUDE=thrice && export LITIFUT_EXCLUDE &&
			front='' compiler ../main.o -o program 2>&1)" \
		"litifut-ld: warning: program: no function has a name of LITIFUT_EXCLUDE (thrice); did you mean twice?"
}

# both SETTING...: what a build of both says; with $also the second link gets that, too
both()
{
	rm -rf traced && mkdir traced
	echo "cc='$triplet-gcc $machine_flags -g -O2'; \$cc ../main.o -o one && \$cc ../other.o -o two ${also:-}" >two.sh
	(cd traced && env "$@" "$BUILD/bin/litifut" build -q sh ../two.sh 2>&1)
}

# Where the wrapper was not put in by `litifut build', which looks at the environment once.
words_installed()
{
	(eval "$("$BUILD/bin/litifut" env)" && around='' words "$@")
}

misspelt()
{
	exlude="LITIFUT_EXLUDE: no such setting, ignored; did you mean LITIFUT_EXCLUDE?"
	is "a misspelt setting" "$(words_installed LITIFUT_EXLUDE=twice -- -o program)" "$exlude"
	is "one of the recorder" "$(words_installed LITIFUT_DRI=twice -- -o program)" \
		"LITIFUT_DRI: no such setting, ignored; did you mean LITIFUT_DIR?"
	is "one like no other" "$(words_installed LITIFUT_NONSENSE=1 -- -o program)" \
		"LITIFUT_NONSENSE: no such setting, ignored"
	is "a right one" "$(words_installed LITIFUT_DIR=/tmp -- -o program)" ""
	is "reported once by litifut build, not by its links" "$(words LITIFUT_EXLUDE=twice -- -o program)" \
		"litifut: warning: $exlude"
	echo 'exlude = twice' >misspelt.config
	is "a misspelt key" "$(words LITIFUT_CONFIG=../misspelt.config -- -o program)" \
		"../misspelt.config:1: unknown key, ignored: exlude; did you mean exclude?"
	is "a setting of firmware" "$(words LITIFUT_PORT=uart -- -o program)" \
		"LITIFUT_PORT: has no effect, as it is for firmware only"
	is "a mode that does not exist: the link goes on" "$(words LITIFUT_MODE=span -- -o program)" \
		"LITIFUT_MODE=span: ignored, as it is none of calls, spans, table, counts, stream, coverage, paths, units, balllarus; did you mean spans?"
	rm -f traced/program
	is "with LITIFUT_STRICT it is an error" "$(words LITIFUT_STRICT=1 LITIFUT_MODE=span -- -o program | grep -c "^litifut-ld: error: LITIFUT_MODE=span: ignored")" 1
	ok "and nothing is linked" [ ! -e traced/program ]
	is "as is a misspelt name" "$(words LITIFUT_STRICT=1 LITIFUT_EXLUDE=twice -- -o program | tail -n 1)" \
		"litifut: error: a setting is of no effect, and LITIFUT_STRICT is set"
	echo 'strict = 1' >strict.config
	is "also where a file of settings says so" "$(words LITIFUT_CONFIG=../strict.config LITIFUT_EXLUDE=twice -- -o program | tail -n 1)" \
		"litifut: error: a setting is of no effect, and LITIFUT_STRICT is set"
	is "a default of the recorder that does not exist" "$(words LITIFUT_DEFAULTS=LITIFUT_CLOK=mono -- -o program)" \
		"LITIFUT_DEFAULTS: the recorder has no such setting: LITIFUT_CLOK=mono; did you mean LITIFUT_CLOCK?"
	is "one without the first letters" "$(words LITIFUT_DEFAULTS=CLOCK=mono -- -o program)" \
		"LITIFUT_DEFAULTS: the recorder has no such setting: CLOCK=mono; did you mean LITIFUT_CLOCK?"
	ok "and calls are recorded" sh -c "'$BUILD/bin/litifut' info traced/program | grep -q 'mode  *calls'"
	for setting in LITIFUT_EXLUDE=twice LITIFUT_CONFIG=../misspelt.config LITIFUT=yes; do
		for trial in "-o conftest" "-o cmTC_1234" "-r -o program" "-Wl,--version"; do
			# shellcheck disable=SC2086
			is "$setting: not with $trial" \
				"$(words_installed $setting -- $trial 2>&1 | grep -c 'ignored\|neither')" 0
		done
	done
	is "LITIFUT=yes" "$(words_installed LITIFUT=yes -- -o program)" \
		"LITIFUT: neither 0 nor 1, so the link is plain: yes"
}

commands()
{
	is "litifut buidl" "$("$BUILD/bin/litifut" buidl true 2>&1; echo $?)" \
		"$(printf 'litifut: error: no such command: buidl; did you mean build?\n2')"
	is "litifut-post reprot" "$("$BUILD/bin/litifut-post" reprot . 2>&1; echo $?)" \
		"$(printf 'litifut-post: no such command or file: reprot; did you mean report?\n2')"
	is "litifut-post -f reprot" "$("$BUILD/bin/litifut-post" -f reprot . 2>&1; echo $?)" \
		"$(printf 'litifut-post: unknown format reprot; did you mean report?\n2')"
	for words in "info --sits:did you mean --sites" "build --strct true:did you mean --strict" \
		"control data stat:did you mean status" \
		"control data again:no such request: again; it takes start, stop, snapshot, reset or status" \
		"control status data:the folder comes first: litifut control data status" \
		"control data:it takes a folder or a trace, and then start, stop, snapshot, reset or status" "help buidl:did you mean build" \
		"build --strict=1 true:no argument is possible in --strict=1" "info -x:no such option: -x" \
		"run-mcu --port:an argument is missing behind --port"; do
		# shellcheck disable=SC2086
		ok "litifut $words" sh -c '"$@" 2>&1 | grep -- "$0"' "${words#*:}" "$BUILD/bin/litifut" ${words%%:*}
	done
	for word in "flamegraph html, folded or speedscope" "topp top"; do
		is "litifut-post -f ${word%% *}" "$("$BUILD/bin/litifut-post" -f "${word%% *}" . 2>&1)" \
			"litifut-post: unknown format ${word%% *}; did you mean ${word#* }?"
		is "litifut-post ${word%% *}" "$("$BUILD/bin/litifut-post" "${word%% *}" . 2>&1)" \
			"litifut-post: no such command or file: ${word%% *}; did you mean ${word#* }?"
	done
	touch reprot
	is "litifut-post of a file of that name" "$("$BUILD/bin/litifut-post" reprot 2>&1 | grep -c mean)" 0
}

strict()
{
	is "another text address: no message" "$(words LITIFUT= -- -o program -Wl,-Ttext=0x20000)" ""
	is "and with --strict" "$(words LITIFUT_STRICT=1 -- -o program -Wl,-Ttext=0x20000)" \
		"program: left untraced: a text address of its own (-Ttext)"
	ok "which is not a failure" test -x traced/program
	is "a partial link: no word" "$(words LITIFUT_STRICT=1 -- -r -o partial.o)" ""
}

build_with_zero()
{
	is "LITIFUT=0 litifut build" "$(words LITIFUT=0 -- -o program)" \
		"litifut: warning: LITIFUT=0 is of no effect: build sets it to 1 for its command"
}

questions()
{
	for program in litifut litifut-ld litifut-rewrite litifut-post; do
		for question in -h --help; do
			COMPILER_PATH=$(dirname "$(command -v "$triplet-ld")") \
				"$BUILD/bin/$program" $question >answer 2>&1
			is "$program $question: exit status" $? 0
			is "and how it is used, once" "$(grep -ci "^usage: $program " answer)" 1
		done
		for question in -V --version; do
			"$BUILD/bin/$program" $question >answer 2>&1
			is "$program $question: exit status" $? 0
			ok "and its version" grep -q "^$program [0-9]" answer
		done
	done
	for command in build env install-ld uninstall-ld info control capture run-mcu energy-loop; do
		"$BUILD/bin/litifut" help $command >answer
		is "litifut help $command: of this one only" "$(sed -n 's/^.*: *litifut \([^ ]*\).*/\1/p' answer)" $command
		for question in -h --help; do
			"$BUILD/bin/litifut" $command $question | cmp - answer
			is "litifut $command $question: the same" $? 0
		done
		case $command in
		env | build | energy-loop) ;;
		*)
			"$BUILD/bin/litifut" $command word --help | cmp - answer
			is "litifut $command word --help: the same" $? 0
			;;
		esac
		ok "litifut $command -V" sh -c "'$BUILD/bin/litifut' $command -V | grep -q '^litifut [0-9]'"
	done
}

# COMPILER_PATH is a variable of gcc, but there are makefiles that have it for what stands in front of the compiler's name.
in_front()
{
	rm -rf traced && mkdir traced
	printf 'COMPILER_PATH ?=\nprogram:\n\t$(COMPILER_PATH)%s-gcc -o $@ ../main.o\n' "$triplet" >traced/Makefile
	"$BUILD/bin/litifut" build -q make -C traced >traced/log 2>&1
	ok "a makefile that puts COMPILER_PATH in front of its compiler" env litifut="$BUILD/bin/litifut" sh -c \
		'cat traced/log; "$litifut" info traced/program | grep "sites patched  *[1-9]"'
	ok "a script that looks for the compiler finds the compiler" [ "$("$BUILD/bin/litifut" build -q sh -c \
		'command -v "$1"-gcc' sh "$triplet")" = "$(command -v "$triplet-gcc")" ]
}

# The folder with shims of an installation that was removed goes with the next build.
dead_shims()
{
	mkdir -p cache gone/bin gone/lib
	cp "$BUILD/bin/litifut" "$BUILD/bin/litifut-ld" gone/bin
	XDG_CACHE_HOME=$(pwd)/cache gone/bin/litifut build -q true
	is "a folder of shims" "$(find cache/litifut -name 'shims-*' | wc -l)" 1
	rm -r gone
	touch "$(echo cache/litifut/shims-*)/of-the-user"
	XDG_CACHE_HOME=$(pwd)/cache "$BUILD/bin/litifut" build -q true
	ok "a folder of tools" [ "$(find cache/litifut -path '*/tools/*-gcc' | wc -l)" -gt 0 ]
	is "with another file it stays" \
		"$(find cache/litifut -name 'shims-*' | wc -l)" 2
	is "but none of the links" "$(find cache/litifut -lname '*/gone/bin/*')" ""
	rm -r cache
	mkdir -p gone/bin
	cp "$BUILD/bin/litifut" "$BUILD/bin/litifut-ld" gone/bin
	XDG_CACHE_HOME=$(pwd)/cache gone/bin/litifut build -q true
	rm -r gone
	XDG_CACHE_HOME=$(pwd)/cache "$BUILD/bin/litifut" build -q true
	is "that of a removed installation is gone" \
		"$(find cache/litifut -name 'shims-*' | wc -l)" 1
	XDG_CACHE_HOME=$(pwd)/cache "$BUILD/bin/litifut" build -q true
	is "that of this one stays" "$(find cache/litifut -name 'shims-*' | wc -l)" 1
}

behaviour()
{
	printf '%s\n' '#include <stdio.h>' '__attribute__((noipa)) int twice(int x) { return 2 * x; }' \
		'int main(void) { printf("%d\n", twice(2)); return 0; }' >main.c
	compiler -c -o main.o main.c
	sed 's/twice/other/' main.c >other.c
	compiler -c -o other.o other.c
	unused
	two_links
	misspelt
	commands
	strict
	build_with_zero
	questions
	in_front
	dead_shims
}

for_targets behaviour
