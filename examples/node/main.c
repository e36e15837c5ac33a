#include "node.h"

#include <stdio.h>

#ifndef COUNT
#define COUNT 1000
#endif

int main(void)
{
	uint32_t result;

	board_start();
#if defined(TASK_crc)
	result = task_crc();
#elif defined(TASK_fibonacci)
	result = task_fibonacci();
#elif defined(TASK_send)
	result = task_send(COUNT, false);
#elif defined(TASK_receive)
	result = task_receive(COUNT, false);
#elif defined(TASK_echo)
	result = task_send(COUNT, true);
#elif defined(TASK_answer)
	result = task_receive(COUNT, true);
#else
	result = task_sample(COUNT);
#endif
	printf("result %lu\n", (unsigned long)result);
	board_end();
	return 0;
}
