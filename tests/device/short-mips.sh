#!/bin/sh
# The short boot of the mips board, for `make test`.
exec "$(dirname "$0")/device.sh" mips short
