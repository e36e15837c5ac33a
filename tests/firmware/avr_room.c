/* A program that takes TAKEN bytes of the memory. */
#include <stdint.h>

static volatile uint8_t taken[TAKEN];
volatile uint8_t sum;

#define FUNCTION(n)                                                                                \
	static void __attribute__((noinline, noclone)) function##n(void)                           \
	{                                                                                          \
		sum += taken[n];                                                                   \
	}
FUNCTION(1)
FUNCTION(2)
FUNCTION(3)
FUNCTION(4)
FUNCTION(5)
FUNCTION(6)

int main(void)
{
	function1();
	function2();
	function3();
	function4();
	function5();
	function6();
	return 0;
}
