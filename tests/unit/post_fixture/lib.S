	.include "sites.inc"
	.text
	FUNCTION area
	CALL local_scale
	END area

	FUNCTION walk
	CALL_POINTER
	END walk

	.balign 16
	FUNCTION local_scale
	END local_scale
	.hidden local_scale

	.pushsection .litifut.sites, ""
fixture_sites_end:
	.popsection
