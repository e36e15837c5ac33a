#include "elf/file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static enum litifut_status refuse(struct litifut_error *error, enum litifut_status status,
				  const char *path, const char *what)
{
	return litifut_error_set(error, status, path, NULL, LITIFUT_NO_ADDRESS, "%s", what);
}

static enum litifut_status read_header(struct elf_file *file, const char *path,
				       struct litifut_error *error)
{
	GElf_Ehdr header;

	if (file->size < sizeof(Elf32_Ehdr) || memcmp(file->bytes, ELFMAG, SELFMAG) != 0)
		return refuse(error, LITIFUT_ERROR_FORMAT, path, "not an ELF file");
	if (file->bytes[EI_CLASS] != ELFCLASS32)
		return refuse(error, LITIFUT_ERROR_UNSUPPORTED, path, "not a 32-bit ELF file");
	elf_version(EV_CURRENT);
	errno = 0;
	file->elf = elf_memory((char *)file->bytes, file->size);
	if (!file->elf && errno == ENOMEM)
		return litifut_error_memory(error, path);
	if (!file->elf || elf_kind(file->elf) != ELF_K_ELF || !gelf_getehdr(file->elf, &header))
		return litifut_error_set(error, LITIFUT_ERROR_FORMAT, path, NULL,
					 LITIFUT_NO_ADDRESS, "damaged ELF header: %s",
					 elf_errmsg(-1));
	if (header.e_type != ET_EXEC && header.e_type != ET_DYN)
		return refuse(error, LITIFUT_ERROR_UNSUPPORTED, path,
			      "neither an executable nor a shared library");
	file->machine = header.e_machine;
	file->type = header.e_type;
	file->flags = header.e_flags;
	file->entry = (uint32_t)header.e_entry;
	file->data = header.e_ident[EI_DATA];
	file->osabi = header.e_ident[EI_OSABI];
	file->big_endian = file->data == ELFDATA2MSB;
	return LITIFUT_OK;
}

enum litifut_status elf_file_open_memory(struct elf_file *file, uint8_t *bytes, size_t size,
					 const char *path, struct litifut_error *error)
{
	enum litifut_status status;

	*file = (struct elf_file){.bytes = bytes, .size = size};
	status = read_header(file, path, error);
	if (status)
		elf_file_close(file);
	return status;
}

enum litifut_status elf_file_open(struct elf_file *file, const char *path,
				  struct litifut_error *error)
{
	struct stat about;
	int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	enum litifut_status status = LITIFUT_OK;

	*file = (struct elf_file){0};
	if (descriptor < 0 || fstat(descriptor, &about))
		status = litifut_error_set(error, LITIFUT_ERROR_IO, path, NULL, LITIFUT_NO_ADDRESS,
					   "cannot open: %s", strerror(errno));
	else if (!S_ISREG(about.st_mode))
		status = refuse(error, LITIFUT_ERROR_FORMAT, path, "not a regular file");
	else if (about.st_size < (off_t)sizeof(Elf32_Ehdr))
		status = refuse(error, LITIFUT_ERROR_FORMAT, path, "not an ELF file");
	if (!status) {
		file->size = (size_t)about.st_size;
		file->bytes =
			mmap(NULL, file->size, PROT_READ | PROT_WRITE, MAP_PRIVATE, descriptor, 0);
		file->mapped = file->bytes != MAP_FAILED;
		if (!file->mapped)
			status = litifut_error_set(error, LITIFUT_ERROR_IO, path, NULL,
						   LITIFUT_NO_ADDRESS, "cannot map: %s",
						   strerror(errno));
	}
	if (descriptor >= 0)
		close(descriptor);
	if (!status)
		status = read_header(file, path, error);
	if (status)
		elf_file_close(file);
	return status;
}

void elf_file_close(struct elf_file *file)
{
	if (file->elf)
		elf_end(file->elf);
	if (file->mapped)
		munmap(file->bytes, file->size);
	*file = (struct elf_file){0};
}

Elf_Data *elf_file_section(const struct elf_file *file, const char *name, GElf_Shdr *header)
{
	size_t names;
	Elf_Scn *section = NULL;

	if (elf_getshdrstrndx(file->elf, &names))
		return NULL;
	while ((section = elf_nextscn(file->elf, section))) {
		const char *own;

		if (!gelf_getshdr(section, header) || header->sh_type == SHT_NOBITS)
			continue;
		own = elf_strptr(file->elf, names, header->sh_name);
		if (own && !strcmp(own, name))
			return elf_getdata(section, NULL);
	}
	return NULL;
}

/* The build-id among the notes that begin at `offset` in the file. */
static const uint8_t *id_among(const struct elf_file *file, Elf_Data *notes, uint64_t offset,
			       size_t *bytes)
{
	GElf_Nhdr note;
	size_t name;
	size_t text;

	for (size_t at = 0, next; notes && (next = gelf_getnote(notes, at, &note, &name, &text));
	     at = next)
		if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && note.n_descsz &&
		    !memcmp((char *)notes->d_buf + name, "GNU", 4) && offset <= file->size &&
		    text + note.n_descsz <= file->size - offset) {
			*bytes = note.n_descsz;
			return file->bytes + offset + text;
		}
	return NULL;
}

const uint8_t *elf_file_build_id(const struct elf_file *file, size_t *bytes)
{
	const uint8_t *id = NULL;
	Elf_Scn *section = NULL;
	size_t count = 0;

	while (!id && (section = elf_nextscn(file->elf, section))) {
		GElf_Shdr header;

		if (gelf_getshdr(section, &header) && header.sh_type == SHT_NOTE)
			id = id_among(file, elf_getdata(section, NULL), header.sh_offset, bytes);
	}
	/* A file without section headers has its notes in a segment. */
	if (id || elf_getphdrnum(file->elf, &count))
		return id;
	for (size_t i = 0; i < count && !id; i++) {
		GElf_Phdr segment;

		if (gelf_getphdr(file->elf, (int)i, &segment) && segment.p_type == PT_NOTE)
			id = id_among(file,
				      elf_getdata_rawchunk(file->elf, (int64_t)segment.p_offset,
							   segment.p_filesz, ELF_T_NHDR),
				      segment.p_offset, bytes);
	}
	return id;
}

const char *elf_file_dynamic_text(const struct elf_file *file, int64_t tag, size_t index)
{
	Elf_Scn *section = NULL;

	while ((section = elf_nextscn(file->elf, section))) {
		Elf_Data *data;
		GElf_Shdr header;
		GElf_Dyn entry;

		if (!gelf_getshdr(section, &header) || header.sh_type != SHT_DYNAMIC)
			continue;
		data = elf_getdata(section, NULL);
		if (!data)
			return NULL;
		for (int i = 0; gelf_getdyn(data, i, &entry) && entry.d_tag != DT_NULL; i++)
			if (entry.d_tag == tag && !index--)
				return elf_strptr(file->elf, header.sh_link, entry.d_un.d_val);
		return NULL;
	}
	return NULL;
}

const char *elf_file_soname(const struct elf_file *file)
{
	const char *name = elf_file_dynamic_text(file, DT_SONAME, 0);

	return name ? name : "";
}
