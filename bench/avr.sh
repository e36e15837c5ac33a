# What the benches of AVR nodes share: sourced by avr_*.sh, goes to an empty folder of the script.
# shellcheck shell=sh disable=SC2034
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
BUILD=${BUILD:-$root/build}
export BUILD LITIFUT_STRICT=1
simulator=$BUILD/tests/avr
folder=${OUT:-$BUILD/bench/$(basename "$0" .sh)}
rm -rf "$folder"
mkdir -p "$folder"
cd "$folder"

# quietly COMMAND...: its output only if it fails, which ends the script
quietly()
{
	"$@" >log 2>&1 || {
		cat log >&2
		exit 1
	}
}
