# What every host program links: common/ and the folders beside it that know no program.
COMMON_OBJECTS := $(patsubst %.c,$(BUILD)/host/%.o,$(wildcard common/*.c elf/*.c \
	cpu/*.c cpu/*/*.c platform/*.c paths/*.c))
COMMON_LIBRARIES := -lelf

# The commit that is built: of the working copy, or from the file `commit` of `make dist`.
COMMIT := $(shell cat commit 2>/dev/null || git rev-parse --short=10 HEAD 2>/dev/null)

$(BUILD)/commit: force-commit
	@mkdir -p $(@D)
	$(quiet)[ "$$(cat $@ 2>/dev/null)" = '$(COMMIT)' ] || echo '$(COMMIT)' >$@

.PHONY: force-commit

$(BUILD)/host/common/version.o: $(BUILD)/commit
$(BUILD)/host/common/version.o: override CFLAGS += $(if $(COMMIT),-DLITIFUT_COMMIT='"$(COMMIT)"')

# The reader of DWARF, for the programs that are linked with libdw.
DWARF_OBJECTS := $(patsubst %.c,$(BUILD)/host/%.o,$(wildcard dwarf/*.c))

COMMON_TESTS := $(patsubst tests/unit/%.c,$(BUILD)/unit/%,$(wildcard tests/unit/test_common_*.c \
	tests/unit/test_elf_*.c tests/unit/test_platform_*.c))
UNIT_TESTS += $(COMMON_TESTS)

# with the sender of the device
$(BUILD)/unit/test_common_serial_frames: $(BUILD)/host/tracer/sink/frames/send.o

$(COMMON_TESTS): $(BUILD)/unit/%: $(BUILD)/host/tests/unit/%.o $(COMMON_OBJECTS)
	@mkdir -p $(@D)
	$(call run,LINK) $(CC) $(CFLAGS) $(LDFLAGS) $^ $(COMMON_LIBRARIES) -lcmocka -o $@
