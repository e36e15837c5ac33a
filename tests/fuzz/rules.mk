# Targets for libFuzzer, one for each thing that a host program reads and that may be damaged or
# hostile. Each is a function of bytes, which unit tests call with seeds and damaged copies of good
# files; `make fuzz` builds them with libFuzzer and the sanitizers and goes on from there.

POST_FUZZ = trace maps elf
ENERGY_FUZZ = power_csv power_zip power_binary energy_events energy_machine
LINK_FUZZ = rewrite firmware link_input link_text

# In a unit test, where each function has the name of its target.
fuzz_cases = $(patsubst %,$(BUILD)/host/tests/fuzz/fuzz_%.o,$(1))

$(call fuzz_cases,$(POST_FUZZ) $(ENERGY_FUZZ) $(LINK_FUZZ)): $(BUILD)/host/tests/fuzz/fuzz_%.o: tests/fuzz/fuzz_%.c
	@mkdir -p $(@D)
	$(call run,CC) $(CC) $(CFLAGS) -DLLVMFuzzerTestOneInput=fuzz_$* -MMD -MP -c $< -o $@

$(BUILD)/unit/test_post_hostile: $(call fuzz_cases,$(POST_FUZZ))
$(BUILD)/unit/test_energy_hostile: $(call fuzz_cases,$(ENERGY_FUZZ))
$(BUILD)/unit/test_ldwrap_hostile: $(call fuzz_cases,$(LINK_FUZZ))

# With libFuzzer.
FUZZ_SANITIZERS = -fsanitize=address,undefined -fno-sanitize-recover=all

$(BUILD)/fuzz/objects/%.o: %.c
	@mkdir -p $(@D)
	$(call run,CC) clang -g -O1 -fsanitize=fuzzer-no-link $(FUZZ_SANITIZERS) -std=c11 -pthread \
		-D_GNU_SOURCE -Iinclude -I. -MMD -MP -c $< -o $@

fuzzed = $(patsubst $(BUILD)/host/%.o,$(BUILD)/fuzz/objects/%.o,$(1) $(COMMON_OBJECTS))
fuzzers = $(addprefix $(BUILD)/fuzz/,$(1))

$(call fuzzers,$(POST_FUZZ)): $(call fuzzed,$(POST_OBJECTS))
$(call fuzzers,$(ENERGY_FUZZ)): $(call fuzzed,$(ENERGY_OBJECTS))
$(call fuzzers,$(LINK_FUZZ)): $(call fuzzed,$(LDWRAP_OBJECTS) $(REWRITER_OBJECTS))
$(call fuzzers,$(POST_FUZZ)): FUZZ_LIBRARIES = $(POST_LIBS)
$(call fuzzers,$(ENERGY_FUZZ)): FUZZ_LIBRARIES = $(ENERGY_LIBS)
$(call fuzzers,$(LINK_FUZZ)): FUZZ_LIBRARIES = $(LDWRAP_LIBRARIES)

$(call fuzzers,$(POST_FUZZ) $(ENERGY_FUZZ) $(LINK_FUZZ)): $(BUILD)/fuzz/%: \
		$(BUILD)/fuzz/objects/tests/fuzz/fuzz_%.o
	$(call run,LINK) clang -fsanitize=fuzzer $(FUZZ_SANITIZERS) -pthread $^ $(FUZZ_LIBRARIES) -o $@

# Without libFuzzer, by their own names: the targets of links run over a corpus, compiled as CFLAGS say, for `make
# coverage`.
FUZZ_REPLAYS := $(patsubst %,$(BUILD)/fuzz/replay-%,$(LINK_FUZZ))

$(BUILD)/host/tests/fuzz/replay_%.o: tests/fuzz/replay.c
	@mkdir -p $(@D)
	$(call run,CC) $(CC) $(CFLAGS) -DLLVMFuzzerTestOneInput=fuzz_$* -MMD -MP -c $< -o $@

$(FUZZ_REPLAYS): $(BUILD)/fuzz/replay-%: $(BUILD)/host/tests/fuzz/fuzz_%.o \
		$(BUILD)/host/tests/fuzz/replay_%.o $(LDWRAP_OBJECTS) $(REWRITER_OBJECTS) $(COMMON_OBJECTS)
	@mkdir -p $(@D)
	$(call run,LINK) $(CC) $(CFLAGS) $(LDFLAGS) $^ $(LDWRAP_LIBRARIES) -o $@

.PHONY: fuzz fuzz-post fuzz-energy fuzz-link fuzz-seeds fuzz-replays

fuzz-replays: $(FUZZ_REPLAYS)

fuzz-seeds: all $(BUILD)/unit/test_post_hostile $(BUILD)/unit/test_energy_hostile
	@for test in post energy; do \
		LITIFUT_SAVE_SEEDS=$(BUILD)/fuzz $(BUILD)/unit/test_$${test}_hostile >/dev/null || exit 1; \
	done
	@BUILD=$(call shell_word,$(abspath $(BUILD))) tests/fuzz/make-seeds $(BUILD)/fuzz/seeds

## fuzz: fuzz all that the host programs read, TIME=60 seconds for each of twelve targets
fuzz: fuzz-post fuzz-energy fuzz-link

## fuzz-post: fuzz what litifut-post reads
fuzz-post: $(call fuzzers,$(POST_FUZZ)) fuzz-seeds
	@BUILD=$(call shell_word,$(abspath $(BUILD))) TIME=$(TIME) tests/fuzz/run $(POST_FUZZ)

## fuzz-energy: fuzz what litifut-post energy reads
fuzz-energy: $(call fuzzers,$(ENERGY_FUZZ)) fuzz-seeds
	@BUILD=$(call shell_word,$(abspath $(BUILD))) TIME=$(TIME) tests/fuzz/run $(ENERGY_FUZZ)

## fuzz-link: fuzz what litifut-rewrite and litifut-ld read
fuzz-link: $(call fuzzers,$(LINK_FUZZ)) fuzz-seeds
	@BUILD=$(call shell_word,$(abspath $(BUILD))) TIME=$(TIME) tests/fuzz/run $(LINK_FUZZ)

-include $(shell find $(BUILD)/fuzz/objects -name "*.d" 2>/dev/null)
