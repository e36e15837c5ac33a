#!/bin/sh
# Real programs linked statically: the calls of the C library are traced as well.
export LINKAGE=static
exec "$(dirname "$0")/run.sh" lua bzip2 minigzip mawk xz busybox zpaq sqlite3 doctest git libffi gawk gmp
