#include "postproc/energy/members.h"

#include <archive.h>
#include <archive_entry.h>
#include <stdio.h>

bool energy_members_open(struct energy_members *members, const struct energy_input *input)
{
	struct archive *archive = archive_read_new();

	*members = (struct energy_members){.archive = archive};
	if (!archive)
		return false;
	archive_read_support_format_zip(archive);
	if (archive_read_open_memory(archive, input->bytes, input->size) == ARCHIVE_OK)
		return true;
	energy_members_close(members);
	return false;
}

void energy_members_close(struct energy_members *members)
{
	if (members->archive)
		archive_read_free(members->archive);
	members->archive = NULL;
}

static void damaged(struct energy_members *members, struct energy_builder *builder)
{
	const char *cause = archive_error_string(members->archive);

	energy_builder_fail(builder, LITIFUT_ERROR_FORMAT, "%s: the zip archive is damaged: %s",
			    members->name, cause ? cause : "unknown cause");
}

bool energy_members_next(struct energy_members *members, struct energy_builder *builder)
{
	struct archive_entry *entry;
	int status = archive_read_next_header(members->archive, &entry);

	if (status == ARCHIVE_EOF)
		return false;
	if (status != ARCHIVE_OK && status != ARCHIVE_WARN) {
		damaged(members, builder);
		return false;
	}
	const char *name = archive_entry_pathname(entry);
	snprintf(members->name, sizeof(members->name), "%s", name ? name : "");
	return true;
}

size_t energy_members_read(struct energy_members *members, void *bytes, size_t size,
			   struct energy_builder *builder)
{
	size_t done = 0;

	while (done < size) {
		la_ssize_t got =
			archive_read_data(members->archive, (char *)bytes + done, size - done);
		if (got < 0)
			damaged(members, builder);
		if (got <= 0)
			break;
		done += (size_t)got;
	}
	return done;
}

char *energy_members_text(struct energy_members *members, char *text, size_t size,
			  struct energy_builder *builder)
{
	text[energy_members_read(members, text, size - 1, builder)] = '\0';
	return text;
}
