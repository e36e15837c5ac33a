/* Holds our decoder of AVR code against avr-objdump, whose disassembly comes on stdin:
 *
 *   avr-objdump -d FILE... | avr-decode
 *
 * Compares the length of each instruction, what calls, jumps and branches are and where they
 * lead. Prints how many there were of each. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cpu/avr/avr.h"

static unsigned long seen[LITIFUT_CLASS_BRANCH_COMPUTED + 1], differ, instructions;

static bool is_one_of(const char *mnemonic, const char *list)
{
	size_t length = strlen(mnemonic);

	for (const char *at = list; (at = strstr(at, mnemonic)); at += length)
		if ((at == list || at[-1] == ' ') && (at[length] == ' ' || !at[length]))
			return true;
	return false;
}

static enum litifut_instruction_class class_of(const char *mnemonic)
{
	if (is_one_of(mnemonic, "call rcall"))
		return LITIFUT_CLASS_CALL_DIRECT;
	if (is_one_of(mnemonic, "icall eicall"))
		return LITIFUT_CLASS_CALL_INDIRECT;
	if (is_one_of(mnemonic, "ijmp eijmp"))
		return LITIFUT_CLASS_BRANCH_INDIRECT;
	if (is_one_of(mnemonic, "jmp rjmp") ||
	    (!strncmp(mnemonic, "br", 2) && strcmp(mnemonic, "break")))
		return LITIFUT_CLASS_BRANCH_DIRECT;
	return LITIFUT_CLASS_OTHER;
}

/* Of "call 0x1234 ; ..." and of "rcall .+6 ; 0x12". */
static bool target_of(const char *operands, uint32_t address, unsigned length, uint32_t *target)
{
	if (*operands == '.')
		*target = address + length + (uint32_t)strtol(operands + 1, NULL, 10);
	else if (*operands >= '0' && *operands <= '9')
		*target = (uint32_t)strtoul(operands, NULL, 0);
	else
		return false;
	return true;
}

int main(void)
{
	const struct cpu_context context = {0};
	char line[512];

	while (fgets(line, sizeof(line), stdin)) {
		struct litifut_instruction got;
		unsigned bytes[4], address, target = 0;
		uint8_t code[4] = {0};
		char mnemonic[32], operands[128] = "";
		char *tab = strchr(line, '\t');
		char *text = tab ? strchr(tab + 1, '\t') : NULL;
		unsigned length = 0;

		if (text) {
			*text++ = '\0'; /* mnemonics look like numbers too */
			length = (unsigned)sscanf(tab, "%2x %2x %2x %2x", &bytes[0], &bytes[1],
						  &bytes[2], &bytes[3]);
		}
		if (!text || sscanf(line, "%x:", &address) != 1 || (length != 2 && length != 4) ||
		    sscanf(text, " %31s %127s", mnemonic, operands) < 1 || mnemonic[0] == '.')
			continue;
		for (unsigned i = 0; i < length; i++)
			code[i] = (uint8_t)bytes[i];
		instructions++;
		/* What follows must not matter but to instructions of two words. */
		bool same = litifut_avr_decode(&context, code, length, address, LITIFUT_CODE_PLAIN,
					       &got) == length &&
			    got.class == class_of(mnemonic) &&
			    litifut_avr_is_skip((uint16_t)(code[0] | code[1] << 8)) ==
				    is_one_of(mnemonic, "cpse sbrc sbrs sbic sbis");

		if (same && litifut_has_target(&got))
			same = target_of(operands, address, length, &target) &&
			       got.target == target;
		seen[got.class]++;
		if (!same && ++differ <= 10)
			printf("differs: %s %s", line, text);
	}
	printf("%lu instructions, %lu direct calls, %lu through Z, %lu branches, %lu through Z, "
	       "%lu differ\n",
	       instructions, seen[LITIFUT_CLASS_CALL_DIRECT], seen[LITIFUT_CLASS_CALL_INDIRECT],
	       seen[LITIFUT_CLASS_BRANCH_DIRECT], seen[LITIFUT_CLASS_BRANCH_INDIRECT], differ);
	return differ || !instructions;
}
