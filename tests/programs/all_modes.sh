#!/bin/sh
# Real programs in all modes: they print and return the same, and litifut-post reads what
# they have recorded. With the oracles it takes hours: `tests/programs/modes.sh RECIPE`.
export ORACLE=no
exec "$(dirname "$0")/modes.sh" boost-context brotli duktape luajit libgc libsigsegv libunwind flac lighttpd lzip memcached tinyxml2 uv
