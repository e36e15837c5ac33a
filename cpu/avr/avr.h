/* Between the files of cpu/avr, and for rewriter/avr. Manual: AVR Instruction Set Manual
 * (DS40002198). Addresses are those of the ELF file, in bytes; the CPU itself counts words
 * of 2 bytes. */
#ifndef LITIFUT_CPU_AVR_AVR_H
#define LITIFUT_CPU_AVR_AVR_H

#include "cpu/cpu.h"

extern const struct cpu cpu_avr;
extern const struct cpu_objects litifut_objects_avr;

/* e_flags: the family of devices, and whether objects are prepared for relaxation. */
#define LITIFUT_AVR_FAMILY 0x7fu

enum { LITIFUT_AVR_Z = 30 }; /* r31:r30, the register that indirect calls go through */

/* What the code of one image depends on: `facts` of struct cpu_context. */
struct litifut_avr_facts {
	/* The flash has 8 KB at most: it has neither call nor jmp, and rcall and rjmp wrap
	 * around at its ends, so that they reach all of it. */
	bool small;
	bool wide_return; /* return addresses have 3 bytes */
};

/* NULL stands for a device of neither kind. */
static inline bool litifut_avr_is_small(const struct cpu_context *context)
{
	const struct litifut_avr_facts *facts = context->facts;

	return facts && facts->small;
}

/* The facts of a family; false: it can't be traced. `name` (or NULL) gets the name that the
 * family has for the compiler, static. */
bool litifut_avr_family(unsigned elf_flags, struct litifut_avr_facts *facts, const char **name);

/* The USARTs of the device with this name of avr-libc ("atmega328p") that the tracer's port can
 * use: addresses of UCSRnA, in their order. False: the device is not known. */
#define LITIFUT_AVR_USARTS 4
bool litifut_avr_usarts(const char *device, uint32_t addresses[LITIFUT_AVR_USARTS],
			unsigned *count);

/* The interrupts of timer 1 of such a device: the first one and that of its overflow, which is the
 * last one. False: it is not known, or its registers are elsewhere than in an ATmega48. */
bool litifut_avr_timer1(const char *device, uint32_t *first, uint32_t *overflow);

/* May the instruction with this first word pass over the next one? */
bool litifut_avr_is_skip(uint16_t word);

/* Does it read or write the stack pointer, or the stack? */
bool litifut_avr_uses_stack(uint16_t word);

/* See struct cpu for what each does. */
unsigned litifut_avr_decode(const struct cpu_context *context, const uint8_t *code,
			    size_t available, uint32_t address, enum litifut_code_state state,
			    struct litifut_instruction *instruction);
unsigned litifut_avr_step(const struct cpu_context *context, const uint8_t *code, size_t available,
			  uint32_t address, enum litifut_code_state state, unsigned *block,
			  struct cpu_step *step);
unsigned litifut_avr_pushed(unsigned elf_flags);
unsigned litifut_avr_track(const struct cpu_context *context, const uint8_t *code, size_t available,
			   enum litifut_code_state state, struct cpu_frame *frame);
bool litifut_avr_encode_call(const struct cpu_context *context,
			     const struct litifut_instruction *instruction, uint32_t address,
			     uint32_t entry, uint8_t *code);

/* A jump, or with `link` a call, of 4 bytes to `target`. */
void litifut_avr_far(bool link, uint32_t target, uint8_t *code);

/* The same in 2 bytes, standing at `address`. False, and nothing written: out of reach. */
bool litifut_avr_near(const struct cpu_context *context, bool link, uint32_t address,
		      uint32_t target, uint8_t *code);

#endif
