# litifut-post, and its parts as objects for the unit tests.

POST_LIBS = -ldw -lelf -liberty -lz -lzstd -llzma -lm

POST_OBJECTS := $(patsubst %.c,$(BUILD)/host/%.o,$(filter-out postproc/main.c postproc/options.c, \
	$(wildcard postproc/*.c postproc/*/*.c)))

PROGRAMS += $(BUILD)/bin/litifut-post

$(BUILD)/bin/litifut-post: $(BUILD)/host/postproc/main.o $(BUILD)/host/postproc/options.o \
		$(POST_OBJECTS) $(COMMON_OBJECTS)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(LDFLAGS) $^ $(POST_LIBS) -o $@

POST_UNIT_TESTS := $(patsubst tests/unit/%.c,$(BUILD)/unit/%,$(wildcard tests/unit/test_post_*.c))
UNIT_TESTS += $(POST_UNIT_TESTS)

$(POST_UNIT_TESTS): $(BUILD)/unit/%: $(BUILD)/host/tests/unit/%.o \
		$(BUILD)/host/tests/unit/trace_builder.o \
		$(BUILD)/host/tests/unit/post_fixture.o $(POST_OBJECTS) $(COMMON_OBJECTS)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(LDFLAGS) $^ $(POST_LIBS) -lcmocka -o $@
