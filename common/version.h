/* The version of all programs here. */
#ifndef LITIFUT_COMMON_VERSION_H
#define LITIFUT_COMMON_VERSION_H

#define LITIFUT_VERSION "0.1"

/* The same with the commit that was built, where it is known: for --version. */
extern const char litifut_version[];

#endif
