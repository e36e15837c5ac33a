# The objects that are linked into the traced program, one pair for each kind of
# CPU: tracer-ARCH.o (stubs, instruction DB, emulation, on ARM what thunks of older CPUs share;
# tracer-paths-ARCH.o with what records branches, tracer-counts-ARCH.o with what counts calls) and recorder-ARCH.o (the default recorder),
# or recorder-full-ARCH.o for the modes that few programs use, or recorder-args-ARCH.o where arguments
# are recorded, or recorder-marks-ARCH.o where a pin is set. They are combined with `ld -r` and then freed of every section that would speak
# about ABIs, so that they link with any object.

TRACER_ARCHES := $(filter arm mips mipsel,$(CPUS))
# Where code for ARMv7 is linked, the recorder is in T32 code, a third smaller.
RECORDER_ARCHES := $(TRACER_ARCHES) $(if $(filter arm,$(CPUS)),armv7)
TRACER_LIBRARY := $(BUILD)/lib/litifut

TRACER_TOOL_arm    := arm-linux-gnueabi-
TRACER_TOOL_armv7  := arm-linux-gnueabi-
TRACER_TOOL_mips   := mips-linux-gnu-
TRACER_TOOL_mipsel := mipsel-linux-gnu-
TRACER_CPU_arm     := arm
TRACER_CPU_armv7   := arm
TRACER_CPU_mips    := mips
TRACER_CPU_mipsel  := mips
# Unwind tables: a signal handler or a recorder of the user's own that makes a
# backtrace in the tracer's midst sees the program's frames below it.
TRACER_FLAGS_arm   := -marm -march=armv5te -mfloat-abi=soft -funwind-tables
TRACER_FLAGS_armv7 := -mthumb -march=armv7-a -mfloat-abi=soft -funwind-tables
TRACER_FLAGS_mips  := -EB -mabi=32 -march=mips32 -msoft-float -mno-mips16 -mno-micromips -mno-check-zero-division \
	-fasynchronous-unwind-tables
TRACER_FLAGS_mipsel := -EL -mabi=32 -march=mips32 -msoft-float -mno-mips16 -mno-micromips -mno-check-zero-division \
	-fasynchronous-unwind-tables
# The unwinder that ARM tables name must not come along with the tracer.
TRACER_WEAK_arm    := __aeabi_unwind_cpp_pr0 __aeabi_unwind_cpp_pr1
TRACER_WEAK_armv7  := $(TRACER_WEAK_arm)

TRACER_C_FLAGS := -std=c11 -g -ffreestanding -fPIC -fvisibility=hidden \
	-fno-stack-protector -fno-tree-loop-distribute-patterns -fno-jump-tables \
	-fno-exceptions -fno-unwind-tables -fno-asynchronous-unwind-tables \
	-fomit-frame-pointer -fno-common -fno-reorder-functions -Iinclude -I. $(WARNINGS)

TRACER_SOURCES   := entry/enter
RECORDER_SOURCES := $(addprefix recorder/,clock probe bloom settings_read process module_list \
		switch text verbose shared thread armed own_stack control) \
	$(addprefix sink/,sink ring spare chunks save_all compact header metadata module_record copies) \
	$(addprefix port/linux/,system_call identity confine files folder room usage memory environment auxiliary vdso fork loaded spawn withdraw)
# Compiled once more for the recorder that has a stream of events only, in which these are smaller.
RECORDER_TWICE := $(addprefix recorder/,threads words fast pending scratch event_count loading modules) port/linux/guest
# What only LITIFUT_MODE=table, coverage and paths need, and what stands in its place.
RECORDER_FULL := $(RECORDER_TWICE) $(addprefix recorder/,table table_words epochs flags bits recorder finish)
RECORDER_SMALL := $(RECORDER_TWICE:%=stream/%) recorder/stream_only
# The same for what only LITIFUT_ARGS needs.
RECORDER_ARGUMENTS := $(addprefix stream/recorder/,recorder_arguments finish arguments long_calls)
# With LITIFUT_MARK_EVERY, and maybe LITIFUT_ARGS.
RECORDER_MARKS := $(addprefix stream/recorder/,recorder_marks finish_marks arguments long_calls marks marks_call)
RECORDER_PLAIN := stream/recorder/recorder stream/recorder/finish
# In assembly: what a CPU needs, and what Linux on that CPU needs.
TRACER_ASSEMBLY   = $(1)/stub $(1)/guard $(1)/thunk port/linux/$(1)/start $(TRACER_BACKTRACE_$(1))
# On ARM the unwinder asks the tracer.
TRACER_BACKTRACE_arm := arm/backtrace
RECORDER_ASSEMBLY_arm  := arm/stack
RECORDER_ASSEMBLY_mips := mips/stack port/linux/mips/system_call

