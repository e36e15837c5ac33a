#!/bin/sh
# What a user meets before any output: completion in the shells, help, suggestions, archives of a stick,
# files that serve nothing, the version, what `make install` and `make dist` leave.
. "$(dirname "$0")/../lib.sh"
few_targets armhf mips

post=$BUILD/bin/litifut-post

# in_bash PROGRAM WORD...: what bash offers for the last word
in_bash()
{
	# shellcheck disable=SC2016
	bash -c '. "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMPREPLY=()
		"_$(echo "$1" | tr - _)"; printf "%s\n" "${COMPREPLY[@]}"' bash "$1.bash" "$@" | sort | xargs
}

own_programs()
{
	mkdir -p own && touch own/my-program own/no-such-cpu-linux-ld && chmod +x own/*
}

bash_completes()
{
	"$post" --completion bash >litifut-post.bash &&
		"$BUILD/bin/litifut" --completion bash >litifut.bash || return
	mkdir -p some/folder && touch some/file && own_programs
	equal "$(in_bash litifut-post --so)" "--sort --source" &&
		equal "$(in_bash litifut-post --sort ma)" "made max" &&
		equal "$(in_bash litifut-post -f perf)" "perfetto" &&
		equal "$(in_bash litifut-post to)" "top" &&
		equal "$(in_bash litifut-post cal)" "callees-of callers-of callgrind calls" &&
		equal "$(in_bash litifut-post html --source some/)" "some/folder" &&
		equal "$(in_bash litifut-post calls some/)" "some/file some/folder" &&
		equal "$(in_bash litifut b)" "build" &&
		equal "$(in_bash litifut-post --sort = ma)" "made max" &&
		equal "$(in_bash litifut-post --color =)" "always auto never" &&
		equal "$(in_bash litifut control some/ sta)" "start status" &&
		equal "$(in_bash litifut control some/)" "some/file some/folder" &&
		equal "$(PATH=$PWD/own:$PATH in_bash litifut build --config = x -x y my-pro)" "my-program" &&
		equal "$(in_bash litifut build -q make some/fi)" "some/file" &&
		equal "$(PATH=$PWD/own:$PATH in_bash litifut install-ld no-such-cpu)" "no-such-cpu-linux" &&
		equal "$(in_bash litifut info --s)" "--sites --skipped" &&
		equal "$(in_bash litifut build --re)" "--recorder"
}

fish_completes()
{
	own_programs
	"$post" --completion fish >litifut-post.fish && "$BUILD/bin/litifut" --completion fish >litifut.fish &&
		HOME=$(pwd) fish -N -c 'source litifut-post.fish; source litifut.fish
			complete -C "litifut-post --sour"; complete -C "litifut-post -f perf"
			complete -C "litifut inf"; complete -C "litifut-post --color="
			complete -C "litifut control . sta"; set -p PATH $PWD/own
			complete -C "litifut build my-pro"; complete -C "litifut install-ld no-such"' >offered 2>fish.err
	[ ! -s fish.err ] && grep "^--color=always" offered && ! grep "^--color=own" offered && grep "^status" offered && grep "^my-program" offered &&
		grep "^no-such-cpu-linux" offered && grep '^--source' offered && grep '^perfetto' offered && grep '^info' offered
}

# zsh asks its completion from a terminal only; the script must be one, and define what zsh calls
zsh_reads()
{
	for program in litifut-post litifut; do
		"$BUILD/bin/$program" --completion zsh >_$program && zsh -n _$program &&
			head -n 1 _$program | grep "^#compdef $program\$" || return
	done
	own_programs
	PATH=$PWD/own:$PATH zsh -f -c 'autoload -U compinit; fpath=(. $fpath); compinit -u -D; [[ $_comps[litifut-post] == _litifut-post ]]
		function _arguments { print -r -- "$@"; [[ ${@[-1]} != *{* ]] || eval "${@[-1]#*:word:}" }
		function compadd { print -l -- "$@" }; function _files { }; words=(litifut-post ""); CURRENT=3
		autoload +X -U _litifut-post && _litifut-post
		words=(litifut control . ""); CURRENT=4; autoload +X -U _litifut && _litifut
		words=(litifut build ""); CURRENT=3; _litifut; words=(litifut install-ld ""); CURRENT=3; _litifut' >arguments &&
		grep -- '--source=' arguments && grep -F '1:word:_files *:word:(start stop snapshot reset status)' arguments &&
		grep -F '(-)1:word:_command_names -e *::word:_normal' arguments && grep '^no-such-cpu-linux$' arguments
}

helps()
{
	"$post" diff --help | grep -- --min && "$post" --help report | grep -- --phase &&
		! "$post" report --help | grep -- --pdf &&
		"$post" --sourc 2>&1 | grep 'missing behind --sourc' &&
		"$post" --souce x 2>&1 | grep 'did you mean --source' &&
		"$post" -f perfeto x 2>&1 | grep 'did you mean perfetto'
}

same_calls()
{
	"$post" -q calls "$@" >got.calls 2>got.err && [ ! -s got.err ] && diff expected.calls got.calls
}

archives()
{
	"$post" -q calls data traced/program >expected.calls && [ -s expected.calls ] || return
	TMPDIR=$(pwd)/room
	export TMPDIR
	mkdir -p room
	tar cf stick.tar data traced && gzip -k stick.tar && zstd -q stick.tar && xz -k stick.tar &&
		python3 -m zipfile -c stick.zip data traced || return
	for archive in stick.tar stick.tar.gz stick.tar.zst stick.tar.xz stick.zip; do
		same_calls $archive || return
	done
	# names that would leave the folder stay in it
	python3 - <<-'END'
		import io, tarfile
		with tarfile.open("evil.tar", "w") as tar:
		    for name in "../../escaped", "/escaped", "a/..":
		        about = tarfile.TarInfo(name)
		        about.size = 4
		        tar.addfile(about, io.BytesIO(b"evil"))
		    tar.add("data")
		    tar.add("traced")
	END
	same_calls evil.tar && [ ! -e escaped ] && [ ! -e ../escaped ] && [ ! -e /escaped ] || return
	size=$(wc -c <stick.tar.gz)
	head -c $((size / 2)) stick.tar.gz >cut.tar.gz
	"$post" -q calls cut.tar.gz >cut.calls 2>cut.err
	[ $? = 1 ] && grep 'cut.tar.gz: .*what came before in the archive is read' cut.err || return
	"$post" -q --max-unpacked 1K calls stick.tar 2>&1 | grep 'larger than --max-unpacked' || return
	[ -z "$(ls room)" ]
}

tells_of_needless_files()
{
	case $cpu in
	arm*) other=/usr/mips-linux-gnu/lib/libc.so.6 is=mips other_cpu=MIPS own_cpu=ARM ;;
	*) other=/usr/arm-linux-gnueabihf/lib/libc.so.6 is=arm other_cpu=ARM own_cpu=MIPS ;;
	esac
	"$post" edges data traced/program plain/program "$other" 2>err >/dev/null || return
	grep "plain/program: another build of program than the one that was traced (build-id .* in the file), left out: traced/program is the one\$" err && grep "libc.so.6 was not needed: it is for $is, and no trace is" err &&
		! grep '^litifut-post: traced/program' err || return
	"$post" edges --no-maps-paths data "$other" 2>err >/dev/null
	equal "$(grep -c libc err)" 1 && grep "libc.so.6 is for $other_cpu, and the trace is of $own_cpu\$" err
}

# Names of a stripped file come from a server of debug files.
asks_a_server()
{
	cp traced/program stripped && "$triplet-strip" stripped || return
	id=$(readelf -n traced/program | sed -n 's/.*Build ID: //p')
	mkdir -p "served/buildid/$id" && cp traced/program "served/buildid/$id/debuginfo"
	python3 - "$post" <<-'END'
		import functools, http.server, os, subprocess, sys, threading
		handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory="served")
		handler.log_message = lambda *a: None
		server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
		threading.Thread(target=server.serve_forever, daemon=True).start()
		environment = dict(os.environ, DEBUGINFOD_CACHE_PATH=os.path.abspath("cache"), no_proxy="127.0.0.1",
		    DEBUGINFOD_URLS="http://127.0.0.1:%d/" % server.server_port)
		run = lambda **more: subprocess.run([sys.argv[1], "-q", "--no-maps-paths", "edges", "data", "stripped"],
		    stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, **more).stdout
		assert "main -> leaf" in run(env=environment), run(env=environment)
		assert "main -> leaf" not in run()
		server.shutdown()
	END
}

installs()
{
	make -s -C "$root" BUILD="$BUILD" install DESTDIR="$(pwd)/installed" PREFIX=/usr &&
		PKG_CONFIG_LIBDIR=installed/usr/lib/pkgconfig pkg-config --modversion litifut | grep '^[0-9]' &&
		PKG_CONFIG_LIBDIR=installed/usr/lib/pkgconfig PKG_CONFIG_SYSROOT_DIR=$(pwd)/installed \
			pkg-config --variable=tracerdir litifut | grep '/usr/lib/litifut$' &&
		[ -s installed/usr/share/bash-completion/completions/litifut ] &&
		[ -s installed/usr/share/zsh/site-functions/_litifut-post ] &&
		[ -s installed/usr/share/fish/vendor_completions.d/litifut-post.fish ] &&
		make -s -C "$root" BUILD="$BUILD" uninstall DESTDIR="$(pwd)/installed" PREFIX=/usr &&
		[ -z "$(find installed 2>/dev/null)" ]
}

# The archive has what is committed, and its version names the commit.
distributes()
{
	XZ_OPT=-0 make -s -C "$root" BUILD="$(pwd)/made" dist >dist.log 2>&1 &&
		xz -dc made/litifut-*.tar.xz | tar tf - >names && grep '/Makefile$' names && grep '/commit$' names &&
		equal "$(xz -dc made/litifut-*.tar.xz | tar xOf - --wildcards '*/commit')" \
			"$(git -C "$root" rev-parse --short=10 HEAD)"
}

