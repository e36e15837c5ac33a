# The energy room: on its own as objects for its unit tests, and a part of litifut-post.

POST_LIBS += -lm

# command.c, options.c and traces.c are litifut-post's; the rest depends on no other room.
ENERGY_OBJECTS := $(patsubst %.c,$(BUILD)/host/%.o,$(filter-out %/command.c %/options.c %/traces.c,\
	$(wildcard postproc/energy/*.c)))
ENERGY_LIBS = -larchive -lm

ENERGY_UNIT_TESTS := $(patsubst tests/unit/%.c,$(BUILD)/unit/%,$(wildcard tests/unit/test_energy_*.c))
UNIT_TESTS += $(ENERGY_UNIT_TESTS)

$(ENERGY_UNIT_TESTS): $(BUILD)/unit/%: $(BUILD)/host/tests/unit/%.o \
		$(BUILD)/host/tests/unit/power_files.o $(ENERGY_OBJECTS) $(COMMON_OBJECTS)
	@mkdir -p $(@D)
	$(call run,LINK) $(CC) $(CFLAGS) $(LDFLAGS) $^ $(ENERGY_LIBS) -lcmocka -o $@

# Fuzz targets: see postproc/rules.mk.
ENERGY_FUZZ = power_csv power_zip power_binary energy_events energy_machine
ENERGY_FUZZ_OBJECTS := $(patsubst %,$(BUILD)/host/tests/fuzz/fuzz_%.o,$(ENERGY_FUZZ))
ENERGY_SOURCES := $(patsubst $(BUILD)/host/%.o,%.c,$(ENERGY_OBJECTS) $(COMMON_OBJECTS))

$(ENERGY_FUZZ_OBJECTS): $(BUILD)/host/tests/fuzz/fuzz_%.o: tests/fuzz/fuzz_%.c
	@mkdir -p $(@D)
	$(call run,CC) $(CC) $(CFLAGS) -DLLVMFuzzerTestOneInput=fuzz_$* -MMD -MP -c $< -o $@

$(BUILD)/unit/test_energy_hostile: $(ENERGY_FUZZ_OBJECTS)

$(patsubst %,$(BUILD)/fuzz/%,$(ENERGY_FUZZ)): $(BUILD)/fuzz/%: tests/fuzz/fuzz_%.c $(ENERGY_SOURCES)
	@mkdir -p $(@D)
	clang -g -O1 -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all -std=c11 \
		-D_GNU_SOURCE -Iinclude -I. $^ $(ENERGY_LIBS) -o $@

.PHONY: fuzz-energy

## fuzz-energy: fuzz what litifut-post energy reads (FUZZ_SECONDS=60 for each target)
fuzz-energy: $(patsubst %,$(BUILD)/fuzz/%,$(ENERGY_FUZZ)) $(BUILD)/unit/test_energy_hostile
	LITIFUT_SAVE_SEEDS=$(BUILD)/fuzz $(BUILD)/unit/test_energy_hostile
	for target in $(ENERGY_FUZZ); do \
		mkdir -p $(BUILD)/fuzz/corpus-$$target; \
		(cd $(BUILD)/fuzz && ./$$target -max_total_time=$(FUZZ_SECONDS) -rss_limit_mb=2048 \
			corpus-$$target) || exit 1; \
	done
