/* LITIFUT_PORT: what the results of a firmware are sent by. */
#ifndef LITIFUT_LDWRAP_FIRMWARE_PORT_H
#define LITIFUT_LDWRAP_FIRMWARE_PORT_H

#include <stdbool.h>
#include <stdint.h>

#include "common/error.h"

struct firmware_port {
	bool sends;         /* there is a litifut_putc(), the tracer's or the program's */
	const char *driver; /* name of our object for it, static; NULL: none */
	const char *object; /* path of the user's object; NULL: there is none */
	bool has_address;
	uint32_t address; /* of the peripheral */
	bool has_interrupt;
	uint32_t interrupt; /* number of its transmitter's */
};

/* `text` is NAME, NAME:ADDRESS, NAME:ADDRESS:INTERRUPT or the path of an object; NULL: nothing is
 * sent. It must stay as long as `port` is used. `objects` is what the paths of all objects of the
 * tracer for this CPU begin with. */
enum litifut_status firmware_port_read(const char *text, const char *objects,
				       struct firmware_port *port, struct litifut_error *error);

/* Where `error` is that of a link which lacks the function that a port calls: puts what to do into
 * it. */
void firmware_port_explain(const struct firmware_port *port, struct litifut_error *error);

/* The names of the ports that send and that this CPU has, with ", " between them; to be freed. */
char *firmware_port_names(const char *objects);

#endif
