#!/bin/sh
# The real programs of `make test-long`.
exec "$(dirname "$0")/run.sh" lua bzip2 minigzip mawk xz busybox zpaq sqlite3
