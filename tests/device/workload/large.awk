# Prints a C source with more code than a branch reaches on MIPS, twice over, in one
# object: 500 functions that call each other, functions of the C library, and one
# through a pointer. Compiled with -DPART=name it is the function `name`.
BEGIN {
	print "#include <string.h>"
	print "#define KEEP __attribute__((noipa))"
	print "static KEEP int leaf(int a, int b) { return a * 3 + b; }"
	print "static KEEP int other(int a, int b) { return a - b * 5; }"
	print "int (*volatile pointer)(int, int) = other;"
	count = 500
	for (i = 0; i < count; i++) {
		printf "static KEEP int f%d(int a, int b)\n{\n\tint v[%d];\n", i, 8 + i % 5
		printf "\tmemset(v, a, sizeof(v));\n"
		for (j = 0; j < 8 + i % 5; j++)
			printf "\tv[%d] += leaf(a + %d, b ^ %d) + pointer(b, v[%d]);\n", j, j, i, j
		if (i)
			printf "\tif (a & 1)\n\t\tv[1] += f%d(a >> 1, b + v[2]);\n", (i * 7919) % i
		# some end in a tail call
		printf "\treturn %s;\n}\n", i % 4 ? "v[0] ^ v[1] ^ v[4]" : "leaf(v[0], v[3])"
	}
	print "int PART(int rounds)\n{\n\tunsigned sum = 1;\n\tfor (int i = 0; i < rounds; i++) {"
	for (i = 0; i < count; i++)
		printf "\t\tsum = sum * 31 + (unsigned)f%d(i + %d, (int)(sum %% 97));\n", i, i % 7
	print "\t}\n\treturn (int)(sum & 0x7fffffff);\n}"
}
