#include "ldwrap/firmware_port.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <libiberty/libiberty.h>

#include "common/nearest.h"

/* The address is that of the peripheral by which most programs print. */
static const struct {
	const char *name;
	bool is_sent;
	bool is_ours;
	uint32_t address; /* 0: it needs none */
	uint32_t most;    /* address that the CPU can have for it; 0: any */
} ports[] = {
	{"memory", false, false, 0, 0},           /* a debugger reads the table */
	{"user", true, false, 0, 0},              /* the program has a litifut_putc() */
	{"cmsdk", true, true, 0x40004000, 0},     /* MPS2: UART0 */
	{"nrf51", true, true, 0x40002000, 0},     /* nRF51, nRF52: UART0 */
	{"stm32", true, true, 0x40011000, 0},     /* STM32F2, F4: USART1 */
	{"stellaris", true, true, 0x4000c000, 0}, /* LM3S: UART0 */
	{"semihosting", true, true, 0, 0},
	{"rtt", true, true, 0, 0},           /* a debug probe reads a ring in the memory */
	{"itm", true, true, 0, 0},           /* a debug probe gets it by SWO */
	{"packet", true, true, 0, 0},        /* the program has a litifut_packet() */
	{"usart", true, true, 0xc0, 0xfff9}, /* ATmega: USART0, UCSR0A; UDR0 is at +6 */
};

/* Not each CPU has each port: does the tracer have an object of this name for it? */
static bool has_object(const char *objects, const char *name, const char *end)
{
	char *path = xasprintf("%s-%s%s.o", objects, name, end);
	const bool has = !access(path, R_OK);

	free(path);
	return has;
}

char *firmware_port_names(const char *objects)
{
	char *names = xstrdup("");

	for (size_t i = 0; i < sizeof(ports) / sizeof(*ports); i++)
		if (ports[i].is_sent &&
		    (!ports[i].is_ours || has_object(objects, ports[i].name, "")))
			names = reconcat(names, names, *names ? ", " : "", ports[i].name, NULL);
	return names;
}

void firmware_port_explain(const struct firmware_port *port, struct litifut_error *error)
{
	if (port->object && strstr(error->message, "`litifut_putc'"))
		litifut_error_set(error, LITIFUT_ERROR_UNSUPPORTED, NULL, NULL, LITIFUT_NO_ADDRESS,
				  "LITIFUT_PORT: neither %s nor the program has a function "
				  "litifut_putc(), an int litifut_putc(uint8_t byte), in C++ as "
				  "extern \"C\"",
				  port->object);
	else if (strstr(error->message, "`litifut_putc'"))
		litifut_error_set(error, LITIFUT_ERROR_UNSUPPORTED, NULL, NULL, LITIFUT_NO_ADDRESS,
				  "LITIFUT_PORT=user: the program has no function litifut_putc(): "
				  "give it an int litifut_putc(uint8_t byte), in C++ as extern "
				  "\"C\"");
	else if (strstr(error->message, "`litifut_packet'"))
		litifut_error_set(error, LITIFUT_ERROR_UNSUPPORTED, NULL, NULL, LITIFUT_NO_ADDRESS,
				  "LITIFUT_PORT=packet: the program has no function "
				  "litifut_packet(): give it the one that <litifut/firmware.h> "
				  "declares");
}

/* The port of this CPU that was probably meant; NULL: none. */
static const char *nearest_port(const char *objects, const char *word)
{
	const char *names[sizeof(ports) / sizeof(*ports) + 1] = {NULL};
	size_t count = 0;

	for (size_t i = 0; i < sizeof(ports) / sizeof(*ports); i++)
		if (!ports[i].is_ours || has_object(objects, ports[i].name, ""))
			names[count++] = ports[i].name;
	return litifut_name_nearest(word, names);
}

static enum litifut_status no_port(const char *text, const char *objects,
				   struct litifut_error *error)
{
	char *names = firmware_port_names(objects);
	char *word = xstrndup(text, strcspn(text, ":"));
	const char *nearest = nearest_port(objects, word);
	const enum litifut_status status = litifut_error_set(
		error, LITIFUT_ERROR_UNSUPPORTED, NULL, NULL, LITIFUT_NO_ADDRESS,
		"LITIFUT_PORT: neither a port of this CPU (memory, %s) nor the path of an object: "
		"%s%s%s%s",
		names, text, nearest ? "; did you mean " : "", nearest ? nearest : "",
		nearest ? "?" : "");

	free(word);
	free(names);
	return status;
}

/* ":NUMBER" at *text, which is the end of it behind that. */
static bool read_number(const char **text, uint32_t *number)
{
	const char *begin = *text + 1;
	char *end;

	errno = 0;
	unsigned long value = strtoul(begin, &end, 0);

	*text = end;
	*number = (uint32_t)value;
	return !errno && end != begin && *begin != '-' && value <= UINT32_MAX;
}

enum litifut_status firmware_port_read(const char *text, const char *objects,
				       struct firmware_port *port, struct litifut_error *error)
{
	size_t length = text ? strcspn(text, ":") : 0;

	memset(port, 0, sizeof(*port));
	if (!text)
		return LITIFUT_OK;
	if (strchr(text, '/') || (strlen(text) > 2 && !strcmp(text + strlen(text) - 2, ".o"))) {
		port->sends = true;
		port->object = text;
		return LITIFUT_OK;
	}
	for (size_t i = 0; i < sizeof(ports) / sizeof(*ports); i++) {
		if (strlen(ports[i].name) != length || strncmp(ports[i].name, text, length))
			continue;
		port->sends = ports[i].is_sent;
		port->driver = ports[i].is_ours ? ports[i].name : NULL;
		port->address = ports[i].address;
		port->has_address = ports[i].address != 0;
		if (port->driver && !has_object(objects, port->driver, ""))
			return no_port(text, objects, error);
		if (!text[length])
			return LITIFUT_OK;
		const char *rest = text + length;
		bool right = port->has_address && read_number(&rest, &port->address);

		port->has_interrupt = right && *rest == ':';
		if (port->has_interrupt)
			right = read_number(&rest, &port->interrupt);
		if (!right || *rest)
			return litifut_error_set(
				error, LITIFUT_ERROR_UNSUPPORTED, NULL, NULL, LITIFUT_NO_ADDRESS,
				port->has_address ? "LITIFUT_PORT: not NAME:ADDRESS or "
						    "NAME:ADDRESS:INTERRUPT: %s"
						  : "LITIFUT_PORT: this port has no address: %s",
				text);
		if (ports[i].most && port->address > ports[i].most)
			return litifut_error_set(
				error, LITIFUT_ERROR_UNSUPPORTED, NULL, NULL, LITIFUT_NO_ADDRESS,
				"LITIFUT_PORT: the address is beyond 0x%x, and registers of this "
				"CPU are not: set that of the first register, such as %s:0x%x: %s",
				(unsigned)ports[i].most, ports[i].name, (unsigned)ports[i].address,
				text);
		return port->has_interrupt && !has_object(objects, port->driver, "_transmit")
			       ? litifut_error_set(
					 error, LITIFUT_ERROR_UNSUPPORTED, NULL, NULL,
					 LITIFUT_NO_ADDRESS,
					 "LITIFUT_PORT: %s can't send by an interrupt: leave its "
					 "number out",
					 port->driver)
			       : LITIFUT_OK;
	}
	return no_port(text, objects, error);
}
