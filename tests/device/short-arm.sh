#!/bin/sh
# The short boot of the arm board, for `make test`.
exec "$(dirname "$0")/device.sh" arm short
