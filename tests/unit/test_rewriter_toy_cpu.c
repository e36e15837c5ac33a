/* The smallest CPU that the rewriter can serve, which no other file names: its image gets its
 * calls patched with nothing but the members that docs/porting.md asks for. This program is
 * linked without any real CPU, so no generic code depends on one.
 *
 * An instruction of it is a little-endian word: 0xca in the upper byte is a call, 0xb0 a
 * branch, by the signed number of words in the other three, counted from the instruction. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <elf.h>
#include <litifut/module_format.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/bytes.h"
#include "elf/sections.h"
#include "rewriter/arch.h"
#include "rewriter/rewriter.h"

#define EM_TOY 0x7070
#define CALL 0xcau
#define BRANCH 0xb0u

static unsigned decode(const struct cpu_context *context, const uint8_t *code, size_t available,
		       uint32_t address, enum litifut_code_state state,
		       struct litifut_instruction *instruction)
{
	(void)state;
	*instruction = (struct litifut_instruction){.length = 4};
	if (available < 4)
		return 0;
	instruction->word = litifut_get32(context->big_endian, code);
	instruction->target =
		address + ((instruction->word << 8 & 0x80000000 ? instruction->word | 0xff000000
								: instruction->word & 0xffffff)
			   << 2);
	if (instruction->word >> 24 == CALL)
		instruction->class = LITIFUT_CLASS_CALL_DIRECT;
	else if (instruction->word >> 24 == BRANCH)
		instruction->class = LITIFUT_CLASS_BRANCH_DIRECT;
	return 4;
}

static uint32_t return_address(const struct litifut_instruction *instruction, uint32_t address)
{
	return address + instruction->length;
}

static uint32_t reach(const struct cpu_context *context,
		      const struct litifut_instruction *instruction)
{
	(void)context;
	(void)instruction;
	return UINT32_C(0x1fffff0);
}

static bool encode_call(const struct cpu_context *context,
			const struct litifut_instruction *instruction, uint32_t address,
			uint32_t entry, uint8_t *code)
{
	(void)instruction;
	litifut_put32(context->big_endian, code, CALL << 24 | ((entry - address) >> 2 & 0xffffff));
	return true;
}

static struct litifut_lead follow(const struct litifut_code_reader *code, uint32_t address)
{
	(void)code;
	(void)address;
	return (struct litifut_lead){LITIFUT_LEADS_NOWHERE, 0, 0};
}

static const struct cpu toy = {
	.machine = EM_TOY,
	.name = "toy",
	.title = "Toy",
	.linkage = {.jump_slot = 1, .global_data = 2, .follow = follow},
	.decode = decode,
	.return_address = return_address,
	.reach = reach,
	.encode_call = encode_call,
};

static enum litifut_status code_ranges(const struct litifut_image *image,
				       const struct litifut_section *section,
				       struct litifut_code_range **ranges, size_t *count,
				       struct litifut_error *error)
{
	(void)image;
	(void)error;
	*ranges = malloc(sizeof(**ranges));
	**ranges = (struct litifut_code_range){section->address, section->address + section->size,
					       LITIFUT_CODE_PLAIN};
	*count = 1;
	return LITIFUT_OK;
}

static const struct litifut_arch arch = {
	.cpu = &toy, .entry_names = {"litifut_stub"}, .entry_count = 1, .code_ranges = code_ranges};

const struct litifut_arch *litifut_arch_find(unsigned machine)
{
	return machine == EM_TOY ? &arch : NULL;
}

enum { TEXT = 0x10000, MAIN = TEXT, CALLEE = TEXT + 0x20, STUB = TEXT + 0x30 };
enum { SECTION_TEXT = 1, SECTION_MODULE, SECTION_DB, SECTION_SITES, SECTIONS = 8 };

/* The image, as a linker would have made it. */
struct file {
	Elf32_Ehdr header;
	Elf32_Phdr segment;
	Elf32_Shdr sections[SECTIONS];
	uint32_t text[16];
	struct litifut_module module;
	struct litifut_db_header db;
	struct litifut_db_entry entries[4];
	struct litifut_sites_header sites;
	Elf32_Sym symbols[6];
	char names[96];
	char section_names[96];
};

static uint32_t add_name(char *names, const char *name)
{
	uint32_t at = 1;

	while (names[at])
		at += (uint32_t)strlen(names + at) + 1;
	strcpy(names + at, name);
	return at;
}

static void add_section(struct file *file, unsigned number, const char *name, uint32_t type,
			uint32_t flags, size_t offset, size_t size)
{
	file->sections[number] = (Elf32_Shdr){
		.sh_name = add_name(file->section_names, name),
		.sh_type = type,
		.sh_flags = flags,
		.sh_addr = flags & SHF_ALLOC ? TEXT + (uint32_t)offset - offsetof(struct file, text)
					     : 0,
		.sh_offset = (uint32_t)offset,
		.sh_size = (uint32_t)size,
		.sh_addralign = 4};
}

static void add_symbol(struct file *file, unsigned number, const char *name, unsigned type,
		       unsigned section, uint32_t address, uint32_t size)
{
	file->symbols[number] = (Elf32_Sym){.st_name = add_name(file->names, name),
					    .st_value = address,
					    .st_size = size,
					    .st_info = ELF32_ST_INFO(STB_GLOBAL, type),
					    .st_shndx = (Elf32_Section)section};
}

