/* Registers of the peripheral that results are sent by. Its address is a symbol that the
 * linker wrapper defines (LITIFUT_PORT=NAME:ADDRESS). */
#ifndef LITIFUT_TRACER_PORT_H
#define LITIFUT_TRACER_PORT_H

#include "tracer/sink/frames/frames.h"

/* Words: where the compiler must assume bytes, it accesses a register byte by byte on v6-M, which
 * the device does not understand. */
extern HIDDEN volatile uint32_t litifut_port_base[];

#define PORT_REGISTER(offset) (litifut_port_base[(offset) / 4])

#endif
