#!/bin/sh
# What can't be used is refused with one line that names it, and exit status 1.
. "$(dirname "$0")/../lib.sh"

# refuses DESCRIPTION WORD COMMAND...: exit status 1, one line on stderr that
# contains WORD
refuses()
{
	refuses_description=$1
	refuses_word=$2
	shift 2
	ok "$refuses_description" refuses_with "$refuses_word" "$@"
}

refuses_with()
{
	refuses_expected=$1
	shift
	"$@" >out 2>err </dev/null
	refuses_status=$?
	echo "status $refuses_status"
	cat err
	[ "$refuses_status" = 1 ] && [ "$(wc -l <err)" = 1 ] && grep -q "$refuses_expected" err
}

says_no_maps()
{
	"$post" -f tsv -o events.tsv data/trace traced/program 2>post.err
	equal $? 1 && [ "$(grep -c 'no maps file' post.err)" = 1 ] && cat post.err &&
		equal "$(grep -vc 'no maps file\|calls,' post.err)" 0
}

# What the linker makes of main.c with the tracer inside, before it is rewritten: `image`
keep_image()
{
	mkdir -p keeper wrapper
	cat >"keeper/$triplet-ld" <<-END
		#!/bin/sh
		"$(command -v "$triplet-ld")" "\$@" || exit
		while [ \$# -gt 1 ]; do
			[ "\$1" = -o ] && cp "\$2" image
			shift
		done
	END
	chmod +x "keeper/$triplet-ld"
	ln -sf "$BUILD/bin/litifut-ld" "wrapper/$triplet-ld"
	"$triplet-gcc" -c main.c
	words=$("$triplet-gcc" -### -o kept main.o 2>&1 | grep '/collect2 ' |
		sed 's/^ *[^ ]*collect2//; s/"*-plugin-opt=-fresolution=[^ ]*//; s/"//g')
	COMPILER_PATH=keeper LITIFUT=1 sh -c "wrapper/$triplet-ld $words"
}

behaviour()
{
	cat >main.c <<-'END'
		#include <stdio.h>
		static __attribute__((noipa)) int work(int x) { return x + 1; }
		int main(void) { return printf("%d\n", work(1)) == 0; }
	END
	link program ../main.c || return
	same_run program
	rewrite=$BUILD/bin/litifut-rewrite
	info="$BUILD/bin/litifut info" # two words
	post=$BUILD/bin/litifut-post

	echo "not an ELF file" >text
	refuses "rewrite: not an ELF file" text "$rewrite" text
	# shellcheck disable=SC2086
	refuses "info: not an ELF file" text $info text
	head -c 40 traced/program >short
	refuses "rewrite: an ELF header cut short" short "$rewrite" short
	# shellcheck disable=SC2086
	refuses "info: an ELF header cut short" short $info short
	head -c 5000 traced/program >half
	refuses "rewrite: half an ELF file" half "$rewrite" half
	# shellcheck disable=SC2086
	refuses "info: half an ELF file" half $info half
	refuses "rewrite: another machine" true "$rewrite" /bin/true
	cp traced/program other
	printf '\042\042' | dd of=other bs=1 seek=18 conv=notrunc 2>/dev/null
	refuses "rewrite: another machine of 32 bits" 'machine 8738' "$rewrite" other
	refuses "plan: another machine of 32 bits" 'machine 8738' "$rewrite" --plan other
	# shellcheck disable=SC2086
	refuses "info: no such file" nowhere $info nowhere
	refuses "rewrite: no such file" nowhere "$rewrite" nowhere
	cp plain/program stripped
	"$triplet-strip" stripped
	refuses "rewrite: stripped" stripped "$rewrite" stripped
	cp plain/program without
	refuses "rewrite: no tracer inside" without "$rewrite" without
	is "  and leaves it as it was" "$(cmp plain/program without)" ""
	keep_image
	for section in .litifut.db .litifut.module; do
		cp image code
		"$triplet-objcopy" --set-section-flags "$section=alloc,contents,code" code
		refuses "rewrite: $section is marked as code" code "$rewrite" code
		"$triplet-objcopy" --set-section-flags "$section=alloc,contents,code" image code.before
		is "  and it stays as it was" "$(cmp code code.before)" ""
	done
	"$triplet-objcopy" --rename-section .litifut.module=.litifut.other image elsewhere
	cp elsewhere elsewhere.before
	refuses "rewrite: the module is in a section of another name" elsewhere "$rewrite" elsewhere
	is "  and it stays as it was" "$(cmp elsewhere elsewhere.before)" ""
	ok "the same without a mark" "$rewrite" image

	trace=$(echo data/trace/*)
	refuses "post: no such trace" nowhere "$post" nowhere
	cp text not.trace
	refuses "post: not a trace" not.trace "$post" not.trace traced/program
	mkdir -p cut
	head -c 100 "$trace" >cut/header.trace
	refuses "post: a trace cut inside its header" header.trace "$post" cut/header.trace traced/program
	: >cut/empty.trace
	refuses "post: an empty trace" empty.trace "$post" cut/empty.trace traced/program
	cp traced/program stripped
	"$triplet-strip" stripped
	ok "post: half a trace without maps is read as far as it goes" reads_half
	rm -f data/maps/*
	ok "post: without maps, the trace's own modules do, and a line says so" says_no_maps
	is "  and the call is there" "$(recorded work)" 1
}

reads_half()
{
	head -c "$(($(wc -c <"$trace") / 2))" "$trace" >half.trace
	"$post" half.trace traced/program
	[ $? -le 1 ]
}

for_targets behaviour
