#!/bin/sh
# The hostile program on the mips board, for `make test-long` and `make device-mips`.
exec "$(dirname "$0")/device.sh" mips hostile
