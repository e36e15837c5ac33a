#!/bin/sh
# Joulescope's .jls: what litifut-post reads by the maker's library is what was written by it; without the
# library a line says what to do. JLS is the folder where that was installed, as for make.
# Functions are called by ok.
# shellcheck disable=SC2317
. "$(dirname "$0")/../energy.sh"

printf 'jlsfmt\r\n \n \032  \262\034 and no more of it' >empty.jls
"$post" energy check --power empty.jls >none 2>words
if grep -q 'was built without it' words; then
	ok "a line says how to get the library" grep 'empty.jls: .* make JLS=FOLDER' words
	count=$((count + 1))
	echo "ok $count - round trip # SKIP this litifut-post was built without Joulescope's library"
	finish
fi

ok "a damaged file is refused" grep 'empty.jls: .*open' words
ok "a writer by the same library" make -s -C "$root" BUILD="$BUILD" "$BUILD/tests/energy/write_jls"
ok "a recording" "$rig" -p power.csv -e events -s seed=1 traced "$BUILD/tests/energy/firmware-60.elf"
ok "is written as .jls" "$BUILD/tests/energy/write_jls" power.csv power.jls 3.3 100000
ok "what is in it is understood" sh -c "'$post' energy check --power power.jls |
	grep 'Joulescope jls, [0-9,]* samples at 100 kS/s, .*, current in A, voltage in V, pin gpi'"
ok "the energies of the CSV" sh -c "'$post' energy -q -f tsv --hook 3.5,3.25,30.36 --volts 3.3 --power power.csv \
	events >csv.tsv"
ok "and of the .jls" sh -c "'$post' energy -q -f tsv --hook 3.5,3.25,30.36 --power power.jls events >jls.tsv"
ok "are the same" awk -F'\t' 'NR == FNR { energy[$1] = $3; next }
	FNR > 1 && ($3 - energy[$1] > 1e-5 * energy["(total)"] || energy[$1] - $3 > 1e-5 * energy["(total)"]) {
		print
		bad = 1
	}
	END { exit bad || FNR < 10 }' csv.tsv jls.tsv
finish
