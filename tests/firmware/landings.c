/* Functions that begin by `bti` or `pacbti` (-mbranch-protection), as calls through pointers and
 * interrupts arrive there alone where a CPU demands it. */
static volatile unsigned ticks;

__attribute__((noinline)) int leaf(int a)
{
	return a > 3 ? a * 2 : a + 9;
}

__attribute__((noinline)) int calls(int a)
{
	if (a & 1)
		return leaf(a) + leaf(a + 1);
	return leaf(a) * 3;
}

__attribute__((noinline)) int tests_at_once(int a)
{
	return a ? calls(a - 1) : 5;
}

__attribute__((noinline)) int loops(int a)
{
	int sum = 0;

	do
		sum = sum * 5 + a;
	while (a-- > 0);
	return sum;
}

__attribute__((noinline)) int switches(int a)
{
	switch (a) {
	case 0:
		return leaf(1);
	case 1:
		return calls(4);
	case 2:
		return 7;
	case 3:
		return calls(9) - 1;
	case 4:
		return leaf(8) ^ 3;
	case 5:
		return loops(3);
	default:
		return a;
	}
}

void SysTick_Handler(void)
{
	ticks = ticks + 1;
	if (ticks % 3 == 0)
		leaf((int)ticks);
}

int (*volatile pointers[5])(int) = {leaf, calls, tests_at_once, loops, switches};