# `| head` ends the reading: the number of calls until then is not that of the run
says_when_cut()
{
	rm -rf many
	guest_environment="LITIFUT_DIR=$(pwd)/many" run traced program more
	"$post" calls many traced/program 2>whole.err >whole.calls &&
		"$post" calls many traced/program 2>cut.err | head -n 1 >/dev/null &&
		"$post" report many traced/program 2>small.err | head -n 1 >/dev/null || return
	grep '^litifut-post: 200[0-9][0-9] calls' whole.err && grep '^litifut-post: 200[0-9][0-9] calls' small.err &&
		grep '^litifut-post: only a part was read, as the output ended early: [0-9]* calls' cut.err
}

# linked FOLDER FLAG...: main.o as FOLDER/program, with the settings of the environment
linked()
{
	folder=$1
	shift
	mkdir -p "$folder" && front="$BUILD/bin/litifut build -q" compiler -o "$folder/program" main.o "$@"
}

id_of()
{
	"$BUILD/bin/litifut" info "$1/program" | sed -n 's/^ *build-id *//p'
}

# What the two links have in common says nothing of where the trace leads.
uses_the_right_build()
{
	rm -rf right again other ran
	compiler -c -o main.o main.c && linked right && LITIFUT_DEFAULTS=LITIFUT_FILE=write linked again &&
		LITIFUT_EXCLUDE=leaf linked other || return
	[ -n "$(id_of right)" ] && equal "$(id_of right)" "$(id_of again)" && [ "$(id_of right)" != "$(id_of other)" ] &&
		equal "$(readelf -n other/program | sed -n 's/.*Build ID: //p')" "$(id_of other)" || return
	guest_environment="LITIFUT_DIR=$(pwd)/ran" run right program || return
	for folder in right again other; do
		"$post" --no-maps-paths "$1" ran $folder/program >$folder.shown 2>$folder.err
		echo "$folder $?"
	done >statuses
	equal "$(xargs <statuses)" "right 0 again 0 other 1" && grep "$2" right.shown &&
		diff right.shown again.shown && ! grep "$2" other.shown &&
		equal "$(grep -c other/program other.err)" 1 && ! grep coroutine other.err &&
		grep 'other/program: another build of program .* or with other settings' other.err || return
	# the debug file of the one fits to it alone
	"$triplet-objcopy" --only-keep-debug right/program right.debug && "$triplet-strip" again/program other/program &&
		"$post" --no-maps-paths "$1" ran again/program right.debug 2>/dev/null | diff right.shown - || return
	# also where nothing is in the file that the linker has made of it
	linked right -Wl,--build-id=none && LITIFUT_EXCLUDE=leaf linked other -Wl,--build-id=none &&
		[ -n "$(id_of right)" ] && [ "$(id_of right)" != "$(id_of other)" ]
}

