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
