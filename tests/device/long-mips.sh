#!/bin/sh
# All of the mips board's day, for `make test-long` and `make device-mips`.
exec "$(dirname "$0")/device.sh" mips long
