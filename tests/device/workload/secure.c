/* Set-uid programs on a real kernel:
 *   secure             calls step() 100 times and says what it is
 *   secure as-nobody PROGRAM ARGUMENTS...     runs it as a user without rights
 */
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

__attribute__((noipa)) static void step(void)
{
	__asm__ volatile("");
}

int main(int count, char **arguments)
{
	if (count > 2 && !strcmp(arguments[1], "as-nobody")) {
		if (setgid(65534) || setuid(65534))
			return 1;
		execv(arguments[2], arguments + 2);
		return 1;
	}
	for (int i = 0; i < 100; i++)
		step();
	printf("secure: %d user: %d %d\n", getauxval(AT_SECURE) != 0, (int)getuid(),
	       (int)geteuid());
	return 0;
}
