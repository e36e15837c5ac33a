# Unit tests are cmocka programs that every folder adds to UNIT_TESTS;
# end-to-end tests are the scripts in tests/e2e. All speak TAP to prove.

ORACLE = $(BUILD)/tests/oracle.so
ORACLE_SOURCES := $(wildcard tests/oracle/*.c)
END_TO_END = $(sort $(wildcard tests/e2e/*.sh))

$(ORACLE): $(ORACLE_SOURCES) $(wildcard tests/oracle/*.h)
	@mkdir -p $(@D)
	$(call run,LINK) $(CC) $(CFLAGS) -fPIC -shared -pthread -o $@ $(ORACLE_SOURCES)

# The one for whole machines, that is: firmware.
SYSTEM_ORACLE = $(BUILD)/tests/system.so

$(SYSTEM_ORACLE): tests/oracle/system/system.c tests/oracle/qemu_plugin.h
	@mkdir -p $(@D)
	$(call run,LINK) $(CC) $(CFLAGS) -fPIC -shared -o $@ $<

# The one for AVR, which simavr emulates.
AVR_ORACLE = $(BUILD)/tests/avr

$(AVR_ORACLE): tests/oracle/avr/avr.c tests/oracle/avr/dataflash.c tests/oracle/avr/dataflash.h
	@mkdir -p $(@D)
	$(call run,LINK) $(CC) $(CFLAGS) $(LDFLAGS) $(filter %.c,$^) -lsimavr -lelf -o $@

AVR_DECODE = $(BUILD)/tests/avr-decode

$(AVR_DECODE): tests/oracle/avr/decode.c $(COMMON_OBJECTS)
	@mkdir -p $(@D)
	$(call run,LINK) $(CC) $(CFLAGS) $(LDFLAGS) $< $(COMMON_OBJECTS) $(COMMON_LIBRARIES) -o $@

# The one for `make coverage'.
COVERED = $(BUILD)/tests/covered.so

$(COVERED): tests/oracle/covered/covered.c tests/oracle/places.c tests/oracle/places.h tests/oracle/qemu_plugin.h
	@mkdir -p $(@D)
	$(call run,LINK) $(CC) $(CFLAGS) -fPIC -shared -o $@ $(filter %.c,$^)

# The one that sends a signal.
INTERRUPT = $(BUILD)/tests/interrupt.so

$(INTERRUPT): tests/oracle/interrupt/interrupt.c tests/oracle/qemu_plugin.h
	@mkdir -p $(@D)
	$(call run,LINK) $(CC) $(CFLAGS) -fPIC -shared -o $@ $<

$(ORACLE): $(INTERRUPT) $(SYSTEM_ORACLE) $(AVR_ORACLE) $(AVR_DECODE)

UNIT_TESTS += $(BUILD)/unit/test_oracle_decode

$(BUILD)/unit/test_oracle_decode: $(BUILD)/host/tests/unit/test_oracle_decode.o \
		$(BUILD)/host/tests/oracle/decode.o
	@mkdir -p $(@D)
	$(call run,LINK) $(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ -lcmocka

.PHONY: unit-tests oracle check sizes

## oracle: build the QEMU plugin that logs calls and counts instructions
oracle: $(ORACLE)

# A python3 of a version manager is a script that looks for an interpreter, which starts several times
# slower than that of the system and runs the tests' scripts at half of its speed. There are thousands
# of starts. So the system's python3 comes first where there is one.
SYSTEM_PYTHON = $(BUILD)/tests/python/python3
PYTHON = $(or $(wildcard /usr/bin/python3),$(shell python3 -c 'import sys; print(sys.executable)'))

$(SYSTEM_PYTHON):
	@mkdir -p $(@D)
	@ln -sf $(call shell_word,$(PYTHON)) $@

unit-tests: $(UNIT_TESTS) $(SYSTEM_PYTHON)

# An empty --exec makes prove run each file by itself, whatever it is.
# One script more than there are processors, because some wait for timers and boards.
TEST_JOBS := $(shell expr $$(nproc) + 1)
PROVE = PATH=$(call shell_word,$(abspath $(BUILD)/tests/python)):"$$PATH" CMOCKA_MESSAGE_OUTPUT=TAP BUILD=$(call shell_word,$(abspath $(BUILD))) prove --exec '' -j$(TEST_JOBS)

CHECKS = calls-constructors.sh recorder-budgets.sh

## sizes: the parts of the tracer with their bytes, against the budgets of tracer/budgets
sizes: all
	@BUILD=$(call shell_word,$(abspath $(BUILD))) scripts/sizes

## check: the minute before a commit: unit tests, and one script for each CPU
check: all $(ORACLE) unit-tests
	@TARGETS="$${TARGETS:-armhf mipsel}" $(PROVE) $(UNIT_TESTS) $(addprefix tests/e2e/,$(CHECKS))

## test: unit tests, then end-to-end tests of every target (TESTS="FILE..." for some)
test: all $(ORACLE) unit-tests
	@$(PROVE) --timer $(or $(TESTS),$(UNIT_TESTS) tests/programs/quick.sh $(END_TO_END))

# Scripts that link programs of Linux in `calls`: only that mode has a choice of engines.
WITH_ENGINES = $(filter-out $(patsubst %,tests/e2e/%-%.sh,energy firmware oracle paths post time),$(END_TO_END))

## test-long: make test on all targets and at more places, also with the db engine, and more real programs, linked in every way, with their own tests and as Debian packages, firmware on all boards, and a table of their calls (hours)
test-long: all $(ORACLE) unit-tests
	@scripts/install-dependencies programs
	@LONG=1 $(PROVE) --timer $(UNIT_TESTS) tests/programs/quick.sh $(END_TO_END)
	@$(PROVE) $(addprefix tests/programs/,all.sh all_modes.sh nopie.sh static.sh suites.sh packages.sh)
	@$(PROVE) tests/packaging/debian.sh tests/packaging/build_systems.sh \
		tests/packaging/buildroot.sh tests/packaging/openwrt.sh tests/packaging/yocto.sh
	@ENGINE=db LONG=1 $(PROVE) --timer $(WITH_ENGINES)
	@BOARDS='mps2-an385 microbit mps2-an386 mps2-an500 mps2-an505 netduino2 lm3s6965evb' \
		$(PROVE) $(patsubst %,tests/e2e/firmware-%.sh,interrupts samples spans stream table)
	@OTHER_WAYS=1 $(PROVE) tests/e2e/firmware-avr_arduino.sh
	@DEVICES='atmega8 atmega644p atmega128rfa1' $(PROVE) tests/e2e/firmware-avr.sh
	@$(MAKE) -s sanitize
	@$(MAKE) -s fuzz TIME=60
	@STOPS=10000 $(PROVE) tests/e2e/paths-gdb.sh
	@KILLS=200 $(PROVE) tests/e2e/recorder-kill.sh
	@STRESS=4 $(PROVE) tests/e2e/recorder-threads.sh tests/e2e/recorder-crash.sh \
		tests/e2e/recorder-bounds.sh
	@BUILD=$(call shell_word,$(abspath $(BUILD))) TARGETS='armhf mipsel' \
		tests/same-links $(call shell_word,$(abspath $(BUILD)))
	@BUILD=$(call shell_word,$(abspath $(BUILD))) tests/programs/table.sh

SANITIZED = $(BUILD)/sanitized

THREAD_SANITIZED = $(BUILD)/thread-sanitized

## sanitize: unit tests and tests of the wrapper with address, undefined-behaviour and thread sanitizers in the host's programs
sanitize: $(ORACLE)
	@$(MAKE) -s BUILD=$(SANITIZED) all unit-tests \
		CFLAGS='-O1 -g -fsanitize=address,undefined -fno-sanitize-recover=undefined'
	@cp $(ORACLE) $(SANITIZED)/tests
	@ASAN_OPTIONS=detect_leaks=0 BUILD=$(call shell_word,$(abspath $(SANITIZED))) CMOCKA_MESSAGE_OUTPUT=TAP \
		prove --exec '' -j$(TEST_JOBS) $(patsubst $(BUILD)/%,$(SANITIZED)/%,$(UNIT_TESTS)) \
		$(addprefix tests/e2e/,wrapper-inputs.sh wrapper-islands.sh rewriter-bad_input.sh call_forms.sh \
		post-counts.sh)
	@$(MAKE) -s BUILD=$(THREAD_SANITIZED) all $(THREAD_SANITIZED)/unit/test_common_parallel \
		CFLAGS='-O1 -g -fsanitize=thread'
	@TSAN_OPTIONS=halt_on_error=1 BUILD=$(call shell_word,$(abspath $(THREAD_SANITIZED))) \
		CMOCKA_MESSAGE_OUTPUT=TAP prove --exec '' -j$(TEST_JOBS) \
		$(THREAD_SANITIZED)/unit/test_common_parallel tests/e2e/wrapper-repeat.sh

.PHONY: coverage

COVERAGE_FLAGS = -O1 -g -fno-inline --coverage -fprofile-update=atomic -fprofile-abs-path

## coverage: how much of each folder the tests execute, the tracer's code included (TESTS="FILE..." for some)
coverage: all $(ORACLE) $(COVERED) fuzz-seeds
	@$(MAKE) -s BUILD=$(BUILD)/coverage CFLAGS='$(COVERAGE_FLAGS)' all unit-tests fuzz-replays
	@BUILD=$(call shell_word,$(abspath $(BUILD))) scripts/coverage \
		$(or $(TESTS),$(UNIT_TESTS:$(BUILD)/%=$(BUILD)/coverage/%) $(END_TO_END))

## demo: Debian's lua5.4 traced on ARM and MIPS; installs what is missing
demo:
	@BUILD=$(call shell_word,$(abspath $(BUILD))) scripts/demo

.PHONY: demo-avr

## demo-avr: two simulated sensor nodes, one traced: its calls, drawn; installs what is missing
# What can be built depends on what is installed, so another make looks at it afterwards.
demo-avr:
	@scripts/install-dependencies
	@$(MAKE) -s all $(AVR_ORACLE)
	@BUILD=$(call shell_word,$(abspath $(BUILD))) examples/node/demo
