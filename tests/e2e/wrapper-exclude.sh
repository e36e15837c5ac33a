#!/bin/sh
# What is excluded by name, object, archive or file is not recorded and shows up
# as such in `litifut info`; the user's own recorder takes the default one's place.
. "$(dirname "$0")/../lib.sh"
few_targets armhf-arm mipsel

sources()
{
	cat >main.c <<-'END'
		#include <stdio.h>
		int alpha(int), beta(int), gamma_(int);
		__attribute__((noipa)) int here(int x) { return alpha(x) + 1; }
		int main(void) { printf("%d\n", here(1) + beta(2) + gamma_(3)); return 0; }
	END
	for name in alpha beta gamma_; do
		printf '%s\n' '#include <stdlib.h>' \
			"__attribute__((noipa)) int ${name}_leaf(int x) { return abs(x) * 3; }" \
			"int $name(int x) { return ${name}_leaf(x) + 2; }" >$name.c
		compiler -fno-builtin -c -o $name.o $name.c
	done
	compiler -c -o main.o main.c
	"$triplet-ar" rc libgreek.a alpha.o beta.o
	"$triplet-ar" rcT libthin.a alpha.o beta.o
}

# callers ENVIRONMENT...: links with it, runs, prints the recorded callers.
callers()
{
	rm -rf traced data && mkdir traced
	# shellcheck disable=SC2086
	(cd traced && front="env $* $BUILD/bin/litifut build -q" compiler -o program ../main.o \
		"../${archive:-libgreek.a}" ../gamma_.o ${linker:-}) >traced.log 2>&1
	guest_environment="LITIFUT_DIR=$(pwd)/data" run traced program
	"$BUILD/bin/litifut-post" -f tsv -o events.tsv data/trace data/maps traced/program 2>post.log
	awk -F '\t' 'NR > 1 { print $6 }' events.tsv | sort -u | grep -v '^_\|^$\|^frame_dummy\|^call_weak_fn\|tm_clones$' | tr '\n' ' '
}

excluded()
{
	"$BUILD/bin/litifut" info --json traced/program | grep -o '"excluded": [0-9]*'
}

