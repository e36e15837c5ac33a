/* Fewer events in each round than a ring of 1 KB has room for, and more in all; flush() is where
 * they are sent. */
#define KEEP __attribute__((noinline, noclone))

volatile unsigned sum;

KEEP void leaf(unsigned by)
{
	sum += by;
}

KEEP void flush(void)
{
	sum++;
}

int main(void)
{
	for (unsigned round = 0; round < 100; round++) {
		for (unsigned i = 0; i < 20; i++)
			leaf(i);
		flush();
	}
	return 0;
}
