#!/bin/sh
# More returns in a PIE or a library than numbers of 16 bits stand for: there are several tables of
# them, and each return is recorded, where the linker puts islands between objects and where one
# object is too large for that. With LONG: more than there are tables for. Those beyond are left and
# listed, the link says so, and the program works.
. "$(dirname "$0")/../lib.sh"
few_targets mips
[ "$TARGETS" = "$all_targets" ] && TARGETS="mipsel mips"

units="a b c d e f g h i j k l m"

# unit_objects UNIT...: with 3,000 calls each
unit_objects()
{
	for unit; do
		sed "s/\\<unit\\>/unit_$unit/g" unit.s >"unit_$unit.s"
		compiler -c "unit_$unit.s" || return
	done
}

# caller_of UNIT...: main.c
caller_of()
{
	for unit; do echo "int unit_$unit(int);"; done
	printf '#include <stdio.h>\nint all(int x)\n{\n'
	for unit; do echo "x = unit_$unit(x);"; done
	printf 'return x;\n}\n#ifndef LIBRARY\nint main(void) { printf("%%d\\n", all(1)); return 5; }\n#endif\n'
}

sources()
{
	cat >unit.c <<-'END'
		static __attribute__((noipa)) int next(int value) { return value + 1; }
		#define FIVE(x) x = next(x) * 3; x = next(x) * 5; x = next(x) * 7; x = next(x) * 9; x = next(x) ^ 3;
		#define MANY(x) FIVE(x) FIVE(x) FIVE(x) FIVE(x) FIVE(x) FIVE(x) FIVE(x) FIVE(x) FIVE(x) FIVE(x)
		#define F(n) static __attribute__((noipa)) int f##n(int x) { MANY(x) return x; }
		#define G(n) F(n##0) F(n##1) F(n##2) F(n##3) F(n##4) F(n##5) F(n##6) F(n##7) F(n##8) F(n##9)
		G(1) G(2) G(3) G(4) G(5) G(6)
		#define CALL(n) x = f##n(x);
		#define CALLS(n) CALL(n##0) CALL(n##1) CALL(n##2) CALL(n##3) CALL(n##4) CALL(n##5) CALL(n##6) CALL(n##7) CALL(n##8) CALL(n##9)
		int unit(int x) { CALLS(1) CALLS(2) CALLS(3) CALLS(4) CALLS(5) CALLS(6) return x; }
	END
	# shellcheck disable=SC2086
	caller_of $units >main.c
	echo 'int all(int); int main(void) { return all(2) & 127; }' >caller.c
	compiler -O1 -g0 -fPIC -S unit.c || return
	# shellcheck disable=SC2086
	unit_objects $units || return
	"$triplet-ld" -r -o whole.o unit_?.o
}

left()
{
	"$BUILD/bin/litifut" info --skipped "traced/$1" | grep -c out-of-reach
}

# recorded_all PROGRAM OBJECTS...
recorded_all()
{
	export LITIFUT_CLOCK=page LITIFUT_MODE="${mode:-spans}"
	link "$@" || return
	unset LITIFUT_CLOCK LITIFUT_MODE
	is "$1: no return is out of reach" "$(left "$1")" 0
}

behaviour()
{
	ok "compile" sources || return
	# shellcheck disable=SC2046,SC2086
	recorded_all program ../main.c $(printf '../unit_%s.o ' $units) || return
	# as the test is of no use otherwise
	ok "its trampolines take more than a megabyte" sh -c \
		'"$1" info traced/program | awk "\$1 == \"tracer\" { exit !(\$2 > 1300000) }"' sh "$BUILD/bin/litifut"
	same_run program
	run_timed program
	# shellcheck disable=SC2046
	ok "calls, returns and their times are those of the oracle" \
		python3 "$root/tests/oracle/returns.py" times oracle data $(traced_files)
	flags=-DLIBRARY
	mode=table
	recorded_all liball.so ../main.c ../whole.o -shared -fPIC -Wl,--no-as-needed -lc
	flags=
	recorded_all with-library ../caller.c -L. -lall
	mode=
	same_run with-library
	run_timed with-library
	"$BUILD/bin/litifut-post" -q -f csv -o post.csv data traced/with-library traced/liball.so
	ok "a table of the library has the numbers of the oracle" \
		python3 "$root/tests/oracle/table.py" oracle post.csv traced/with-library traced/liball.so
	[ -z "${LONG:-}" ] || too_many
}

too_many()
{
	many=$(seq 100 340)
	# shellcheck disable=SC2086
	caller_of $many >many.c
	# shellcheck disable=SC2086
	unit_objects $many
	# shellcheck disable=SC2046,SC2086
	set -- ../many.c $(printf '../unit_%s.o ' $many)
	export LITIFUT_MODE=spans
	(cd plain && compiler "$@" -o many)
	(cd traced && front="$BUILD/bin/litifut build -q" compiler "$@" -o many) >said 2>&1
	unset LITIFUT_MODE
	"$BUILD/bin/litifut" info traced/many >said.info
	far=$(awk '$1 == "out-of-reach" { print $2 }' said.info)
	ok "of even more, some are left" test "${far:-0}" -gt 100000
	is "a warning says so" "$(cat said)" \
		"litifut-ld: warning: many: $far of $(awk '/returns patched/ { print $5 }' said.info) returns are not recorded, as there is more code for them than can be reached: link with -no-pie, or choose the objects that are traced (LITIFUT_INCLUDE_OBJECTS)"
	same_run many
	(cd traced && LITIFUT_MODE=spans front="$BUILD/bin/litifut build -q" compiler -DLIBRARY -fPIC -shared "$@" -o libmany.so) >said 2>&1
	is "a library is not advised to be linked with -no-pie" "$(sed -n 's/.*than can be reached: //p' said)" \
		"choose the objects that are traced (LITIFUT_INCLUDE_OBJECTS)"
}

for_targets behaviour
