/* Calls through pointers to more callees than have room without a setting: callee N is called N
 * times by the one site, and each third one by another site. */
#include <stdint.h>
#include <stdio.h>

#define EIGHT(macro, tens)                                                                         \
	macro(tens##0) macro(tens##1) macro(tens##2) macro(tens##3) macro(tens##4) macro(tens##5)  \
		macro(tens##6) macro(tens##7)
#define ALL(macro)                                                                                 \
	EIGHT(macro, 01) EIGHT(macro, 02) EIGHT(macro, 03) EIGHT(macro, 04) EIGHT(macro, 05)

static volatile uint32_t sum;

#define DEFINE(n)                                                                                  \
	static void __attribute__((noinline, noclone)) callee_##n(void)                            \
	{                                                                                          \
		sum += n;                                                                          \
	}
#define LIST(n) {callee_##n, n},

ALL(DEFINE)

static const struct {
	void (*function)(void);
	uint32_t times;
} callees[] = {ALL(LIST)};

static void (*volatile callee)(void);

#ifdef LARGE /* more call sites than a table of 64 KB has */
#define TEN(what) what what what what what what what what what what

static void __attribute__((noinline, noclone)) nothing(void)
{
	sum += 2;
}

static void __attribute__((noinline, noclone)) large(void)
{
	TEN(TEN(TEN(nothing(); nothing(); nothing(); nothing();)))
}
#endif

static void __attribute__((noinline, noclone)) often(void (*function)(void), uint32_t times)
{
	callee = function;
	while (times--)
		callee();
}

static void __attribute__((noinline, noclone)) once(void (*function)(void))
{
	callee = function;
	callee();
	sum++;
}

void SysTick_Handler(void)
{
}

int main(void)
{
#ifdef LARGE
	large();
#endif
	for (unsigned i = 0; i < sizeof(callees) / sizeof(callees[0]); i++) {
		often(callees[i].function, callees[i].times);
		if (i % 3 == 0)
			once(callees[i].function);
	}
	printf("%u\n", (unsigned)sum);
	return 0;
}
