# The rig: a simulated board whose true energies are known. Needs simavr and avr-gcc.

ENERGY_RIG = $(BUILD)/tests/energy/rig

$(ENERGY_RIG): tests/energy/rig.c
	@mkdir -p $(@D)
	$(call run,LINK) $(CC) $(CFLAGS) $(LDFLAGS) $< -lsimavr -lelf -lm -o $@

$(BUILD)/tests/energy/firmware-%.elf: tests/energy/firmware.c
	@mkdir -p $(@D)
	avr-gcc -mmcu=atmega1284p -Os -g -Iinclude -DROUNDS=$* $< -o $@

# the same with the real recorder, which sends what it has at each call of work(), when radio and flash are off,
# and toggles bit 3 of port B by its clock
$(BUILD)/tests/energy/recorded-%.elf: tests/energy/firmware.c $(BUILD)/tests/energy/firmware-%.elf \
		$(TRACER)
	@mkdir -p $(@D)
	LITIFUT_MODE=spans LITIFUT_CLOCK=timer1:16000000 LITIFUT_RING_KB=8 LITIFUT_PORT=usart \
		LITIFUT_MARK_SET=0x23:8 LITIFUT_MARK_CLEAR=0x23:8 LITIFUT_MARK_EVERY=10 \
		LITIFUT_SEND=call:work LITIFUT_EXCLUDE_CALLEES="__*,litifut_*" $(BUILD)/bin/litifut build \
		avr-gcc -mmcu=atmega1284p -Os -g -Iinclude -DROUNDS=$* -DRECORDED $< -o $@ 2>$@.log || { cat $@.log; exit 1; }

.PHONY: demo-energy energy-rig

energy-rig: $(ENERGY_RIG) $(foreach rounds,60 120,$(BUILD)/tests/energy/firmware-$(rounds).elf \
	$(BUILD)/tests/energy/recorded-$(rounds).elf)

## demo-energy: energy of each function on a simulated board, beside the truth, and a picture; installs what is missing
demo-energy:
	@scripts/install-dependencies
	@$(MAKE) -s all $(ENERGY_RIG) $(BUILD)/tests/energy/firmware-120.elf $(BUILD)/tests/energy/recorded-120.elf
	@BUILD='$(abspath $(BUILD))' tests/energy/demo

# Joulescope files for the tests, where its maker's library is (postproc/energy/rules.mk)
$(BUILD)/tests/energy/write_jls: tests/energy/write_jls.c
	@mkdir -p $(@D)
	$(call run,LINK) $(CC) $(CFLAGS) -isystem $(JLS)/include $(LDFLAGS) $< $(JLS_LIBS) -lm -o $@
