#!/bin/sh
# Real programs at fixed addresses.
export LINKAGE=nopie
exec "$(dirname "$0")/run.sh" lua bzip2 minigzip mawk xz busybox zpaq sqlite3 sqlite3-library doctest httplib git libffi gawk gmp nettle
