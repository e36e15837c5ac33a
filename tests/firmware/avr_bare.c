/* Has no data of its own, so that nothing but the tracer makes start-up code initialise the memory.
 */
#include <avr/interrupt.h>
#include <avr/io.h>

static void __attribute__((noinline, noclone)) set(unsigned char value)
{
	PORTB = value;
}

int main(void)
{
	for (unsigned char i = 0; i < 20; i++)
		set(i);
	return 0;
}
