#!/bin/sh
# Energies on boards for which nothing was tuned: their instructions draw what a seed says (FIRST).
# LONG=1: 30 boards, six seconds each.
# shellcheck disable=SC2317
. "$(dirname "$0")/../energy.sh"
export BUILD
boards=${BOARDS:-${LONG:+30}}
ok "a shift of the clock that explains the curve about as well is not taken, or the errors say so" \
	"$root/tests/energy/boards.py" --boards 1 --first 3005 --seed 7002 --three-quarters 3
if [ -n "$boards" ]; then
	ok "functions of 1 % of the energy on boards drawn at random: the bounds of docs/energy.md hold" \
		"$root/tests/energy/boards.py" --boards "$boards" --first "${FIRST:-3000}"
	cp log boards
	ok "the quantiles are of all functions" grep -q '^mac  *[1-9][0-9]* boards' boards
fi
finish
