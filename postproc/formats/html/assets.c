/* The files beside this one as bytes of the program. Their paths are those from the top of
 * the source tree, where make runs the compiler. */
#include "postproc/formats/html/assets.h"

#define ASSET(symbol, file)                                                                        \
	__asm__(".pushsection .rodata\n"                                                           \
		".globl " #symbol "\n" #symbol ":\n"                                               \
		".incbin \"postproc/formats/html/" file "\"\n"                                     \
		".byte 0\n"                                                                        \
		".popsection\n")

ASSET(post_html_page, "page.html");
ASSET(post_html_style, "page.css");
ASSET(post_html_body, "body.html");
ASSET(post_html_script, "app.js");
