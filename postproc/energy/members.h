/* The members of a zip archive that is in memory, one after another. */
#ifndef LITIFUT_POSTPROC_ENERGY_MEMBERS_H
#define LITIFUT_POSTPROC_ENERGY_MEMBERS_H

#include "postproc/energy/reader.h"

struct energy_members {
	void *archive;
	char name[128]; /* of the member that is open */
};

bool energy_members_open(struct energy_members *members, const struct energy_input *input);
void energy_members_close(struct energy_members *members);

/* The next member, or false at the end. Damage is an error of the builder. */
bool energy_members_next(struct energy_members *members, struct energy_builder *builder);

/* Unpacks the next bytes of the member: as many as there are, up to `size`. */
size_t energy_members_read(struct energy_members *members, void *bytes, size_t size,
			   struct energy_builder *builder);

/* The whole of a short text member, with a zero behind it. Returns `text`. */
char *energy_members_text(struct energy_members *members, char *text, size_t size,
			  struct energy_builder *builder);

#endif
