LDWRAP_MAINS := ldwrap/main.c ldwrap/ld_main.c
LDWRAP_OBJECTS := $(patsubst %.c,$(BUILD)/host/%.o,\
	$(filter-out $(LDWRAP_MAINS),$(wildcard ldwrap/*.c)))
LDWRAP_LIBRARIES = $(REWRITER_LIBRARIES) -liberty

PROGRAMS += $(BUILD)/bin/litifut $(BUILD)/bin/litifut-ld

$(BUILD)/bin/litifut: $(BUILD)/host/ldwrap/main.o
$(BUILD)/bin/litifut-ld: $(BUILD)/host/ldwrap/ld_main.o

$(BUILD)/bin/litifut $(BUILD)/bin/litifut-ld: $(LDWRAP_OBJECTS) $(REWRITER_OBJECTS) $(COMMON_OBJECTS)
	@mkdir -p $(@D)
	$(call run,LINK) $(CC) $(CFLAGS) $(LDFLAGS) $^ $(LDWRAP_LIBRARIES) -o $@

LDWRAP_TESTS := $(patsubst tests/unit/%.c,$(BUILD)/unit/%,$(wildcard tests/unit/test_ldwrap_*.c))
UNIT_TESTS += $(LDWRAP_TESTS)

$(LDWRAP_TESTS): $(BUILD)/unit/%: $(BUILD)/host/tests/unit/%.o $(LDWRAP_OBJECTS) \
		$(REWRITER_OBJECTS) $(COMMON_OBJECTS)
	@mkdir -p $(@D)
	$(call run,LINK) $(CC) $(CFLAGS) $(LDFLAGS) $^ $(LDWRAP_LIBRARIES) -lcmocka -o $@

# What litifut-rewrite and litifut-ld read, for libFuzzer: `make fuzz-link` goes on for
# FUZZ_SECONDS with each. The corpus stays in build/fuzz; seeds are made with the compilers.
LINK_FUZZ = rewrite link_input link_text
FUZZ_SANITIZERS = -fsanitize=address,undefined -fno-sanitize-recover=all
LINK_FUZZ_OBJECTS := $(patsubst $(BUILD)/host/%.o,$(BUILD)/fuzz/objects/%.o,\
	$(LDWRAP_OBJECTS) $(REWRITER_OBJECTS) $(COMMON_OBJECTS))

$(BUILD)/fuzz/objects/%.o: %.c
	@mkdir -p $(@D)
	$(call run,CC) clang -g -O1 -fsanitize=fuzzer-no-link $(FUZZ_SANITIZERS) -std=c11 -pthread \
		-D_GNU_SOURCE -Iinclude -I. -MMD -MP -c $< -o $@

$(patsubst %,$(BUILD)/fuzz/%,$(LINK_FUZZ)): $(BUILD)/fuzz/%: \
		$(BUILD)/fuzz/objects/tests/fuzz/fuzz_%.o $(LINK_FUZZ_OBJECTS)
	$(call run,LINK) clang -fsanitize=fuzzer $(FUZZ_SANITIZERS) -pthread $^ $(LDWRAP_LIBRARIES) -o $@

.PHONY: fuzz-link fuzz fuzz-seeds

fuzz-seeds: all
	@BUILD=$(call shell_word,$(abspath $(BUILD))) tests/fuzz/make-seeds $(BUILD)/fuzz/seeds

## fuzz-link: fuzz what litifut-rewrite and litifut-ld read (FUZZ_SECONDS=60 for each target)
fuzz-link: $(patsubst %,$(BUILD)/fuzz/%,$(LINK_FUZZ)) fuzz-seeds
	for target in $(LINK_FUZZ); do \
		mkdir -p $(BUILD)/fuzz/corpus-$$target; \
		(cd $(BUILD)/fuzz && ASAN_OPTIONS=detect_leaks=0 ./$$target -max_len=200000 \
			-max_total_time=$(FUZZ_SECONDS) -rss_limit_mb=2048 corpus-$$target seeds/$$target) || exit 1; \
	done

## fuzz: all of the fuzz targets, TIME=60 seconds each
fuzz:
	$(MAKE) fuzz-post fuzz-energy fuzz-link FUZZ_SECONDS=$(or $(TIME),60)

-include $(shell find $(BUILD)/fuzz/objects -name "*.d" 2>/dev/null)
