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
