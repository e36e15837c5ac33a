.PHONY: bench bench-cost bench-post

## bench: what tracing costs: the paper's tables and other tools, into docs/cost.md
bench: bench-cost bench-post bench-firmware

bench-cost: all $(BUILD)/tests/oracle.so
	@BUILD=$(call shell_word,$(abspath $(BUILD))) bench/cost.sh

bench-post: all
	@BUILD=$(call shell_word,$(abspath $(BUILD))) bench/post_speed.sh

.PHONY: bench-page

## bench-page: size of the HTML page of ten million events, and how fast a browser draws it and answers
bench-page: all
	@BUILD=$(call shell_word,$(abspath $(BUILD))) bench/page_speed.sh

.PHONY: bench-link

bench-link: all
	@BUILD=$(call shell_word,$(abspath $(BUILD))) bench/link_delay.sh

.PHONY: bench-firmware

## bench-firmware: what a call of a firmware on Cortex-M takes, in instructions, cycles and bytes, beside gprof
bench-firmware: all $(BUILD)/tests/system.so
	@for each in cost gprof; do BUILD=$(call shell_word,$(abspath $(BUILD))) \
		tests/e2e/firmware-$$each.sh 2>&1 | grep '^\(# \|not ok\)'; done

.PHONY: bench-avr

## bench-avr: the tables of "Call Graphs on Sensor Nodes" on simulated nodes, with the figures of docs/firmware.md
bench-avr: all $(BUILD)/tests/avr
	@for each in tasks runs records rom; do \
		BUILD=$(call shell_word,$(abspath $(BUILD))) bench/avr_$$each.sh && echo || exit; done

.PHONY: bench-paths

## bench-paths: branches beside what compilers record, and in the encodings of "Diagnostic tracing for wireless sensor networks"
bench-paths: all $(BUILD)/tests/avr $(BUILD)/tests/oracle.so
	@BUILD=$(call shell_word,$(abspath $(BUILD))) bench/paths_peers.sh
	@BUILD=$(call shell_word,$(abspath $(BUILD))) tests/programs/path_sizes.sh
	@BUILD=$(call shell_word,$(abspath $(BUILD))) bench/avr_components.sh
