/* More call sites than one byte can number, a tenth of them through a pointer. flush() is called so
 * often that a ring of some hundred events is enough. SWITCHES: recording is switched off and on
 * there. */
#include <avr/interrupt.h>
#include <stdint.h>

#define FUNCTION __attribute__((noinline, noclone))

static volatile uint16_t sum;

FUNCTION void callee(uint16_t by)
{
	sum += by;
}

static void (*volatile pointer)(uint16_t) = callee;

#ifdef SWITCHES
void litifut_stop(void) __attribute__((weak));
void litifut_start(void) __attribute__((weak));
#endif

FUNCTION void flush(void)
{
#ifdef SWITCHES
	static uint8_t changes;

	changes++;
	if (litifut_stop && changes % 4 == 2)
		litifut_stop();
	if (litifut_start && changes % 4 == 3)
		litifut_start();
#endif
	sum++;
}

#define NINE(n)                                                                                    \
	callee(n);                                                                                 \
	callee(n + 1);                                                                             \
	callee(n + 2);                                                                             \
	callee(n + 3);                                                                             \
	callee(n + 4);                                                                             \
	callee(n + 5);                                                                             \
	callee(n + 6);                                                                             \
	callee(n + 7);                                                                             \
	callee(n + 8);
#define TEN(n)                                                                                     \
	NINE(n)                                                                                    \
	pointer(n);
#define FIFTY(n)                                                                                   \
	TEN(n)                                                                                     \
	TEN(n + 10)                                                                                \
	TEN(n + 20)                                                                                \
	TEN(n + 30)                                                                                \
	TEN(n + 40)                                                                                \
	flush();

int main(void)
{
	sei();
	for (uint8_t round = 0; round < 3; round++) {
		FIFTY(0)
		FIFTY(50)
		FIFTY(100)
		FIFTY(150)
		FIFTY(200)
		FIFTY(250)
		FIFTY(300)
		FIFTY(350)
		FIFTY(400)
		FIFTY(450)
		FIFTY(500)
	}
	cli();
	return 0;
}