# on_terminal CODE ARGUMENT...: python that has `terminal`, with the program on it. Its clock says that a second has
# gone by whenever it asks, and the tenth time it is stopped, until go_on().
on_terminal()
{
	code=$1
	shift
	cat >slow.c <<-'END'
		#include <signal.h>
		#include <sys/syscall.h>
		#include <time.h>
		#include <unistd.h>
		int clock_gettime(clockid_t id, struct timespec *time)
		{
			static int calls;
			long status = syscall(SYS_clock_gettime, id, time);
			time->tv_sec += ++calls;
			if (calls == 10)
				raise(SIGSTOP);
			return (int)status;
		}
	END
	"${CC:-cc}" -shared -fPIC -o slow.so slow.c && mkdir -p many && touch many/1 many/2 many/3 many/4 many/5 many/6 many/7 many/8 \
		many/9 many/10 many/11 || return
	PAGER='sed s/^/paged:/' PYTHONPATH=$root/tests PYTHONDONTWRITEBYTECODE=1 /usr/bin/python3 - "$PWD/slow.so" "$post" "$@" \
		many data traced/program <<-END
		import glob, os, signal, sys, time
		from terminal import Terminal
		with Terminal(["env", "LD_PRELOAD=" + sys.argv[1]] + sys.argv[2:]) as terminal:
		    go_on = lambda: os.kill(terminal.child, signal.SIGCONT)
		    looks = lambda: any("files looked at" in line for line in terminal.lines())
		    def waits_for_interrupt(): # the kernel passes on what is typed a little later
		        end = time.monotonic() + 60
		        pending = lambda: open(f"/proc/{terminal.child}/status").read().split("ShdPnd:")[1].split()[0]
		        while not int(pending(), 16) & 1 << signal.SIGINT - 1:
		            assert time.monotonic() < end, "no interrupt has come"
		            time.sleep(0.01)
		    os.waitid(os.P_PID, terminal.child, os.WSTOPPED)
		    terminal.see("files looked at")
		    $code
		    assert not looks(), terminal.lines()
	END
}

