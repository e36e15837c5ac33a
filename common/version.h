/* The version of all programs here. */
#ifndef LITIFUT_COMMON_VERSION_H
#define LITIFUT_COMMON_VERSION_H

#define LITIFUT_VERSION "0.1"

#endif
