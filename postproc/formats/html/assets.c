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

/* The script, one part behind the other. */
#define PART(name) ".incbin \"postproc/formats/html/script/" name ".js\"\n"

/* clang-format off */
__asm__(".pushsection .rodata\n"
	".globl post_html_script\n"
	"post_html_script:\n"
	".ascii \"\\\"use strict\\\";\\n(() => {\\n\"\n"
	PART("page")
	PART("functions")
	PART("function")
	PART("canvas")
	PART("flame")
	PART("timeline")
	PART("source")
	PART("code")
	PART("ends")
	PART("about")
	PART("views")
	".asciz \"})();\\n\"\n"
	".popsection\n");
/* clang-format on */
