#!/bin/sh
# The real programs that `make test-long` adds to those of `make test`.
exec "$(dirname "$0")/run.sh" mawk xz busybox zpaq sqlite3
