# the folders of CPUs
REWRITER_CPUS := $(patsubst rewriter/%/arch.c,%,$(wildcard rewriter/*/arch.c))
REWRITER_OBJECTS := $(DWARF_OBJECTS) $(patsubst %.c,$(BUILD)/host/%.o,\
	$(filter-out rewriter/main.c,$(wildcard rewriter/*.c $(REWRITER_CPUS:%=rewriter/%/*.c))))
REWRITER_LIBRARIES := -ldw -lcapstone $(COMMON_LIBRARIES) -liberty

PROGRAMS += $(BUILD)/bin/litifut-rewrite

$(BUILD)/bin/litifut-rewrite: $(BUILD)/host/rewriter/main.o $(REWRITER_OBJECTS) $(COMMON_OBJECTS)
	@mkdir -p $(@D)
	$(call run,LINK) $(CC) $(CFLAGS) $(LDFLAGS) $^ $(REWRITER_LIBRARIES) -o $@

# The test that brings a CPU of its own is linked without any other.
REWRITER_TOY := $(BUILD)/unit/test_rewriter_toy_cpu
REWRITER_TESTS := $(filter-out $(REWRITER_TOY),$(patsubst tests/unit/%.c,$(BUILD)/unit/%,\
	$(wildcard tests/unit/test_rewriter_*.c)))
UNIT_TESTS += $(REWRITER_TESTS) $(REWRITER_TOY)

$(BUILD)/host/rewriter/no-cpus.a: $(filter-out $(BUILD)/host/rewriter/arch.o \
		$(foreach cpu,$(REWRITER_CPUS),$(BUILD)/host/rewriter/$(cpu)/%) $(BUILD)/host/cpu/%,\
		$(REWRITER_OBJECTS) $(COMMON_OBJECTS))
	@rm -f $@
	@$(AR) rcs $@ $^

$(REWRITER_TOY): $(BUILD)/host/tests/unit/test_rewriter_toy_cpu.o $(BUILD)/host/rewriter/no-cpus.a
	@mkdir -p $(@D)
	$(call run,LINK) $(CC) $(CFLAGS) $(LDFLAGS) $^ $(REWRITER_LIBRARIES) -lcmocka -o $@

$(REWRITER_TESTS): $(BUILD)/unit/%: $(BUILD)/host/tests/unit/%.o \
		$(BUILD)/host/tests/unit/rewriter_cases.o $(REWRITER_OBJECTS) $(COMMON_OBJECTS)
	@mkdir -p $(@D)
	$(call run,LINK) $(CC) $(CFLAGS) $(LDFLAGS) $^ $(REWRITER_LIBRARIES) -lcmocka -o $@
