/* Checking what the rewriter did, by other means than it did it: the untouched
 * file on disk says what must not have changed, capstone says what the new
 * instructions are. */
#include "rewriter/verify.h"

#include <capstone/capstone.h>
#include <elf.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* How many of the new calls capstone is asked about, evenly spread: it takes ten
 * times as long for one as all else together, and a mistake is no rare one. */
#define DISASSEMBLED 20000

/* Compares [from, to) of the section with the bytes on disk. */
static enum litifut_status compare_piece(const struct litifut_session *session,
					 const struct litifut_section *section,
					 const uint8_t *before, uint32_t from, uint32_t to,
					 struct litifut_error *error)
{
	if (from >= to || memcmp(section->bytes + from, before + from, to - from) == 0)
		return LITIFUT_OK;
	while (section->bytes[from] == before[from])
		from++;
	return litifut_error_set(error, LITIFUT_ERROR_INTERNAL, session->image.path, section->name,
				 section->address + from,
				 "a byte that is no call site was changed");
}

/* The first of the changes, which are sorted, at `address` or above. */
static size_t first_at(const struct litifut_change *changes, size_t count, uint32_t address)
{
	size_t low = 0;
	size_t high = count;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (changes[middle].address < address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static enum litifut_status compare_section(const struct litifut_session *session,
					   const struct litifut_section *section,
					   const uint8_t *disk,
					   const struct litifut_change *changes, size_t count,
					   struct litifut_error *error)
{
	const uint8_t *before = disk + (section->bytes - session->image.bytes);
	uint32_t done = 0;
	enum litifut_status status = LITIFUT_OK;

	for (size_t i = first_at(changes, count, section->address); i < count && !status; i++) {
		uint32_t from = changes[i].address - section->address;

		if (from >= section->size)
			break;
		status = compare_piece(session, section, before, done, from, error);
		done = from + changes[i].length;
	}
	if (!status)
		status = compare_piece(session, section, before, done, section->size, error);
	return status;
}

static bool is_mips_jump(unsigned id)
{
	static const unsigned jumps[] = {
		MIPS_INS_JAL,
		MIPS_INS_BAL,
		MIPS_INS_BGEZAL,
		MIPS_INS_BLTZAL,
		MIPS_INS_J,
		MIPS_INS_B,
		MIPS_INS_BEQ,
		MIPS_INS_BEQZ,
		MIPS_INS_BNE,
		MIPS_INS_BNEZ,
		MIPS_INS_BLEZ,
		MIPS_INS_BGTZ,
		MIPS_INS_BLTZ,
		MIPS_INS_BGEZ,
		/* the "likely" forms */
		MIPS_INS_BGEZALL,
		MIPS_INS_BLTZALL,
		MIPS_INS_BEQL,
		MIPS_INS_BNEL,
		MIPS_INS_BLEZL,
		MIPS_INS_BGTZL,
		MIPS_INS_BLTZL,
		MIPS_INS_BGEZL,
	};

	for (size_t i = 0; i < sizeof(jumps) / sizeof(*jumps); i++)
		if (jumps[i] == id)
			return true;
	return false;
}

/* The target of the first immediate operand, or false. */
static bool immediate_target(int arch, const cs_insn *instruction, uint32_t *target)
{
	const cs_detail *detail = instruction->detail;

	if (arch == CS_ARCH_ARM) {
		for (unsigned i = 0; i < detail->arm.op_count; i++)
			if (detail->arm.operands[i].type == ARM_OP_IMM) {
				*target = (uint32_t)detail->arm.operands[i].imm;
				return instruction->id == ARM_INS_BL ||
				       instruction->id == ARM_INS_BLX ||
				       instruction->id == ARM_INS_B;
			}
		return false;
	}
	for (unsigned i = 0; i < detail->mips.op_count; i++)
		if (detail->mips.operands[i].type == MIPS_OP_IMM) {
			*target = (uint32_t)detail->mips.operands[i].imm;
			return is_mips_jump(instruction->id);
		}
	return false;
}

/* What our own decoder makes of it. */
static bool leads_to(const struct litifut_session *session, const struct litifut_change *change,
		     const uint8_t *code)
{
	struct litifut_instruction instruction;

	return session->arch->decode(&session->context, code, change->length, change->address,
				     change->state, &instruction) &&
	       (instruction.class == LITIFUT_CLASS_CALL_DIRECT ||
		instruction.class == LITIFUT_CLASS_BRANCH_DIRECT) &&
	       (instruction.target & ~1u) == change->entry;
}

static enum litifut_status check_calls(const struct litifut_session *session,
				       const struct litifut_change *changes, size_t count,
				       enum litifut_code_state state, struct litifut_error *error)
{
	enum litifut_status status = LITIFUT_OK;
	const struct litifut_section *section = NULL;
	const size_t step = count / DISASSEMBLED + 1;
	int arch;
	int mode;
	csh handle;

	session->arch->disassembler(&session->context, state, &arch, &mode);
	if (cs_open((cs_arch)arch, (cs_mode)mode, &handle) != CS_ERR_OK)
		return litifut_error_set(error, LITIFUT_ERROR_INTERNAL, session->image.path, NULL,
					 LITIFUT_NO_ADDRESS, "capstone does not know this CPU");
	cs_option(handle, CS_OPT_DETAIL, CS_OPT_ON);
	cs_insn *instruction = cs_malloc(handle);

	for (size_t i = 0; i < count && !status; i++) {
		uint32_t target;

		if (changes[i].state != state || !changes[i].entry)
			continue;
		if (!section || changes[i].address - section->address >= section->size)
			section = litifut_image_section_at(&session->image, changes[i].address, 4);
		const uint8_t *code = section->bytes + (changes[i].address - section->address);
		size_t left = changes[i].length;
		uint64_t address = changes[i].address;

		/* A detour may leave a nop behind the branch. */
		if (!leads_to(session, &changes[i], code) ||
		    (i % step == 0 &&
		     (!cs_disasm_iter(handle, &code, &left, &address, instruction) ||
		      !immediate_target(arch, instruction, &target) ||
		      (target & ~1u) != changes[i].entry)))
			status = litifut_error_set(
				error, LITIFUT_ERROR_INTERNAL, session->image.path, section->name,
				changes[i].address, "the new call does not lead to the tracer");
	}
	cs_free(instruction, 1);
	cs_close(&handle);
	return status;
}

enum litifut_status litifut_verify(const struct litifut_session *session,
				   const struct litifut_change *changes, size_t count,
				   struct litifut_error *error)
{
	enum litifut_status status = LITIFUT_OK;
	int descriptor = open(session->image.path, O_RDONLY | O_CLOEXEC);
	uint8_t *disk = MAP_FAILED;
	struct stat now;

	if (descriptor >= 0 && !fstat(descriptor, &now) &&
	    (size_t)now.st_size >= session->image.size)
		disk = mmap(NULL, session->image.size, PROT_READ, MAP_PRIVATE, descriptor, 0);
	if (descriptor >= 0)
		close(descriptor);
	if (disk == MAP_FAILED)
		return litifut_error_set(error, LITIFUT_ERROR_IO, session->image.path, NULL,
					 LITIFUT_NO_ADDRESS, "cannot read back");
	for (size_t i = 1; i < session->image.section_count && !status; i++) {
		const struct litifut_section *section = &session->image.sections[i];

		if (section->flags & SHF_EXECINSTR && section->bytes && section->size)
			status = compare_section(session, section, disk, changes, count, error);
	}
	munmap(disk, session->image.size);
	if (!status)
		status = check_calls(session, changes, count, LITIFUT_CODE_PLAIN, error);
	if (!status)
		status = check_calls(session, changes, count, LITIFUT_CODE_THUMB, error);
	return status;
}
