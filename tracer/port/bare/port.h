/* Registers of the peripheral that results are sent by. Its address is a symbol that the
 * linker wrapper defines (LITIFUT_PORT=NAME:ADDRESS). */
#ifndef LITIFUT_TRACER_PORT_H
#define LITIFUT_TRACER_PORT_H

#include "tracer/sink/frames/frames.h"

extern HIDDEN char litifut_port_base[];

#define PORT_REGISTER(offset) (*(volatile uint32_t *)(void *)(litifut_port_base + (offset)))

#endif