#define ADD(number, name, type, flags, member)                                                     \
	add_section(file, number, name, type, flags, offsetof(struct file, member),                \
		    sizeof(file->member))

static void fill(struct file *file)
{
	memset(file, 0, sizeof(*file));
	file->header = (Elf32_Ehdr){.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS32,
						ELFDATA2LSB, EV_CURRENT},
				    .e_type = ET_EXEC,
				    .e_machine = EM_TOY,
				    .e_version = EV_CURRENT,
				    .e_entry = MAIN,
				    .e_phoff = offsetof(struct file, segment),
				    .e_shoff = offsetof(struct file, sections),
				    .e_ehsize = sizeof(Elf32_Ehdr),
				    .e_phentsize = sizeof(Elf32_Phdr),
				    .e_phnum = 1,
				    .e_shentsize = sizeof(Elf32_Shdr),
				    .e_shnum = SECTIONS,
				    .e_shstrndx = 7};
	file->segment = (Elf32_Phdr){.p_type = PT_LOAD,
				     .p_offset = offsetof(struct file, text),
				     .p_vaddr = TEXT,
				     .p_filesz = offsetof(struct file, symbols),
				     .p_memsz = offsetof(struct file, symbols),
				     .p_flags = PF_R | PF_X};
	file->text[1] = CALL << 24 | 7; /* to the callee */
	file->text[2] = CALL << 24 | 6;
	file->text[3] = BRANCH << 24 | 5; /* a tail call */
	file->module.magic = LITIFUT_MODULE_MAGIC;
	file->module.version = LITIFUT_MODULE_VERSION_WORD;
	ADD(SECTION_TEXT, ".text", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, text);
	ADD(SECTION_MODULE, LITIFUT_SECTION_MODULE, SHT_PROGBITS, SHF_ALLOC | SHF_WRITE, module);
	ADD(SECTION_DB, LITIFUT_SECTION_DB, SHT_PROGBITS, SHF_ALLOC, db);
	file->sections[SECTION_DB].sh_size += sizeof(file->entries);
	ADD(SECTION_SITES, LITIFUT_SECTION_SITES, SHT_PROGBITS, 0, sites);
	ADD(5, ".symtab", SHT_SYMTAB, 0, symbols);
	file->sections[5].sh_link = 6;
	file->sections[5].sh_entsize = sizeof(Elf32_Sym);
	ADD(6, ".strtab", SHT_STRTAB, 0, names);
	ADD(7, ".shstrtab", SHT_STRTAB, 0, section_names);
	add_symbol(file, 1, "main", STT_FUNC, SECTION_TEXT, MAIN, 0x20);
	add_symbol(file, 2, "callee", STT_FUNC, SECTION_TEXT, CALLEE, 0x10);
	add_symbol(file, 3, "litifut_stub", STT_FUNC, SECTION_TEXT, STUB, 0x10);
	add_symbol(file, 4, "litifut_module", STT_OBJECT, SECTION_MODULE,
		   file->sections[SECTION_MODULE].sh_addr, sizeof(struct litifut_module));
}

static void its_calls_are_patched(void **state)
{
	const struct litifut_rewrite_options options = {.engine = LITIFUT_ENGINE_DB,
							.tail_calls = true};
	struct litifut_rewrite_summary summary;
	struct litifut_rewrite_plan plan;
	struct litifut_module_info info;
	struct litifut_error error = {0};
	char path[] = "/tmp/litifut-toy-XXXXXX";
	int descriptor = mkstemp(path);
	struct file file;

	(void)state;
	fill(&file);
	assert_true(descriptor >= 0);
	assert_int_equal(write(descriptor, &file, sizeof(file)), sizeof(file));
	assert_int_equal(litifut_rewrite_plan(path, &options, &plan, &error), LITIFUT_OK);
	assert_true(plan.sites >= 2);
	assert_int_equal(plan.island_count, 0);
	litifut_rewrite_plan_release(&plan);
	assert_int_equal(litifut_rewrite_apply(path, &options, &summary, &error), LITIFUT_OK);
	assert_int_equal(summary.patched, 2);

	assert_int_equal(pread(descriptor, &file, sizeof(file), 0), sizeof(file));
	assert_int_equal(file.text[0], 0);
	assert_int_equal(file.text[1], CALL << 24 | (STUB - MAIN - 4) / 4);
	assert_int_equal(file.text[2], CALL << 24 | (STUB - MAIN - 8) / 4);
	assert_int_equal(file.text[3], BRANCH << 24 | 5); /* needs a trampoline */
	assert_int_equal(file.db.count, 2);
	assert_int_equal(file.entries[1].return_address, MAIN + 12);
	assert_int_equal(file.entries[1].instruction, CALL << 24 | 6);

	assert_int_equal(litifut_module_info_read(path, &info, &error), LITIFUT_OK);
	assert_true(info.rewritten);
	assert_int_equal(info.site_count, 2);
	assert_int_equal(info.sites[0].callee, CALLEE);
	litifut_module_info_release(&info);
	close(descriptor);
	unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(its_calls_are_patched)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
