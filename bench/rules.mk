.PHONY: bench bench-calls

## bench: measure what tracing costs, on real programs
bench: bench-calls bench-post

bench-calls: all $(BUILD)/tests/oracle.so
	@BUILD='$(abspath $(BUILD))' bench/call_cost.sh

.PHONY: bench-post

bench-post: all
	@BUILD='$(abspath $(BUILD))' bench/post_speed.sh