# What runs at events, or once for each chunk, is compiled for speed, the rest
# for size: all of it is in every traced program. (Thumb would be a fifth smaller
# on ARM, but GNU ld puts veneers with names of its own between the two for ARMv5;
# nothing branches between tracer and recorder.)
TRACER_HOT := entry/enter entry/count recorder/recorder recorder/recorder_arguments recorder/recorder_marks recorder/words sink/compact recorder/bloom recorder/clock recorder/table recorder/table_words

# The loop that folds events: without the conversion of branches to conditions, which costs a dozen instructions
# of each event there.
TRACER_FLAGS_recorder/table := --param logical-op-non-short-circuit=0 -fno-if-conversion -fno-if-conversion2

# Nothing branches between it and other code.
TRACER_FLAGS_arm/backtrace := -mthumb

# Debugging information other than call frames goes too: the names in it are of
# no use to the person who debugs the traced program.
TRACER_STRIP := .comment .ARM.attributes .gnu.attributes .MIPS.abiflags .reginfo .pdr \
	.debug_info .debug_abbrev .debug_line .debug_str .debug_aranges .debug_loclists \
	.debug_rnglists .debug_line_str .mdebug.abi32

define tracer_arch
$(BUILD)/tracer/$(1)/%.o: tracer/%.c
	@mkdir -p $$(@D)
	$$(call run,CC) $(TRACER_TOOL_$(1))gcc $(TRACER_C_FLAGS) -Itracer/$(TRACER_CPU_$(1)) \
		-Itracer/port/linux/$(TRACER_CPU_$(1)) $(TRACER_FLAGS_$(1)) \
		$$(if $$(filter $$*,$(TRACER_HOT)),-O2,-Os) $$(TRACER_FLAGS_$$*) -MMD -MP -c $$< -o $$@

$(BUILD)/tracer/$(1)/stream/%.o: tracer/%.c
	@mkdir -p $$(@D)
	$$(call run,CC) $(TRACER_TOOL_$(1))gcc $(TRACER_C_FLAGS) -Itracer/$(TRACER_CPU_$(1)) \
		-Itracer/port/linux/$(TRACER_CPU_$(1)) $(TRACER_FLAGS_$(1)) -DLITIFUT_STREAM_ONLY=1 \
		$$(if $$(filter $$*,$(TRACER_HOT)),-O2,-Os) -MMD -MP -c $$< -o $$@

$(BUILD)/tracer/$(1)/%.o: tracer/%.S
	@mkdir -p $$(@D)
	$$(call run,CC) $(TRACER_TOOL_$(1))gcc -g -fPIC -Iinclude $(TRACER_FLAGS_$(1)) -MMD -MP -c $$< -o $$@

ifneq ($(filter $(1),$(TRACER_ARCHES)),)
TRACER += $(TRACER_LIBRARY)/tracer-$(1).o $(TRACER_LIBRARY)/tracer-paths-$(1).o \
	$(TRACER_LIBRARY)/tracer-counts-$(1).o
$(TRACER_LIBRARY)/tracer-paths-$(1).o: $(BUILD)/tracer/$(1)/$(TRACER_CPU_$(1))/bits.o
$(TRACER_LIBRARY)/tracer-$(1).o $(TRACER_LIBRARY)/tracer-paths-$(1).o: \
	$(TRACER_SOURCES:%=$(BUILD)/tracer/$(1)/%.o)
$(TRACER_LIBRARY)/tracer-counts-$(1).o: $(BUILD)/tracer/$(1)/entry/count.o
$(TRACER_LIBRARY)/tracer-$(1).o $(TRACER_LIBRARY)/tracer-paths-$(1).o $(TRACER_LIBRARY)/tracer-counts-$(1).o: \
	$(patsubst %,$(BUILD)/tracer/$(1)/%.o,$(call TRACER_ASSEMBLY,$(TRACER_CPU_$(1))))
endif

