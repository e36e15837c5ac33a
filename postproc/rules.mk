# litifut-post, and its parts as objects for the unit tests.

POST_LIBS = -ldw -lelf -liberty -lz -lzstd -llzma -lsqlite3 -larchive -lncursesw -ltinfo -lm

# what prints
POST_MAIN = postproc/main.c postproc/options.c postproc/option_list.c postproc/output_file.c \
	postproc/energy/command.c postproc/paths/command.c postproc/paths/ids_command.c \
	postproc/paths/run_commands.c

POST_OBJECTS := $(patsubst %.c,$(BUILD)/host/%.o,$(filter-out $(POST_MAIN), \
	$(wildcard postproc/*.c postproc/*/*.c postproc/formats/html/*.c)))

PROGRAMS += $(BUILD)/bin/litifut-post

# built into it with .incbin, which the compiler's lists of dependencies leave out
$(BUILD)/host/postproc/formats/html/assets.o: $(addprefix postproc/formats/html/,page.html page.css \
	body.html app.js)

$(BUILD)/bin/litifut-post: $(patsubst %.c,$(BUILD)/host/%.o,$(POST_MAIN)) \
		$(POST_OBJECTS) $(COMMON_OBJECTS)
	@mkdir -p $(@D)
	$(call run,LINK) $(CC) $(CFLAGS) $(LDFLAGS) $^ $(POST_LIBS) -o $@

POST_UNIT_TESTS := $(patsubst tests/unit/%.c,$(BUILD)/unit/%,$(wildcard tests/unit/test_post_*.c))
UNIT_TESTS += $(POST_UNIT_TESTS)

$(POST_UNIT_TESTS): $(BUILD)/unit/%: $(BUILD)/host/tests/unit/%.o \
		$(BUILD)/host/tests/unit/trace_builder.o \
		$(BUILD)/host/tests/unit/post_fixture.o $(POST_OBJECTS) $(COMMON_OBJECTS)
	@mkdir -p $(@D)
	$(call run,LINK) $(CC) $(CFLAGS) $(LDFLAGS) $^ $(POST_LIBS) -lcmocka -o $@

# The fuzz targets: linked into a unit test that replays their seeds, and with
# libFuzzer by `make fuzz`, which goes on for FUZZ_SECONDS each.
POST_FUZZ = trace maps elf
POST_FUZZ_OBJECTS := $(patsubst %,$(BUILD)/host/tests/fuzz/fuzz_%.o,$(POST_FUZZ))
POST_SOURCES := $(patsubst $(BUILD)/host/%.o,%.c,$(POST_OBJECTS) $(COMMON_OBJECTS))
FUZZ_SECONDS ?= 60

$(POST_FUZZ_OBJECTS): $(BUILD)/host/tests/fuzz/fuzz_%.o: tests/fuzz/fuzz_%.c
	@mkdir -p $(@D)
	$(call run,CC) $(CC) $(CFLAGS) -DLLVMFuzzerTestOneInput=fuzz_$* -MMD -MP -c $< -o $@

# needed to run, not to link
$(BUILD)/unit/test_post_program: | $(BUILD)/bin/litifut-post
$(BUILD)/unit/test_post_hostile: $(POST_FUZZ_OBJECTS)

$(BUILD)/fuzz/%: tests/fuzz/fuzz_%.c $(POST_SOURCES)
	@mkdir -p $(@D)
	clang -g -O1 -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all -std=c11 \
		-D_GNU_SOURCE -Iinclude -I. $^ $(POST_LIBS) -o $@

.PHONY: fuzz-post

## fuzz-post: fuzz what litifut-post reads (FUZZ_SECONDS=60 for each of three targets)
fuzz-post: $(patsubst %,$(BUILD)/fuzz/%,$(POST_FUZZ)) $(BUILD)/unit/test_post_hostile
	LITIFUT_SAVE_SEEDS=$(BUILD)/fuzz $(BUILD)/unit/test_post_hostile
	for target in $(POST_FUZZ); do \
		mkdir -p $(BUILD)/fuzz/corpus-$$target; \
		(cd $(BUILD)/fuzz && ./$$target -max_total_time=$(FUZZ_SECONDS) -rss_limit_mb=2048 \
			corpus-$$target $$( [ -d ../../tests/fuzz/seeds/$$target ] && \
			echo ../../tests/fuzz/seeds/$$target)) || exit 1; \
	done
