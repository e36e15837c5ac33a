REWRITER_OBJECTS := $(patsubst %.c,$(BUILD)/host/%.o,\
	$(filter-out rewriter/main.c,$(wildcard rewriter/*.c rewriter/arm/*.c rewriter/mips/*.c)))
REWRITER_LIBRARIES := -lcapstone -lelf -liberty

PROGRAMS += $(BUILD)/bin/litifut-rewrite

$(BUILD)/bin/litifut-rewrite: $(BUILD)/host/rewriter/main.o $(REWRITER_OBJECTS) $(COMMON_OBJECTS)
	@mkdir -p $(@D)
	$(call run,LINK) $(CC) $(CFLAGS) $(LDFLAGS) $^ $(REWRITER_LIBRARIES) -o $@

REWRITER_TESTS := $(patsubst tests/unit/%.c,$(BUILD)/unit/%,$(wildcard tests/unit/test_rewriter_*.c))
UNIT_TESTS += $(REWRITER_TESTS)

$(REWRITER_TESTS): $(BUILD)/unit/%: $(BUILD)/host/tests/unit/%.o \
		$(BUILD)/host/tests/unit/rewriter_cases.o $(REWRITER_OBJECTS) $(COMMON_OBJECTS)
	@mkdir -p $(@D)
	$(call run,LINK) $(CC) $(CFLAGS) $(LDFLAGS) $^ $(REWRITER_LIBRARIES) -lcmocka -o $@
