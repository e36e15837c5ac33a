# What is linked into a traced firmware for AVR, for each family of devices: an archive, of
# which a link takes what it needs, and an object for each port. Only where avr-gcc is there.

AVR_FAMILIES := $(if $(filter avr,$(CPUS)),$(if $(shell command -v avr-gcc),avr25 avr35 avr4 avr5 avr51 avr6))
AVR_C_FLAGS := -std=c11 -Os -ffreestanding -fno-jump-tables -fno-exceptions -fno-unwind-tables \
	-fno-asynchronous-unwind-tables -fno-common -fno-tree-loop-distribute-patterns -Iinclude -I. -Itracer/avr/spans -Itracer/avr/firmware \
	-Itracer/avr/paths $(WARNINGS)
# each times calls, of a program that switches recording off and on or not
AVR_TIMES := time time_switched
AVR_PARTS := $(filter-out $(AVR_TIMES:%=avr/firmware/%),$(patsubst tracer/%.S,%,$(wildcard tracer/avr/firmware/*.S))) \
	$(filter-out sink/frames/calibrate sink/frames/reset,$(FRAMES_PARTS)) avr/firmware/reset \
	$(addprefix sink/spans/,mark pin) sink/paths/paths avr/paths/numbers_call
# Pieces of code that record events, besides the first one (tracer/avr/spans/high.S): as many as the stubs in the
# largest flash of the family can need.
AVR_HIGH_KINDS := high high_stream high_switched high_stream_switched
AVR_HIGH_avr35 := 16
AVR_HIGH_avr5 := 16
AVR_HIGH_avr51 := 32
AVR_HIGH_avr6 := 64
AVR_SPANS := $(patsubst tracer/avr/spans/%.S,%,$(filter-out %/high.S,$(wildcard tracer/avr/spans/*.S)))
AVR_PORTS := $(patsubst tracer/port/avr/%.c,%,$(wildcard tracer/port/avr/*.c))

AVR_SENDERS := $(SENDERS) bytes bytes_background
# How many bits of a number stand in the table, where the others are in that of carries.
AVR_SENDER_times := -DLITIFUT_CARRIES=32
AVR_SENDER_bytes := -DLITIFUT_CARRIES=8

define avr_family
$(BUILD)/tracer/firmware-$(1)/%.o: tracer/%.c
	@mkdir -p $$(@D)
	$$(call run,CC) avr-gcc $(AVR_C_FLAGS) -mmcu=$(1) -MMD -MP -c $$< -o $$@
	$$(quiet)avr-objcopy --remove-section=.comment $$@

$(BUILD)/tracer/firmware-$(1)/%.o: tracer/%.S
	@mkdir -p $$(@D)
	$$(call run,AS) avr-gcc -Iinclude -I. -mmcu=$(1) -MMD -MP -c $$< -o $$@

# high_NUMBER, high_stream_NUMBER and so on
$(BUILD)/tracer/firmware-$(1)/high_%.o: tracer/avr/spans/high.S
	@mkdir -p $$(@D)
	$$(call run,AS) avr-gcc -Iinclude -I. -mmcu=$(1) -DLITIFUT_HIGH=$$(lastword $$(subst _, ,$$*)) \
		$$(if $$(findstring stream,$$*),-DLITIFUT_STREAM) $$(if $$(findstring switched,$$*),-DLITIFUT_SWITCHED) \
		-MMD -MP -c $$< -o $$@

$(TRACER_LIBRARY)/firmware-$(1).a: $(AVR_PARTS:%=$(BUILD)/tracer/firmware-$(1)/%.o) \
		$(foreach high,$(if $(AVR_HIGH_$(1)),$(shell seq $(AVR_HIGH_$(1)))),\
			$(AVR_HIGH_KINDS:%=$(BUILD)/tracer/firmware-$(1)/%_$(high).o))
	@mkdir -p $$(@D)
	$$(quiet)rm -f $$@
	$$(call run,AR) avr-ar rcsD $$@ $$^

$(TRACER_LIBRARY)/firmware-$(1)-%.o: $(BUILD)/tracer/firmware-$(1)/port/avr/%.o
	@mkdir -p $$(@D)
	$$(quiet)cp $$< $$@

$(TRACER_LIBRARY)/firmware-$(1)-calls-%.o: $(BUILD)/tracer/firmware-$(1)/avr/firmware/%.o
	@mkdir -p $$(@D)
	$$(quiet)cp $$< $$@

$(TRACER_LIBRARY)/firmware-$(1)-spans-%.o: $(BUILD)/tracer/firmware-$(1)/avr/spans/%.o
	@mkdir -p $$(@D)
	$$(quiet)cp $$< $$@

$(AVR_SENDERS:%=$(BUILD)/tracer/firmware-$(1)/send_%.o): $(BUILD)/tracer/firmware-$(1)/send_%.o: tracer/sink/frames/send.c
	@mkdir -p $$(@D)
	$$(call run,CC) avr-gcc $(AVR_C_FLAGS) $(SENDER_FLAGS) -mmcu=$(1) \
		$$(foreach part,$$(subst _, ,$$*),$$(SENDER_$$(part)) $$(AVR_SENDER_$$(part))) -MMD -MP -c $$< -o $$@
	$$(quiet)avr-objcopy --remove-section=.comment $$@

$(TRACER_LIBRARY)/firmware-$(1)-send_%.o: $(BUILD)/tracer/firmware-$(1)/send_%.o
	@mkdir -p $$(@D)
	$$(quiet)cp $$< $$@

$(TRACER_LIBRARY)/firmware-$(1)-reset_events.o: $(BUILD)/tracer/firmware-$(1)/sink/spans/reset.o
	@mkdir -p $$(@D)
	$$(quiet)cp $$< $$@

# what records branches
$(TRACER_LIBRARY)/firmware-$(1)-paths-%.o: $(BUILD)/tracer/firmware-$(1)/avr/paths/%.o
	@mkdir -p $$(@D)
	$$(quiet)cp $$< $$@

$(TRACER_LIBRARY)/firmware-$(1)-paths-numbers_ring.o: $(BUILD)/tracer/firmware-$(1)/sink/paths/numbers.o
	@mkdir -p $$(@D)
	$$(quiet)cp $$< $$@

$(TRACER_LIBRARY)/firmware-$(1)-paths-start.o: $(BUILD)/tracer/firmware-$(1)/sink/paths/start.o
	@mkdir -p $$(@D)
	$$(quiet)cp $$< $$@

TRACER += $(TRACER_LIBRARY)/firmware-$(1).a $(AVR_SENDERS:%=$(TRACER_LIBRARY)/firmware-$(1)-send_%.o) \
	$(AVR_TIMES:%=$(TRACER_LIBRARY)/firmware-$(1)-calls-%.o) \
	$(AVR_SPANS:%=$(TRACER_LIBRARY)/firmware-$(1)-spans-%.o) \
	$(TRACER_LIBRARY)/firmware-$(1)-reset_events.o $(TRACER_LIBRARY)/firmware-$(1)-paths-bits.o \
	$(TRACER_LIBRARY)/firmware-$(1)-paths-numbers.o $(TRACER_LIBRARY)/firmware-$(1)-paths-numbers_ring.o \
	$(TRACER_LIBRARY)/firmware-$(1)-paths-start.o \
	$(AVR_PORTS:%=$(TRACER_LIBRARY)/firmware-$(1)-%.o)

-include $(shell find $(BUILD)/tracer/firmware-$(1) -name '*.d' 2>/dev/null)
endef

$(foreach family,$(AVR_FAMILIES),$(eval $(call avr_family,$(family))))
