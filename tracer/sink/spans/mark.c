/* A mark of the program, among the events. */
#include <litifut/firmware.h>
#include <ring.h>

void litifut_mark(unsigned number)
{
	litifut_ring_mark(number);
}
