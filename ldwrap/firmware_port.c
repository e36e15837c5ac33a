#include "ldwrap/firmware_port.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The address is that of the peripheral by which most programs print. */
static const struct {
	const char *name;
	bool is_sent;
	bool is_ours;
	uint32_t address; /* 0: it needs none */
} ports[] = {
	{"memory", false, false, 0},           /* a debugger reads the table */
	{"user", true, false, 0},              /* the program has a litifut_putc() */
	{"cmsdk", true, true, 0x40004000},     /* MPS2: UART0 */
	{"nrf51", true, true, 0x40002000},     /* nRF51, nRF52: UART0 */
	{"stm32", true, true, 0x40011000},     /* STM32F2, F4: USART1 */
	{"stellaris", true, true, 0x4000c000}, /* LM3S: UART0 */
	{"semihosting", true, true, 0},
	{"rtt", true, true, 0},      /* a debug probe reads a ring in the memory */
	{"itm", true, true, 0},      /* a debug probe gets it by SWO */
	{"packet", true, true, 0},   /* the program has a litifut_packet() */
	{"usart", true, true, 0xc0}, /* ATmega: USART0, the address of UCSR0A */
};

enum litifut_status firmware_port_read(const char *text, struct firmware_port *port,
				       struct litifut_error *error)
{
	size_t length = text ? strcspn(text, ":") : 0;
	char *end = NULL;

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
		if (!text[length])
			return LITIFUT_OK;
		errno = 0;
		unsigned long address = strtoul(text + length + 1, &end, 0);

		if (!port->has_address || errno || *end || end == text + length + 1 ||
		    address > UINT32_MAX)
			return litifut_error_set(
				error, LITIFUT_ERROR_UNSUPPORTED, NULL, NULL, LITIFUT_NO_ADDRESS,
				port->has_address ? "LITIFUT_PORT: not an address: %s"
						  : "LITIFUT_PORT: this port has no address: %s",
				text);
		port->address = (uint32_t)address;
		return LITIFUT_OK;
	}
	return litifut_error_set(
		error, LITIFUT_ERROR_UNSUPPORTED, NULL, NULL, LITIFUT_NO_ADDRESS,
		"LITIFUT_PORT: neither memory, user, cmsdk, nrf51, stm32, "
		"stellaris, semihosting, rtt, itm, packet, usart nor an object: %s",
		text);
}
