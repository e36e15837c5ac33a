/* The file of the callee is asked first, then that of the caller, which may have a declaration. */
#include "postproc/model/parameters.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dwarf/functions.h"
#include "postproc/model/lines.h"

#define NUMBERS (LITIFUT_ARGUMENT_LAST + 1)

/* Of one function, by number of the argument; the texts are the session's. */
struct post_parameters {
	const char *names[NUMBERS];
};

static const char *keep_text(struct post_session *session, const char *text)
{
	POST_GROW(session->texts, session->text_count, session->text_capacity);
	session->texts[session->text_count] = post_copy_text(text);
	return session->texts[session->text_count++];
}

static const struct dwarf_functions *functions_of(struct post_session *session, uint32_t module)
{
	struct post_image *image = module == POST_NONE ? NULL : session->modules[module].image;

	if (!image || image->functions_read)
		return image ? image->functions : NULL;
	image->functions_read = true;
	image->functions =
		dwarf_functions_read(post_lines_dwarf(image), image->cpu, image->file.flags);
	return image->functions;
}

/* Without its version. */
static void copy_symbol(char *text, size_t size, const char *symbol)
{
	snprintf(text, size, "%.*s", (int)strcspn(symbol, "@"), symbol);
}

static struct post_parameters *look_up(struct post_session *session, uint32_t function,
				       uint32_t call)
{
	const struct post_function *about = &session->functions[function];
	const uint32_t caller = call == POST_NONE ? POST_NONE : session->calls[call].site_module;
	const struct dwarf_functions *own = functions_of(session, about->module);
	const struct dwarf_functions *other = functions_of(session, caller);
	struct post_parameters *names = post_allocate(1, sizeof(*names));
	struct dwarf_parameters parameters = {0};
	char symbol[256];

	copy_symbol(symbol, sizeof(symbol), about->symbol ? about->symbol : "");
	if (!(own && dwarf_functions_parameters(own, about->plt ? 0 : about->address, symbol,
						&parameters)) &&
	    other && other != own)
		dwarf_functions_parameters(other, 0, symbol, &parameters);
	for (unsigned i = 0; i < parameters.count; i++) {
		const struct dwarf_parameter *parameter = &parameters.items[i];

		for (unsigned word = 0; parameter->name && word < parameter->words; word++) {
			char name[256];

			snprintf(name, sizeof(name), word ? "%.200s+%u" : "%.200s", parameter->name,
				 4 * word);
			names->names[parameter->word + word] = keep_text(session, name);
		}
	}
	return names;
}

const char *post_parameter_name(struct post_session *session, uint32_t function, uint32_t call,
				unsigned number)
{
	if (function >= session->function_count)
		return NULL;
	if (function >= session->parameter_count) {
		const size_t count = session->function_count;

		session->parameters =
			post_reallocate(session->parameters, count, sizeof(*session->parameters));
		memset(session->parameters + session->parameter_count, 0,
		       (count - session->parameter_count) * sizeof(*session->parameters));
		session->parameter_count = count;
	}
	struct post_parameters **names = &session->parameters[function];

	if (!*names)
		*names = look_up(session, function, call);
	return number < NUMBERS ? (*names)->names[number] : NULL;
}
