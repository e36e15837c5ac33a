/* Tail calls through pointers out of tables, in the memory and in the flash, beside switches and
 * computed gotos, of which a jump through Z is made as well. Prints what they have done. */
#include <avr/io.h>
#include <avr/pgmspace.h>
#include <stdint.h>

#define FUNCTION __attribute__((noinline, noclone))

typedef void action(uint8_t);

volatile uint8_t state;
static volatile uint16_t sum;

FUNCTION void first(uint8_t value)
{
	sum += value;
}

FUNCTION void second(uint8_t value)
{
	sum = sum * 3 + value;
}

FUNCTION void third(uint8_t value)
{
	sum ^= value;
}

struct entry {
	uint8_t name;
	action *run;
};

static action *const constant[] = {first, second, third};
static action *variable[3];
action *single = second;
static action *const in_flash[] PROGMEM = {0, first, second, third};
static const struct entry entries[] PROGMEM = {{1, third}, {2, first}, {3, second}};
static const struct entry *volatile chosen;

FUNCTION void by_constant(uint8_t n, uint8_t value)
{
	constant[n](value);
}

FUNCTION void by_variable(uint8_t n, uint8_t value)
{
	variable[n](value);
}

FUNCTION void by_single(uint8_t value)
{
	single(value);
}

FUNCTION void by_flash(uint8_t n, uint8_t value)
{
	((action *)pgm_read_word(&in_flash[n + 1]))(value);
}

FUNCTION void by_entry(uint8_t n, uint8_t value)
{
	((action *)pgm_read_word(&entries[n].run))(value);
}

FUNCTION void by_pointer(const struct entry *entry, uint8_t value)
{
	((action *)pgm_read_word(&entry->run))(value);
}

FUNCTION void by_saved(uint8_t n, uint8_t value)
{
	first(value);
	second(n);
	constant[n](value);
}

/* A switch, and such a call behind it. */
FUNCTION void behind_switch(uint8_t n, uint8_t value)
{
	switch (value & 15) {
	case 0:
		state = 3;
		break;
	case 1:
		state += 9;
		break;
	case 2:
		state ^= 7;
		break;
	case 3:
		state = value;
		break;
	case 4:
		state = n;
		break;
	case 5:
		state -= value;
		break;
	case 6:
		state = value + n;
		break;
	case 7:
		state |= 64;
		break;
	case 8:
		state &= 31;
		break;
	}
	constant[n](value);
}

/* A computed goto. */
FUNCTION uint8_t by_label(uint8_t n)
{
	static const void *const labels[] = {&&zero, &&one, &&two};

	goto *labels[n];
zero:
	state += 3;
one:
	state += 5;
two:
	return state;
}

#ifdef GOTO_AND_CALL
/* Both: what the table of the call has is not known. */
FUNCTION void behind_label(uint8_t n, uint8_t value)
{
	static const void *const labels[] = {&&zero, &&one, &&two};

	goto *labels[n];
zero:
	state += 3;
one:
	state += 5;
two:
	variable[n](value);
}
#endif

/* A switch as older compilers make it of a table that lpm reads, and a return through Z. */
uint8_t old_switch(uint8_t n);
uint8_t by_stack(uint8_t n);

__asm__(".section .progmem.gcc_sw_table, \"a\", @progbits\n"
	".p2align 1\n"
	"old_table:\n"
	".word pm(old_zero), pm(old_one), pm(old_two)\n"
	".text\n"
	".global old_switch\n"
	".type old_switch, @function\n"
	"old_switch:\n"
	"mov r30, r24\n"
	"ldi r31, 0\n"
	"subi r30, lo8(-(pm(old_table)))\n"
	"sbci r31, hi8(-(pm(old_table)))\n"
	"lsl r30\n"
	"rol r31\n"
	"lpm r0, Z+\n"
	"lpm r31, Z\n"
	"mov r30, r0\n"
	"ijmp\n"
	"old_zero: subi r24, -3\n"
	"old_one: subi r24, -5\n"
	"old_two: ret\n"
	".size old_switch, . - old_switch\n"
	".global by_stack\n"
	".type by_stack, @function\n"
	"by_stack:\n"
	"subi r24, -7\n"
#ifdef EIND
	"pop r31\n"
	"out 0x3c, r31\n"
	"pop r31\n"
	"pop r30\n"
	"eijmp\n"
#else
	"pop r31\n"
	"pop r30\n"
	"ijmp\n"
#endif
	".size by_stack, . - by_stack\n");

static void put(char character)
{
#ifdef UCSR0A
	while (!(UCSR0A & 1 << UDRE0))
		;
	UDR0 = (uint8_t)character;
#else
	state ^= (uint8_t)character;
#endif
}

int main(void)
{
#ifdef UCSR0A
	UCSR0B = 1 << TXEN0;
#endif
	for (uint8_t i = 0; i < 3; i++)
		variable[i] = constant[2 - i];
	for (uint8_t i = 0; i < 10; i++) {
		const uint8_t n = i % 3;

		by_constant(n, i);
		by_variable(n, i);
		by_single(i);
		by_flash(n, i);
		by_entry(n, i);
		chosen = &entries[n];
		by_pointer(chosen, i);
		by_saved(n, i);
		behind_switch(n, i);
		sum += by_label(n);
		sum += old_switch(n);
		sum += by_stack(n);
#ifdef BITS
		/* in libgcc, a jump behind a push to code that begins with a pop */
		sum += __builtin_popcountl(0x10101UL * i | (uint32_t)sum << 16);
#endif
#ifdef GOTO_AND_CALL
		behind_label(n, i);
#endif
		for (uint8_t k = 0; k < 16; k += 4)
			put("0123456789abcdef"[sum >> k & 15]);
		put('\n');
	}
	return 0;
}
