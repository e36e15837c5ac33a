/* A word behind the code, as boot loaders have their version there, and the length of the code's
 * memory as a symbol of the program. */
__attribute__((section(".stamp"), used)) const char stamp[] = "1.0";
__asm__(".global room\nroom = 168");
