# The rig: a simulated board whose true energies are known. Needs simavr and avr-gcc.

ENERGY_RIG = $(BUILD)/tests/energy/rig

$(ENERGY_RIG): tests/energy/rig.c
	@mkdir -p $(@D)
	$(call run,LINK) $(CC) $(CFLAGS) $(LDFLAGS) $< -lsimavr -lelf -lm -o $@

$(BUILD)/tests/energy/firmware-%.elf: tests/energy/firmware.c
	@mkdir -p $(@D)
	avr-gcc -mmcu=atmega1284p -Os -g -DROUNDS=$* $< -o $@

.PHONY: demo-energy energy-rig

energy-rig: $(ENERGY_RIG) $(BUILD)/tests/energy/firmware-60.elf

## demo-energy: energy of each function on a simulated board, beside the truth, and a picture
demo-energy: $(BUILD)/bin/litifut-post $(ENERGY_RIG) $(BUILD)/tests/energy/firmware-120.elf
	@BUILD='$(abspath $(BUILD))' tests/energy/demo
