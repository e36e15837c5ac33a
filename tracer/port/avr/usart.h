/* Registers of an ATmega's USART, beginning with UCSRnA. The address is a symbol that the linker
 * wrapper defines (LITIFUT_PORT=usart:ADDRESS). */
#ifndef LITIFUT_TRACER_AVR_USART_H
#define LITIFUT_TRACER_AVR_USART_H

#include "tracer/sink/frames/frames.h"

extern HIDDEN volatile uint8_t litifut_port_base[];

#define PORT_REGISTER(offset) (litifut_port_base[offset])

#endif
