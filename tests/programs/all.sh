#!/bin/sh
# The real programs that `make test-long` adds to those of `make test`, as their
# own build systems link them.
exec "$(dirname "$0")/run.sh" mawk xz busybox zpaq sqlite3 sqlite3-library doctest httplib git libffi gawk gmp nettle zstd x264 ffmpeg
