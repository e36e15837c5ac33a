/* TrustZone of a Cortex-M33, in two images: the secure one, which is traced, starts the other one,
 * which calls it back through its gateways (`sg`), and is called by `blxns`; functions return by
 * `bxns`. */
#include <stdint.h>

#define NOINLINE __attribute__((noinline))

#ifdef NONSECURE
int secure_add(int, int);
int secure_leaf(int);
void secure_print(const char *, int);
void secure_register(int (*)(int, int));
int secure_deep(int);
double secure_scale(double);

extern uint32_t stack;

static int NOINLINE back(int a, int b)
{
	return secure_add(a, b) ^ secure_leaf(a);
}

void start(void)
{
	int sum = 0;

	secure_register(back);
	for (int i = 0; i < 10; i++) {
		sum += secure_add(i, sum);
		sum ^= secure_leaf(i);
	}
	secure_print("sum", sum);
	secure_print("deep", secure_deep(5));
	secure_print("scaled", (int)secure_scale(7.0));
}

int calls_back(int a, int b)
{
	return a ? secure_leaf(b) + back(a, b) : 3;
}

__attribute__((section(".vectors"), used))
const void *const vectors[] = {&stack, start, calls_back};
#else
#include <arm_cmse.h>
#include <stdio.h>

#include "board.h"

#define ENTRY __attribute__((cmse_nonsecure_entry, noinline))
#define REGISTER(address) (*(volatile uint32_t *)(address))
#define OTHER_IMAGE 0x00200000u
#define GATEWAYS 0x10100000u

typedef int __attribute__((cmse_nonsecure_call)) other_function(int, int);
typedef void __attribute__((cmse_nonsecure_call)) other_start(void);

static other_function *callback;
static volatile unsigned ticks;

void SysTick_Handler(void)
{
	ticks = ticks + 1;
}

static int NOINLINE mix(int a, int b)
{
	return a * 31 + b;
}

static int (*volatile pointer)(int, int) = mix;

int ENTRY secure_add(int a, int b)
{
	return mix(a, b) + 1;
}

int ENTRY secure_leaf(int a)
{
	return a > 3 ? a * 3 : a + 7;
}

void ENTRY secure_print(const char *text, int value)
{
	if (cmse_check_address_range((void *)text, 1, CMSE_NONSECURE))
		printf("%s %d\n", text, value);
}

void ENTRY secure_register(void *function)
{
	callback = (other_function *)cmse_nsfptr_create(function);
}

int ENTRY secure_deep(int count)
{
	int sum = 0;

	for (int i = 0; i < count; i++) {
		if (cmse_is_nsfptr(callback))
			sum += callback(i, sum);
		sum += pointer(i, 2);
	}
	return sum;
}

double ENTRY secure_scale(double value)
{
	return value * 1.5 + 1;
}

/* Gives the memory of a controller to the other image, from so many bytes on. */
static void give(uint32_t controller, uint32_t from)
{
	uint32_t size = 32u << (REGISTER(controller + 0x14) & 15);

	REGISTER(controller) &= ~0x100u; /* its index does not go on by itself */
	for (uint32_t i = from / size / 32; i <= REGISTER(controller + 0x10); i++) {
		REGISTER(controller + 0x18) = i;
		REGISTER(controller + 0x1c) = 0xffffffff;
	}
}

static void set_region(uint32_t number, uint32_t first, uint32_t last, uint32_t callable)
{
	REGISTER(0xe000edd8) = number;
	REGISTER(0xe000eddc) = first;
	REGISTER(0xe000ede0) = (last & ~31u) | callable << 1 | 1;
}

int main(void)
{
	const volatile uint32_t *vectors = (const volatile uint32_t *)OTHER_IMAGE;
	int sum = 0;

	give(0x58007000, OTHER_IMAGE);
	give(0x58009000, 0x100000);
	set_region(0, OTHER_IMAGE, OTHER_IMAGE + 0xfffff, 0);
	set_region(1, 0x28300000, 0x283fffff, 0);
	set_region(2, GATEWAYS, GATEWAYS + 0xfff, 1);
	REGISTER(0x50080014) |= 1; /* code of the board may be callable */
	REGISTER(0xe000edd0) = 1;
	__asm volatile("msr msp_ns, %0" ::"r"(vectors[0]));
	other_start *start = (other_start *)cmse_nsfptr_create((void *)vectors[1]);
	other_function *calls_back = (other_function *)cmse_nsfptr_create((void *)vectors[2]);

	if (TICKS)
		board_start_ticks(TICKS);
	printf("starts\n");
	start();
	for (int i = 0; i < 20; i++)
		sum += calls_back(i, sum);
	board_stop_ticks();
	printf("ends %d\n", sum);
	return 0;
}
#endif
