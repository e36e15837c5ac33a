# litifut-post, and its parts as objects for the unit tests.

POST_LIBS = -ldw $(COMMON_LIBRARIES) -liberty -lz -lzstd -llzma -lsqlite3 -larchive -lncursesw -ltinfo -lm

# what prints
POST_MAIN = postproc/main.c postproc/options.c postproc/option_list.c postproc/output_file.c postproc/progress.c \
	postproc/energy/command.c postproc/paths/command.c postproc/paths/ids_command.c \
	postproc/paths/run_commands.c postproc/paths/diff_command.c

POST_OBJECTS := $(DWARF_OBJECTS) $(patsubst %.c,$(BUILD)/host/%.o,$(filter-out $(POST_MAIN), \
	$(wildcard postproc/*.c postproc/*/*.c postproc/formats/html/*.c)))

PROGRAMS += $(BUILD)/bin/litifut-post

# built into it with .incbin, which the compiler's lists of dependencies leave out
$(BUILD)/host/postproc/formats/html/assets.o: $(addprefix postproc/formats/html/,page.html page.css \
	body.html) $(wildcard postproc/formats/html/script/*.js)

$(BUILD)/bin/litifut-post: $(patsubst %.c,$(BUILD)/host/%.o,$(POST_MAIN)) \
		$(POST_OBJECTS) $(COMMON_OBJECTS)
	@mkdir -p $(@D)
	$(call run,LINK) $(CC) $(CFLAGS) $(LDFLAGS) $^ $(POST_LIBS) -o $@

POST_UNIT_TESTS := $(patsubst tests/unit/%.c,$(BUILD)/unit/%,$(wildcard tests/unit/test_post_*.c))
UNIT_TESTS += $(POST_UNIT_TESTS)

$(POST_UNIT_TESTS): $(BUILD)/unit/%: $(BUILD)/host/tests/unit/%.o \
		$(BUILD)/host/tests/unit/trace_builder.o \
		$(BUILD)/host/tests/unit/frame_sender.o \
		$(BUILD)/host/tests/unit/post_fixture.o $(POST_OBJECTS) $(COMMON_OBJECTS)
	@mkdir -p $(@D)
	$(call run,LINK) $(CC) $(CFLAGS) $(LDFLAGS) $^ $(POST_LIBS) -lcmocka -o $@

# needed to run, not to link
$(BUILD)/unit/test_post_program: | $(BUILD)/bin/litifut-post
