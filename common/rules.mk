COMMON_OBJECTS := $(patsubst %.c,$(BUILD)/host/%.o,$(wildcard common/*.c))