shows_progress_before_pager()
{
	on_terminal 'go_on(); terminal.see("paged:"); terminal.ends()' edges
}

# The clock of this one says that five seconds have gone by whenever it asks, so that progress is always shown.
shows_progress_of_paths()
{
	printf '%s\n' '#include <time.h>' 'int clock_gettime(clockid_t id, struct timespec *time)' \
		'{ static int calls; time->tv_sec = id + 5 * ++calls; time->tv_nsec = 0; return 0; }' >fast.c
	"${CC:-cc}" -shared -fPIC -o fast.so fast.c || return
	for format in report html "callers-of leaf" "path-diff ran"; do
		script -qec "LD_PRELOAD=$PWD/fast.so '$post' $format -o walked.out ran right/program" log >/dev/null </dev/null
		grep '[0-9]% of 0 MiB \[' log || return
	done
}

leaves_nothing_when_interrupted()
{
	on_terminal 'assert len(glob.glob("new.out*")) == 1, glob.glob("new.out*")
    terminal.type("\x03"); waits_for_interrupt(); go_on(); assert terminal.ends() == -2
    assert not glob.glob("new.out*")' edges -o new.out
}

# As another user: traces can be read by nobody else. In a folder that all can reach.
tells_of_permissions()
{
	place=$(mktemp -d) || return
	chmod 755 "$place"
	cp "$post" "$place/post" && cp -r data traced/program "$place" || return
	chmod -R go+rX "$place/data"
	chmod 600 "$place"/data/trace/*.trace "$place"/data/maps/*.maps
	setpriv --reuid 65534 --regid 65534 --clear-groups "$place/post" -f edges "$place/data" "$place/program" 2>&1 >/dev/null |
		tee permissions.words >&2
	chmod 644 "$place"/data/trace/*.trace
	setpriv --reuid 65534 --regid 65534 --clear-groups "$place/post" -f edges "$place/data" "$place/program" 2>&1 >/dev/null |
		tee permissions.maps >&2
	rm -r "$place"
	grep -q '\.trace: there is no permission to read it$' permissions.words &&
		grep -q '\.maps: there is no permission to read it$' permissions.maps
}

behaviour()
{
	cat >main.c <<-'END'
		#include <stdio.h>
		__attribute__((noipa)) int leaf(int n) { return printf("%d\n", n); }
		__attribute__((noipa)) int quiet(int n) { return n + 1; }
		int main(int count, char **arguments)
		{
			(void)arguments;
			for (int i = 0; count > 1 && i < 20000;)
				i = quiet(i);
			return leaf(1) + leaf(2) == 0;
		}
	END
	link program ../main.c || return
	same_run program
	ok "a reader that has seen enough: the summary says that it is of a part" says_when_cut
	ok "archives of a stick are read as they are" archives
	ok "files that served nothing are named" tells_of_needless_files
	if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
		ok "files that this user may not read" tells_of_permissions
	else
		skip "files that this user may not read" "not root, or no setpriv"
	fi
	export LITIFUT_MODE=spans
	ok "spans: a file that was linked with other settings is not used" uses_the_right_build edges 'main -> leaf'
	LITIFUT_MODE=paths
	ok "paths: a file that was linked with other settings is not used" uses_the_right_build path leaf
	ok "and the walk along them shows how far it is" shows_progress_of_paths
	unset LITIFUT_MODE
	[ -z "${once:-}" ] || return 0
	once=yes
	ok "progress is shown until the pager has something" shows_progress_before_pager
	ok "ctrl-C leaves neither that line nor a part of the output" leaves_nothing_when_interrupted
	if ldconfig -p | grep -q 'libdebuginfod\.so\.1'; then
		ok "debug files come from a server that the user names" asks_a_server
	else
		skip "debug files from a server" "libdebuginfod is not installed"
	fi
	ok "bash completes options, values, formats, commands, files" bash_completes
	if command -v fish >/dev/null; then
		ok "fish completes" fish_completes
	else
		skip "fish completes" "fish is not installed"
	fi
	if command -v zsh >/dev/null; then
		ok "zsh reads its completion" zsh_reads
	else
		skip "zsh reads its completion" "zsh is not installed"
	fi
	ok "help of a command, suggestions for what is misspelt" helps
	ok "make install has completion and pkg-config, make uninstall leaves nothing" installs
	if git -C "$root" rev-parse HEAD >/dev/null 2>&1; then
		ok "make dist" distributes
		ok "the version names the commit" sh -c '"$0" --version | grep -E "\([0-9a-f]{10}\)"' "$post"
	else
		skip "make dist" "this is not a git working copy"
	fi
}
for_targets behaviour
