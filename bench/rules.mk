.PHONY: bench bench-calls

## bench: measure what tracing costs, on real programs
bench: bench-calls

bench-calls: all $(BUILD)/tests/oracle.so
	@BUILD='$(abspath $(BUILD))' bench/call_cost.sh
