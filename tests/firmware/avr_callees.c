/* One call through a pointer, which has led to each of seven functions before it leads to CALLEE
 * all the time. */
#include <avr/interrupt.h>
#include <avr/sleep.h>

static volatile unsigned char sum;

#define CALLEE_OF(number)                                                                          \
	__attribute__((noinline, noclone)) static void callee_##number(void)                       \
	{                                                                                          \
		sum += number;                                                                     \
	}
CALLEE_OF(0)
CALLEE_OF(1)
CALLEE_OF(2)
CALLEE_OF(3)
CALLEE_OF(4)
CALLEE_OF(5)
CALLEE_OF(6)

static void (*volatile callees[])(void) = {callee_0, callee_1, callee_2, callee_3,
					   callee_4, callee_5, callee_6};

__attribute__((noinline, noclone)) void caller(unsigned char number)
{
	callees[number]();
	sum++;
}

int main(void)
{
	for (unsigned char i = 0; i < 7; i++)
		caller(i);
	for (unsigned i = 0; i < 2000; i++)
		caller(CALLEE);
	cli();
	sleep_enable();
	sleep_cpu();
	return 0;
}
