# Whole emulated machines: a kernel, a USB stick, the user's day. `make test`
# boots each once, `make test-long` does all of it.

# They take minutes, and come first, so that no processor is idle at the end.
END_TO_END := tests/device/short-arm.sh tests/device/short-mips.sh $(END_TO_END)

DEVICES = device-arm device-mips

.PHONY: $(DEVICES) device-packages

device-packages:
	@scripts/install-dependencies devices programs

## device-arm: the user's day on an emulated ARM board with a USB stick (minutes)
## device-mips: the same on an emulated MIPS board
$(DEVICES): device-%: all $(ORACLE) device-packages
	@DEVICE_REQUIRED=1 $(PROVE) -v tests/device/long-$*.sh tests/device/hostile-$*.sh

test-long: $(DEVICES)
