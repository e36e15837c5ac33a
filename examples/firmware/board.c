/* The boards of QEMU that the example runs on, and what newlib needs of them. */
#include "board.h"

#include <errno.h>
#include <stddef.h>
#include <sys/stat.h>

#define REGISTER(address) (*(volatile uint32_t *)(uintptr_t)(address))

#ifdef BOARD_microbit
#define UART 0x40002000u /* nRF51 */

void board_init(void)
{
	REGISTER(UART + 0x500) = 4; /* ENABLE */
	REGISTER(UART + 0x008) = 1; /* STARTTX */
}

void board_putc(int character)
{
	REGISTER(UART + 0x11c) = 0; /* TXDRDY */
	REGISTER(UART + 0x51c) = (uint32_t)character;
	while (!REGISTER(UART + 0x11c))
		;
}
#elif defined(BOARD_netduino2)
#define UART 0x40011000u /* STM32F2: USART1 */

void board_init(void)
{
	REGISTER(UART + 0x0c) = 0x2008; /* CR1: on, transmitter on */
}

void board_putc(int character)
{
	while (!(REGISTER(UART) & 0x80)) /* SR: transmitter empty */
		;
	REGISTER(UART + 0x04) = (uint32_t)character;
}
#elif defined(BOARD_lm3s6965evb)
#define UART 0x4000c000u /* Stellaris, a PL011 */

void board_init(void)
{
	REGISTER(UART + 0x30) = 0x301; /* CTL: on, both directions */
}

void board_putc(int character)
{
	while (REGISTER(UART + 0x18) & 0x20) /* FR: transmitter full */
		;
	REGISTER(UART) = (uint32_t)character;
}
#else
#if defined(BOARD_mps2_an505)
#define UART 0x40200000u
#elif defined(BOARD_mps3_an547)
#define UART 0x49303000u
#else
#define UART 0x40004000u /* CMSDK */
#endif

void board_init(void)
{
	REGISTER(UART + 0x10) = 16; /* BAUDDIV */
	REGISTER(UART + 0x08) = 1;  /* CTRL: transmitter on */
}

void board_putc(int character)
{
	while (REGISTER(UART + 0x04) & 1) /* STATE: transmitter full */
		;
	REGISTER(UART) = (uint32_t)character;
}
#endif

void board_start_ticks(uint32_t cycles)
{
	REGISTER(0xe000e014) = cycles - 1;
	REGISTER(0xe000e018) = 0;
	REGISTER(0xe000e010) = 7;
}

void board_stop_ticks(void)
{
	REGISTER(0xe000e010) = 4; /* the clock's source stays: QEMU would scale the count */
}

int _write(int file, const char *text, int length)
{
	(void)file;
	for (int i = 0; i < length; i++)
		board_putc(text[i]);
	return length;
}

/* The heap grows from the end of .bss. */
void *_sbrk(ptrdiff_t bytes)
{
	extern char end;
	static char *top = &end;
	char *old = top;

	top += bytes;
	return old;
}

/* Semihosting: ends the emulator. */
void _exit(int status)
{
	register uint32_t operation __asm__("r0") = 0x18;
	register uint32_t reason __asm__("r1") = status ? 0x20023 : 0x20026;

	__asm__ volatile("bkpt 0xab" : "+r"(operation) : "r"(reason) : "memory");
	for (;;)
		;
}

int _close(int file)
{
	(void)file;
	return -1;
}

int _fstat(int file, struct stat *status)
{
	(void)file;
	status->st_mode = S_IFCHR;
	return 0;
}

int _isatty(int file)
{
	(void)file;
	return 1;
}

int _lseek(int file, int offset, int whence)
{
	(void)file;
	(void)offset;
	(void)whence;
	return 0;
}

int _read(int file, char *text, int length)
{
	(void)file;
	(void)text;
	(void)length;
	return 0;
}

int _getpid(void)
{
	return 1;
}

int _kill(int process, int signal)
{
	(void)process;
	(void)signal;
	errno = EINVAL;
	return -1;
}
