/* The Instrumentation Trace Macrocell: a byte to its stimulus port 1, which a debug probe gets by
 * SWO. The probe has switched it on; without one bytes are dropped. Registers: DDI 0403E C1.7. */
#include "tracer/sink/frames/frames.h"

#define ITM_PORT 1u
#define ITM_REGISTER(offset) (*(volatile uint32_t *)(uintptr_t)(0xe0000000u + (offset)))
#define ITM_STIMULUS (*(volatile uint8_t *)(uintptr_t)(0xe0000000u + 4 * ITM_PORT))

int litifut_putc(uint8_t byte)
{
	/* TCR: ITMENA; TER: the port */
	if (!(ITM_REGISTER(0xe80) & 1) || !(ITM_REGISTER(0xe00) & 1u << ITM_PORT))
		return 1;
	if (!(ITM_REGISTER(4 * ITM_PORT) & 1)) /* FIFOREADY */
		return 0;
	ITM_STIMULUS = byte;
	return 1;
}
