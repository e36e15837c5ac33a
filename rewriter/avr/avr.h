/* Between the files of rewriter/avr. */
#ifndef LITIFUT_REWRITER_AVR_AVR_H
#define LITIFUT_REWRITER_AVR_AVR_H

#include "cpu/avr/avr.h"
#include "rewriter/arch.h"
#include "rewriter/edges.h"
#include "rewriter/firmware_cpu.h"

extern const struct litifut_arch litifut_arch_avr;
extern const struct litifut_arch_edges litifut_avr_edges;

/* What is known of a word of code besides its bits. */
enum {
	LITIFUT_AVR_ABSOLUTE = 1, /* the relocation of a call or jmp stands here */
	LITIFUT_AVR_NAMED = 2,    /* data or code holds the address, as a pointer */
	LITIFUT_AVR_TABLE = 4,    /* a pointer to the middle of its function: a switch, a label */
	LITIFUT_AVR_RELATIVE = 8, /* the relocation of an rcall or rjmp stands here */
	LITIFUT_AVR_BRANCH = 16,  /* that of a conditional branch */
	/* A pointer to the middle of its function that a program can load itself: that of a
	 * computed goto, not of a switch. */
	LITIFUT_AVR_LABEL = 32,
	LITIFUT_AVR_BYTES = 64, /* data or code holds the address in bytes: data is there */
	/* A pointer to a function stands here, or one to the middle of a function; the same,
	 * shifted by LITIFUT_AVR_ODD, one byte behind. */
	LITIFUT_AVR_TO_FUNCTION = 128,
	LITIFUT_AVR_TO_LABEL = 256
};
#define LITIFUT_AVR_ODD 2

/* Where the linker has the memory for data. */
#define LITIFUT_AVR_DATA 0x800000u

/* `facts` of the context of an image; begins as those of struct cpu. */
struct litifut_avr_image {
	struct litifut_avr_facts cpu;
	bool has_relocations;
	bool has_branches;      /* conditional ones have relocations */
	bool has_labels;        /* a table in the flash has labels of a computed goto */
	uint32_t end;           /* of the code */
	uint16_t data[0x10000]; /* LITIFUT_AVR_TO_... for each byte of the memory for data */
	uint16_t marks[];       /* for each word */
};

static inline unsigned litifut_avr_marks(const struct litifut_arch_context *context,
					 uint32_t address)
{
	const struct litifut_avr_image *image = context->cpu.facts;

	return address < image->end ? image->marks[address / 2] : 0;
}

/* Reads the relocations that the linker has kept (-q). To be freed; NULL: no memory. */
struct litifut_avr_image *litifut_avr_image_create(const struct litifut_image *image,
						   struct litifut_error *error);

/* See struct litifut_firmware_cpu. */
enum litifut_status litifut_avr_name_functions(struct litifut_image *image,
					       struct litifut_error *error);
enum litifut_status litifut_avr_vectors_add(const struct litifut_image *image,
					    struct litifut_site_list *sites,
					    struct litifut_error *error);

/* Adds what the CPU enters by itself, and main(), which the start-up code calls. */
void litifut_avr_vectors_targets(const struct litifut_image *image,
				 struct litifut_targets *targets);

bool litifut_avr_free_vector(const struct litifut_image *image, uint32_t number, uint32_t *entry);
enum litifut_status litifut_avr_clock_vector(const struct litifut_image *image, uint32_t *entry,
					     struct litifut_error *error);
uint32_t litifut_avr_clock_user(const struct litifut_image *image);
const char *litifut_avr_clock_setter(const struct litifut_image *image);
enum litifut_status litifut_avr_check_port(const struct litifut_image *image, const char *port,
					   uint32_t address, struct litifut_error *error);

/* The name of the device, for which the start-up file has a note; "": it has none. */
const char *litifut_avr_device(const struct litifut_image *image);
enum litifut_status litifut_avr_check_memory(const struct litifut_image *image,
					     struct litifut_error *error);

/* See struct litifut_firmware_cpu. */
bool litifut_avr_changes_tasks(const struct litifut_image *image,
			       const struct litifut_arch_context *context);

/* Where the start-up code ends that runs before .bss is cleared, and begins; false: the image has
 * none. */
bool litifut_avr_start_up(const struct litifut_image *image, uint32_t *start, uint32_t *end);

/* What a jump through Z does. */
enum litifut_avr_jump {
	LITIFUT_AVR_STAYS,  /* in its function, or it returns */
	LITIFUT_AVR_CALLS,  /* for certain a tail call */
	LITIFUT_AVR_UNSURE, /* one of these */
};
enum litifut_avr_jump litifut_avr_judge_jump(const struct litifut_image *image,
					     const struct litifut_arch_context *context,
					     const struct litifut_cramped_call *call);

bool litifut_avr_can_detour(const struct litifut_arch_context *context,
			    const struct litifut_cramped_call *call,
			    const struct litifut_targets *targets);

#endif
