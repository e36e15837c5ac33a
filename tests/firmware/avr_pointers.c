/* Calls through Z with known values in all other registers and in SREG: prints those that the
 * callees find, and those that are there behind the calls. More callees than a site and the
 * overflow table have room for. With TAIL they are tail calls, of a function that loads Z. */
#include <avr/interrupt.h>
#include <avr/io.h>
#include <stdint.h>

#define CALLEES 20
#define SEEN 33 /* r0 to r31, SREG */

uint8_t seen[2][SEEN];

#ifdef TAIL
#define CALL "call leap\n"
#else
#define CALL "icall\n"
#endif

/* Stores all of them at seen + AT, and keeps them. */
#define STORE(at)                                                                                  \
	"sts seen + " at " + 0, r0\n"                                                              \
	"in r0, 0x3f\n"                                                                            \
	"sts seen + " at " + 32, r0\n"                                                             \
	".irp n, 1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,"   \
	"30,31\n"                                                                                  \
	"sts seen + " at " + \\n, r\\n\n"                                                          \
	".endr\n"                                                                                  \
	"lds r0, seen + " at " + 0\n"

__asm__(".text\n"
	".global callees\n"
	"callees:\n"
	".rept 20\n"
	"rjmp store\n"
	".endr\n"
	"store:\n" STORE(
		"0") "ret\n"
		     /* void probe(uint8_t flags, uint16_t callee) */
		     ".global probe\n"
		     ".type probe, @function\n"
		     "probe:\n"
		     ".irp n, 2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,28,29\n"
		     "push r\\n\n"
		     ".endr\n"
		     "sts target, r22\n"
		     "sts target + 1, r23\n"
		     "mov r0, r24\n"
		     "ldi r30, 0x55\n"
		     ".irp n, "
		     "1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,"
		     "29\n"
		     "subi r30, 0x13\n"
		     "mov r\\n, r30\n"
		     ".endr\n"
		     "lds r30, target\n"
		     "out 0x3f, r0\n"
		     "lds r31, target + 1\n" CALL STORE(
			     "33") ".irp n, 29,28,17,16,15,14,13,12,11,10,9,8,7,6,5,4,3,2\n"
				   "pop r\\n\n"
				   ".endr\n"
				   "clr r1\n"
				   "ret\n"
				   ".size probe, . - probe\n"
				   ".type leap, @function\n"
				   "leap:\n"
				   "lds r30, target\n"
				   "lds r31, target + 1\n"
				   "ijmp\n"
				   ".size leap, . - leap\n");

uint16_t target;
extern char callees[];
void probe(uint8_t flags, uint16_t callee);

static void put(char character)
{
	while (!(UCSR0A & 1 << UDRE0))
		;
	UDR0 = (uint8_t)character;
}

int main(void)
{
	UCSR0B = 1 << TXEN0;
	for (uint8_t i = 0; i < 3 * CALLEES; i++) {
		probe((uint8_t)(i * 37) & 0x7f, (uint16_t)(uintptr_t)callees / 2 + i % CALLEES);
		for (uint8_t j = 0; j < 2 * SEEN; j++) {
			/* r30 and r31 of the callees are where the linker has put them */
			if (j % SEEN == 30 || j % SEEN == 31)
				continue;
			put("0123456789abcdef"[seen[0][j] >> 4]);
			put("0123456789abcdef"[seen[0][j] & 15]);
		}
		put('\n');
	}
	return 0;
}
