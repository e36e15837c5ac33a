/* No operating system: firmware. */
#include "platform/platform.h"

const struct platform platform_none = {.name = "none", .own_layout = true};
