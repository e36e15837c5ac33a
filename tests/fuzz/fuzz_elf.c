/* Any bytes as an ELF file: identity, symbols, PLT, call sites, veneers, mini
 * debug info. Source lines are left out: they are libdw's business. */
#include <stdlib.h>

#include "postproc/sources/image.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct litifut_error error;
	struct post_image *image;

	if (size > 1 << 20 ||
	    post_image_open_memory(data, size, "fuzz", &image, &error) != LITIFUT_OK)
		return 0;
	post_image_load(image, NULL, &error);
	struct litifut_code_reader code = post_image_code(image);
	for (size_t i = 0; i < image->symbols.count && i < 1000; i++) {
		const struct post_symbol *symbol = &image->symbols.items[i];
		if (i && image->symbols.items[i - 1].address >= symbol->address)
			abort();
		if (symbol->address < symbol->end &&
		    !post_symbols_find(&image->symbols, symbol->address))
			abort();
		cpu_is_veneer(image->cpu, symbol->name);
		image->cpu->linkage.follow(&code, symbol->address);
		image->cpu->linkage.follow(&code, symbol->address | 1);
	}
	for (size_t i = 0; i < image->site_count && i < 1000; i++) {
		bool tail = image->sites[i].kind == LITIFUT_SITE_TAIL_DIRECT ||
			    image->sites[i].kind == LITIFUT_SITE_TAIL_INDIRECT;
		if (!post_image_site(image, image->sites[i].return_address, tail))
			abort();
	}
	post_image_close(image);
	return 0;
}
