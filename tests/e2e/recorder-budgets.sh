#!/bin/sh
# No part of the tracer takes more of a program's memory than its budget, and each object of it is in a
# part; a part that is too large, and one that is missing, are found.
. "$(dirname "$0")/../lib.sh"

parts()
{
	BUDGETS=$1 "$root/scripts/sizes" "$arch"
}

behaviour()
{
	case $target in
	armhf*) arch=armv7 ;;
	armel) arch=arm ;;
	*) arch=$target ;;
	esac
	ok "each part keeps its budget" parts "$root/tracer/budgets"
	sed 's/^compact  *all  *[0-9]* *[0-9]* *[0-9]* /compact all 9 9 9 /' "$root/tracer/budgets" >less
	is "a part that is larger is named" "$(parts less | awk '/too much/ { print $2 }')" compact
	ok "and the status says so" fails parts less
	grep -v '^compact ' "$root/tracer/budgets" >fewer
	ok "what is in no part is noticed" fails parts fewer
}

fails()
{
	! "$@"
}

[ "$TARGETS" = "$all_targets" ] && TARGETS="armhf armel mipsel mips"
for_targets behaviour
