#!/bin/sh
# The real programs of `make test`.
exec "$(dirname "$0")/run.sh" lua ${LONG:+bzip2 minigzip}
