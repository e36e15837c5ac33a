/* Islands inside the image's own code.
 *
 * The linker puts an island only between two of its input sections. A single
 * object can be larger than the reach of a branch (sqlite3.c on MIPS: 1 MB,
 * +-128 KB), and an archive or a `ld -r` object is one input. There the first
 * instructions of a function are moved into a trampoline, and its start becomes
 * a jump to that, followed by a piece of an island. Which functions can do this is
 * decided by looking at their code; a function that can is called a host. The pieces
 * of an island are in hosts close to each other. */
#ifndef LITIFUT_REWRITER_HOSTS_H
#define LITIFUT_REWRITER_HOSTS_H

#include <stddef.h>

#include "rewriter/session.h"

struct litifut_host {
	uint32_t pieces[LITIFUT_HOST_PIECES]; /* address of the host of each; 0: none */
};

struct litifut_hosts {
	struct litifut_host *items; /* ascending by their first piece */
	size_t count;
};

/* The hosts that bring the sites which now reach no landing of `session` within
 * reach of one, as few as a walk upwards finds; none when every site reaches
 * one. Release with litifut_hosts_release(). */
enum litifut_status litifut_hosts_choose(const struct litifut_session *session,
					 const struct litifut_rewrite_options *options,
					 struct litifut_hosts *hosts, struct litifut_error *error);

/* Does the site, as it stands, reach neither the tracer nor a landing of `session`? */
bool litifut_hosts_is_far(const struct litifut_session *session,
			  const struct litifut_found_site *site);

/* Bytes that the trampolines of one host's pieces take. */
size_t litifut_hosts_trampoline_bytes(const struct litifut_arch *arch);

void litifut_hosts_release(struct litifut_hosts *hosts);

#endif
