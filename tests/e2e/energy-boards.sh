#!/bin/sh
# Energies on boards for which nothing was tuned: their instructions draw what a seed says (FIRST).
# LONG=1: 30 boards.
# shellcheck disable=SC2317
if [ -z "${LONG:-}" ] && [ -z "${BOARDS:-}" ]; then
	echo "1..0 # SKIP six seconds a board: LONG=1, or BOARDS=2"
	exit 0
fi
. "$(dirname "$0")/../energy.sh"
export BUILD
boards=${BOARDS:-30}
ok "functions of 1 % of the energy on boards drawn at random: the bounds of docs/energy.md hold" \
	"$root/tests/energy/boards.py" --boards "$boards" --first "${FIRST:-3000}"
cp log boards
ok "the quantiles are of all functions" grep -q '^mac  *[1-9][0-9]* boards' boards
finish
