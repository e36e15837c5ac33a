#!/bin/sh
# The hostile program on the arm board, for `make test-long` and `make device-arm`.
exec "$(dirname "$0")/device.sh" arm hostile
