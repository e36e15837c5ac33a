# What is linked into a traced firmware, for each kind of Cortex-M: an archive, of which a
# link takes what it needs, and an object for each port and clock. Assembled and compiled with the
# compiler of the ARM Linux target, so that no bare-metal toolchain is needed.

FIRMWARE_CPUS := $(if $(filter cortex-m,$(CPUS)),v6m v7m)
FIRMWARE_FLAGS_v6m := -mthumb -march=armv6s-m -mfloat-abi=soft
FIRMWARE_FLAGS_v7m := -mthumb -march=armv7-m -mfloat-abi=soft
FIRMWARE_TOOL := arm-linux-gnueabi-
FIRMWARE_C_FLAGS := -std=c11 -Os -ffreestanding -fno-pic -fno-pie -fno-stack-protector \
	-fno-tree-loop-distribute-patterns -fno-jump-tables -fno-exceptions -fno-unwind-tables \
	-fno-asynchronous-unwind-tables -fomit-frame-pointer -fno-common -fno-section-anchors \
	-Iinclude -I. -Itracer/arm/spans -Itracer/arm/paths $(WARNINGS)
# each times calls, of a program that switches recording off and on or whose kernel says which task runs
FIRMWARE_TIMES := $(patsubst tracer/arm/firmware/%.S,%,$(filter-out %/time_pointer.S %/time_pointer_switched.S,$(wildcard tracer/arm/firmware/time*.S)))
FIRMWARE_PARTS := $(filter-out $(FIRMWARE_TIMES:%=arm/firmware/%),$(patsubst tracer/%.S,%,$(wildcard tracer/arm/firmware/*.S))) \
	$(FRAMES_PARTS) port/bare/tasks $(addprefix sink/spans/,mark pin kept) sink/paths/paths \
	port/bare/transmit
FIRMWARE_SENDERS := $(SENDERS) times_tasks times_tasks_background
FIRMWARE_CLOCKS := $(patsubst tracer/arm/clock/%.S,%,$(wildcard tracer/arm/clock/*.S))
# each is the code for calls as events, with another clock or switched off and on
FIRMWARE_SPANS := $(patsubst tracer/arm/spans/%.S,%,$(wildcard tracer/arm/spans/*.S))
# and an object for the interrupt of a port's transmitter, NAME_transmit
FIRMWARE_PORTS := $(patsubst tracer/port/bare/%.c,%,$(filter-out %/transmit.c %/tasks.c,$(wildcard tracer/port/bare/*.c)))
# of v6-M and v8-M Baseline few have an ITM
FIRMWARE_PORTS_v6m := $(filter-out itm,$(FIRMWARE_PORTS))
FIRMWARE_PORTS_v7m := $(FIRMWARE_PORTS)
# Nothing that would be a section of its own in the program: scripts have no place for it.
FIRMWARE_STRIP := .comment .ARM.attributes .note.GNU-stack .ARM.exidx .ARM.extab

FIRMWARE_BITS_v6m := bits_baseline
FIRMWARE_BITS_v7m := bits
FIRMWARE_NUMBERS_v6m := numbers_baseline
FIRMWARE_NUMBERS_v7m := numbers

define firmware_cpu
$(BUILD)/tracer/firmware-$(1)/%.o: tracer/%.c
	@mkdir -p $$(@D)
	$$(call run,CC) $(FIRMWARE_TOOL)gcc $(FIRMWARE_C_FLAGS) $(FIRMWARE_FLAGS_$(1)) -MMD -MP -c $$< -o $$@
	$$(quiet)$(FIRMWARE_TOOL)objcopy $(FIRMWARE_STRIP:%=--remove-section=%) $$@

$(BUILD)/tracer/firmware-$(1)/%.o: tracer/%.S
	@mkdir -p $$(@D)
	$$(call run,AS) $(FIRMWARE_TOOL)gcc -Iinclude -I. $(FIRMWARE_FLAGS_$(1)) -MMD -MP -c $$< -o $$@
	$$(quiet)$(FIRMWARE_TOOL)objcopy $(FIRMWARE_STRIP:%=--remove-section=%) $$@

$(TRACER_LIBRARY)/firmware-$(1).a: $(FIRMWARE_PARTS:%=$(BUILD)/tracer/firmware-$(1)/%.o)
	@mkdir -p $$(@D)
	$$(quiet)rm -f $$@
	$$(call run,AR) $(FIRMWARE_TOOL)ar rcsD $$@ $$^

$(TRACER_LIBRARY)/firmware-$(1)-%.o: $(BUILD)/tracer/firmware-$(1)/port/bare/%.o
	@mkdir -p $$(@D)
	$$(quiet)cp $$< $$@

$(TRACER_LIBRARY)/firmware-$(1)-calls-%.o: $(BUILD)/tracer/firmware-$(1)/arm/firmware/%.o
	@mkdir -p $$(@D)
	$$(quiet)cp $$< $$@

$(TRACER_LIBRARY)/firmware-$(1)-spans-%.o: $(BUILD)/tracer/firmware-$(1)/arm/spans/%.o
	@mkdir -p $$(@D)
	$$(quiet)cp $$< $$@

$(TRACER_LIBRARY)/firmware-$(1)-reset_events.o: $(BUILD)/tracer/firmware-$(1)/sink/spans/reset.o
	@mkdir -p $$(@D)
	$$(quiet)cp $$< $$@

$(TRACER_LIBRARY)/firmware-$(1)-paths-start.o: $(BUILD)/tracer/firmware-$(1)/sink/paths/start.o
$(TRACER_LIBRARY)/firmware-$(1)-paths-bits.o: $(BUILD)/tracer/firmware-$(1)/arm/paths/$(FIRMWARE_BITS_$(1)).o
$(TRACER_LIBRARY)/firmware-$(1)-paths-bits_kept.o: $(BUILD)/tracer/firmware-$(1)/arm/paths/$(FIRMWARE_BITS_$(1))_kept.o
$(TRACER_LIBRARY)/firmware-$(1)-paths-numbers.o: $(BUILD)/tracer/firmware-$(1)/arm/paths/$(FIRMWARE_NUMBERS_$(1)).o
$(TRACER_LIBRARY)/firmware-$(1)-paths-numbers_kept.o: $(BUILD)/tracer/firmware-$(1)/arm/paths/$(FIRMWARE_NUMBERS_$(1))_kept.o
$(TRACER_LIBRARY)/firmware-$(1)-paths-numbers_ring.o: $(BUILD)/tracer/firmware-$(1)/sink/paths/numbers.o
$(TRACER_LIBRARY)/firmware-$(1)-paths-bits.o $(TRACER_LIBRARY)/firmware-$(1)-paths-bits_kept.o \
$(TRACER_LIBRARY)/firmware-$(1)-paths-numbers.o $(TRACER_LIBRARY)/firmware-$(1)-paths-numbers_kept.o \
$(TRACER_LIBRARY)/firmware-$(1)-paths-numbers_ring.o $(TRACER_LIBRARY)/firmware-$(1)-paths-start.o:
	@mkdir -p $$(@D)
	$$(quiet)cp $$< $$@

# the same for a ring that outlasts a reset
$(BUILD)/tracer/firmware-$(1)/%_kept.o: tracer/%.S
	@mkdir -p $$(@D)
	$$(call run,AS) $(FIRMWARE_TOOL)gcc -Iinclude -I. -DLITIFUT_KEPT $(FIRMWARE_FLAGS_$(1)) -MMD -MP -c $$< -o $$@
	$$(quiet)$(FIRMWARE_TOOL)objcopy $(FIRMWARE_STRIP:%=--remove-section=%) $$@

$(FIRMWARE_SENDERS:%=$(BUILD)/tracer/firmware-$(1)/send_%.o): $(BUILD)/tracer/firmware-$(1)/send_%.o: tracer/sink/frames/send.c
	@mkdir -p $$(@D)
	$$(call run,CC) $(FIRMWARE_TOOL)gcc $(FIRMWARE_C_FLAGS) $(SENDER_FLAGS) $(FIRMWARE_FLAGS_$(1)) \
		$$(foreach part,$$(subst _, ,$$*),$$(SENDER_$$(part))) -MMD -MP -c $$< -o $$@
	$$(quiet)$(FIRMWARE_TOOL)objcopy $(FIRMWARE_STRIP:%=--remove-section=%) $$@

$(TRACER_LIBRARY)/firmware-$(1)-send_%.o: $(BUILD)/tracer/firmware-$(1)/send_%.o
	@mkdir -p $$(@D)
	$$(quiet)cp $$< $$@

$(TRACER_LIBRARY)/firmware-$(1)-clock-%.o: $(BUILD)/tracer/firmware-$(1)/arm/clock/%.o
	@mkdir -p $$(@D)
	$$(quiet)cp $$< $$@

TRACER += $(TRACER_LIBRARY)/firmware-$(1).a $(FIRMWARE_SENDERS:%=$(TRACER_LIBRARY)/firmware-$(1)-send_%.o) \
	$(FIRMWARE_TIMES:%=$(TRACER_LIBRARY)/firmware-$(1)-calls-%.o) \
	$(FIRMWARE_SPANS:%=$(TRACER_LIBRARY)/firmware-$(1)-spans-%.o) \
	$(FIRMWARE_SPANS:%=$(TRACER_LIBRARY)/firmware-$(1)-spans-%_kept.o) \
	$(TRACER_LIBRARY)/firmware-$(1)-reset_events.o \
	$(TRACER_LIBRARY)/firmware-$(1)-paths-bits.o $(TRACER_LIBRARY)/firmware-$(1)-paths-bits_kept.o \
	$(TRACER_LIBRARY)/firmware-$(1)-paths-numbers.o $(TRACER_LIBRARY)/firmware-$(1)-paths-numbers_kept.o \
	$(TRACER_LIBRARY)/firmware-$(1)-paths-numbers_ring.o $(TRACER_LIBRARY)/firmware-$(1)-paths-start.o \
	$(FIRMWARE_CLOCKS:%=$(TRACER_LIBRARY)/firmware-$(1)-clock-%.o) \
	$(FIRMWARE_PORTS_$(1):%=$(TRACER_LIBRARY)/firmware-$(1)-%.o)

-include $(shell find $(BUILD)/tracer/firmware-$(1) -name '*.d' 2>/dev/null)
endef

$(foreach cpu,$(FIRMWARE_CPUS),$(eval $(call firmware_cpu,$(cpu))))