behaviour()
{
	sources
	all="alpha alpha_leaf beta beta_leaf gamma_ gamma__leaf here main "
	is "everything is recorded" "$(callers)" "$all"
	none=$(excluded)
	is "LITIFUT_EXCLUDE=beta" "$(callers LITIFUT_EXCLUDE=beta)" \
		"alpha alpha_leaf beta_leaf gamma_ gamma__leaf here main "
	ok "info counts them" test "$none" != "$(excluded)"
	is "a list of globs" "$(callers "LITIFUT_EXCLUDE=alpha*,*_leaf")" "beta gamma_ here main "
	is "LITIFUT_EXCLUDE_CALLEES" "$(callers "LITIFUT_EXCLUDE_CALLEES=*_leaf")" \
		"alpha_leaf beta_leaf gamma__leaf here main "
	is "LITIFUT_INCLUDE" "$(callers LITIFUT_INCLUDE=beta*,main)" "beta beta_leaf main "
	is "LITIFUT_INCLUDE less LITIFUT_EXCLUDE" \
		"$(callers LITIFUT_INCLUDE=beta*,main LITIFUT_EXCLUDE=beta)" "beta_leaf main "
	is "an object" "$(callers LITIFUT_EXCLUDE_OBJECTS=gamma_.o)" \
		"alpha alpha_leaf beta beta_leaf here main "
	is "a member of an archive" "$(callers LITIFUT_EXCLUDE_OBJECTS=alpha.o)" \
		"beta beta_leaf gamma_ gamma__leaf here main "
	for path in "$(pwd)/gamma_.o" "./../gamma_.o" "$(basename "$(pwd)")/gamma_.o" "*/gamma*.o"; do
		is "an object as $path" "$(callers LITIFUT_EXCLUDE_OBJECTS="$path")" \
			"alpha alpha_leaf beta beta_leaf here main "
	done
	is "not as that of another folder" "$(callers LITIFUT_EXCLUDE_OBJECTS=other/gamma_.o)" "$all"
	for linker in -fuse-ld=bfd -fuse-ld=gold; do
		is "an archive, $linker" "$(callers LITIFUT_EXCLUDE_LIBS=libgreek.a)" \
			"gamma_ gamma__leaf here main "
		is "the last object, $linker" "$(callers LITIFUT_EXCLUDE_OBJECTS=gamma_.o)" \
			"alpha alpha_leaf beta beta_leaf here main "
		archive=libthin.a
		is "a thin archive, $linker" "$(callers LITIFUT_EXCLUDE_LIBS="$(pwd)/libthin.a")" \
			"gamma_ gamma__leaf here main "
		archive=
	done
	linker=
	is "an archive" "$(callers LITIFUT_EXCLUDE_LIBS=libgreek.a)" "gamma_ gamma__leaf here main "
	is "an archive by its short name" "$(callers LITIFUT_EXCLUDE_LIBS=greek)" \
		"gamma_ gamma__leaf here main "
	is "LITIFUT_INCLUDE_OBJECTS" "$(callers LITIFUT_INCLUDE_OBJECTS=gamma_.o,alpha.o)" \
		"alpha alpha_leaf gamma_ gamma__leaf "
	is "LITIFUT_INCLUDE_LIBS" "$(callers LITIFUT_INCLUDE_LIBS=greek)" \
		"alpha alpha_leaf beta beta_leaf "
	is "LITIFUT_INCLUDE_LIBS less LITIFUT_EXCLUDE_OBJECTS" \
		"$(callers LITIFUT_INCLUDE_LIBS=greek LITIFUT_EXCLUDE_OBJECTS=beta.o)" "alpha alpha_leaf "
	callers LITIFUT_INCLUDE_OBJECTS=nosuch.o >/dev/null
	is "LITIFUT_INCLUDE_OBJECTS that nothing has" "$(grep -c 'INCLUDE_OBJECTS or LITIFUT_INCLUDE_LIBS' traced.log)" 1
	printf '%s\n' '# a comment' 'exclude_libs = greek' 'exclude = main' >config
	is "LITIFUT_CONFIG" "$(callers LITIFUT_CONFIG="$(pwd)/config")" "gamma_ gamma__leaf here "

	printf '\357\273\277exclude_libs = "greek" # quoted\r\nLITIFUT_EXCLUDE=main\r\n' >config
	is "LITIFUT_CONFIG of another editor" "$(callers LITIFUT_CONFIG="$(pwd)/config")" \
		"gamma_ gamma__leaf here "
	mkdir -p folder.config
	callers LITIFUT_CONFIG="$(pwd)/folder.config" >/dev/null
	is "LITIFUT_CONFIG is a folder" "$(cat traced.log)" \
		"litifut-ld: warning: $(pwd)/folder.config: can't be read: Is a directory"
	echo "dir = /tmp" >config
	callers LITIFUT_CONFIG="$(pwd)/config" >/dev/null
	is "a setting of the recorder there" "$(cat traced.log)" "litifut-ld: warning: $(pwd)/config:1: \
unknown key, ignored: dir; the recorder's settings go into \`defaults'"

	cat >recorder.c <<-'END'
		#include <litifut/litifut.h>
		#include <unistd.h>
		void litifut_record_trace(const struct litifut_call *call)
		{
			if (call->kind == LITIFUT_SITE_DIRECT)
				write(2, "*", 1);
		}
	END
	flags="-I$root/include -fPIC" compiler -c -o recorder.o recorder.c
	rm -rf traced && mkdir traced
	(cd traced && front="$BUILD/bin/litifut build -q --recorder ../recorder.o" compiler -o program \
		../main.o ../libgreek.a ../gamma_.o) >traced.log 2>&1
	ok "the user's own recorder: rewritten" rewritten traced/program
	run traced program
	ok "and it is called" grep -q '\*\*' traced.err
}

for_targets behaviour