TRACER += $(TRACER_LIBRARY)/recorder-$(1).o $(TRACER_LIBRARY)/recorder-full-$(1).o $(TRACER_LIBRARY)/recorder-args-$(1).o \
	$(TRACER_LIBRARY)/recorder-marks-$(1).o
$(TRACER_LIBRARY)/recorder-$(1).o: $(patsubst %,$(BUILD)/tracer/$(1)/%.o,$(RECORDER_SMALL) $(RECORDER_PLAIN))
$(TRACER_LIBRARY)/recorder-full-$(1).o: $(patsubst %,$(BUILD)/tracer/$(1)/%.o,$(RECORDER_FULL))
$(TRACER_LIBRARY)/recorder-args-$(1).o: $(patsubst %,$(BUILD)/tracer/$(1)/%.o,$(RECORDER_SMALL) $(RECORDER_ARGUMENTS))
$(TRACER_LIBRARY)/recorder-marks-$(1).o: $(patsubst %,$(BUILD)/tracer/$(1)/%.o,$(RECORDER_SMALL) $(RECORDER_MARKS))
$(TRACER_LIBRARY)/recorder-$(1).o $(TRACER_LIBRARY)/recorder-full-$(1).o $(TRACER_LIBRARY)/recorder-args-$(1).o \
$(TRACER_LIBRARY)/recorder-marks-$(1).o: \
	$(RECORDER_SOURCES:%=$(BUILD)/tracer/$(1)/%.o) \
	$(RECORDER_ASSEMBLY_$(TRACER_CPU_$(1)):%=$(BUILD)/tracer/$(1)/%.o)
$(TRACER_LIBRARY)/%-$(1).o: tracer/check-object
	@mkdir -p $$(@D)
	$$(call run,LINK) $(TRACER_TOOL_$(1))ld $(filter -E%,$(TRACER_FLAGS_$(1))) -r $$(filter %.o,$$^) -o $$@.tmp
	$$(quiet)$(TRACER_TOOL_$(1))objcopy $(TRACER_STRIP:%=--remove-section=%) \
		$(TRACER_WEAK_$(1):%=--weaken-symbol=%) $$@.tmp
	$$(quiet)tracer/check-object $(TRACER_TOOL_$(1))nm $$@.tmp
	$$(quiet)mv $$@.tmp $$@

-include $(shell find $(BUILD)/tracer/$(1) -name '*.d' 2>/dev/null)
endef

# For the stubs all of ARM is one CPU, but newer ones have no use for what thunks of others share.
ifneq ($(filter arm,$(CPUS)),)
TRACER += $(TRACER_LIBRARY)/tracer-armv7.o
endif
$(TRACER_LIBRARY)/tracer-armv7.o: \
	$(patsubst %,$(BUILD)/tracer/arm/%.o,$(TRACER_SOURCES) $(call TRACER_ASSEMBLY,arm))
$(TRACER_LIBRARY)/tracer-arm.o: $(BUILD)/tracer/arm/arm/thunk_shared.o

$(foreach arch,$(RECORDER_ARCHES),$(eval $(call tracer_arch,$(arch))))

TRACER_TESTS := $(patsubst tests/unit/%.c,$(BUILD)/unit/%,$(wildcard tests/unit/test_tracer_*.c))
UNIT_TESTS += $(TRACER_TESTS)

$(TRACER_TESTS): $(BUILD)/unit/%: $(BUILD)/host/tests/unit/%.o
	@mkdir -p $(@D)
	$(call run,LINK) $(CC) $(CFLAGS) $(LDFLAGS) $^ -lcmocka -o $@

# For firmware, which has tools and flags of its own. The sender is compiled for what is recorded, and
# each of these for sending in interrupts too. GCC would keep in registers across the loop of a
# round what one instruction can load.
SENDERS := table times events branches packed
SENDERS += $(SENDERS:%=%_background)
SENDER_FLAGS := -fno-move-loop-invariants -fno-ivopts -fno-tree-loop-im
SENDER_times := -DLITIFUT_TIMES
SENDER_events := -DLITIFUT_SPANS
SENDER_branches := -DLITIFUT_PATHS
SENDER_packed := -DLITIFUT_PACKED
SENDER_tasks := -DLITIFUT_TASKS
SENDER_background := -DLITIFUT_BACKGROUND
FRAMES_PARTS := $(patsubst tracer/%.c,%,$(filter-out %/send.c,$(wildcard tracer/sink/frames/*.c)))
include tracer/port/bare/rules.mk
include tracer/port/avr/rules.mk
