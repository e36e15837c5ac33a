#!/bin/sh
# All of the arm board's day, for `make test-long` and `make device-arm`.
exec "$(dirname "$0")/device.sh" arm long
