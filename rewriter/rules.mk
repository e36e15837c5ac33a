REWRITER_OBJECTS := $(patsubst %.c,$(BUILD)/host/%.o,\
	$(filter-out rewriter/main.c,$(wildcard rewriter/*.c rewriter/arm/*.c rewriter/mips/*.c)))
REWRITER_LIBRARIES := -lcapstone -lelf -liberty

PROGRAMS += $(BUILD)/bin/litifut-rewrite

$(BUILD)/bin/litifut-rewrite: $(BUILD)/host/rewriter/main.o $(REWRITER_OBJECTS) $(COMMON_OBJECTS)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(LDFLAGS) $^ $(REWRITER_LIBRARIES) -o $@

REWRITER_TESTS := $(BUILD)/unit/rewriter_arm_test $(BUILD)/unit/rewriter_arm_detour_test $(BUILD)/unit/rewriter_mips_test \
	$(BUILD)/unit/rewriter_mips_tail_test $(BUILD)/unit/rewriter_mips_callee_test $(BUILD)/unit/rewriter_mips_host_test $(BUILD)/unit/rewriter_mips_relay_test $(BUILD)/unit/rewriter_arm_unwind_test \
	$(BUILD)/unit/rewriter_changes_test $(BUILD)/unit/rewriter_sort_test $(BUILD)/unit/rewriter_thunk_test
UNIT_TESTS += $(REWRITER_TESTS)

$(REWRITER_TESTS): $(BUILD)/unit/%: $(BUILD)/host/tests/unit/%.o \
		$(BUILD)/host/tests/unit/rewriter_cases.o $(REWRITER_OBJECTS) $(COMMON_OBJECTS)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(LDFLAGS) $^ $(REWRITER_LIBRARIES) -lcmocka -o $@
