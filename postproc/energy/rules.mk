# The energy room: on its own as objects for its unit tests, and a part of litifut-post.

POST_LIBS += -lm

# command.c, options.c, page.c and traces.c are litifut-post's; the rest depends on no other room.
ENERGY_OBJECTS := $(patsubst %.c,$(BUILD)/host/%.o,$(filter-out %/command.c %/options.c %/page.c \
	%/traces.c,$(wildcard postproc/energy/*.c)))
ENERGY_LIBS = $(COMMON_LIBRARIES) -larchive -lm

# Joulescope's library for .jls files, if it is there: make JLS=FOLDER names where it was installed.
JLS ?= $(patsubst %/include/jls.h,%,$(firstword $(wildcard /usr/local/include/jls.h /usr/include/jls.h)))
ifneq ($(JLS),)
$(BUILD)/host/postproc/energy/power_jls.o: CFLAGS += -DLITIFUT_JLS -isystem $(JLS)/include
JLS_LIBS = $(firstword $(wildcard $(JLS)/lib/libjls.a $(JLS)/lib64/libjls.a) -ljls) -pthread
POST_LIBS += $(JLS_LIBS)
ENERGY_LIBS += $(JLS_LIBS)
endif

ENERGY_UNIT_TESTS := $(patsubst tests/unit/%.c,$(BUILD)/unit/%,$(wildcard tests/unit/test_energy_*.c))
UNIT_TESTS += $(ENERGY_UNIT_TESTS)

$(ENERGY_UNIT_TESTS): $(BUILD)/unit/%: $(BUILD)/host/tests/unit/%.o \
		$(BUILD)/host/tests/unit/power_files.o $(ENERGY_OBJECTS) $(COMMON_OBJECTS)
	@mkdir -p $(@D)
	$(call run,LINK) $(CC) $(CFLAGS) $(LDFLAGS) $^ $(ENERGY_LIBS) -lcmocka -o $@
