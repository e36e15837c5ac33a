#!/bin/sh
# Real programs, built from configure to install, with their own tests.
exec "$(dirname "$0")/suite.sh" git lua bzip2 minigzip mawk gawk xz xz-lto busybox sqlite3 doctest httplib libffi
