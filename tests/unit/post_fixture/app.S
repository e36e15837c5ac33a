	.include "sites.inc"
	.text
	FUNCTION main
	CALL work
	CALL_OUT area
	CALL_OUT walk
	CALL __LongThunk_far_away
	END main

	FUNCTION work
	CALL leaf
	CALL leaf
	CALL count
	JUMP finish
	END work

	FUNCTION count
	CALL count
	CALL leaf
	END count

	FUNCTION callback
	CALL leaf
	CALL _ZN5shape5scaleEi
	END callback

	FUNCTION leaf
	END leaf

	FUNCTION finish
	END finish

	FUNCTION _ZN5shape5scaleEi
	END _ZN5shape5scaleEi

	FUNCTION far_away
	END far_away

	VENEER __LongThunk_far_away, far_away

	.pushsection .litifut.sites, ""
fixture_sites_end:
	.popsection
