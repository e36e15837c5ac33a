/* An entry of the pool of open calls on an AVR: addresses have 2 bytes, and return addresses 2 or
 * 3. The rest is in <litifut/firmware_pool.h>. */
#ifndef LITIFUT_AVR_POOL_H
#define LITIFUT_AVR_POOL_H

#define LITIFUT_AVR_OPEN_BYTES(return_bytes) (10 + (return_bytes))

#ifdef __AVR__
/* Offsets; see the same names in <litifut/firmware_pool.h>. */
#define OPEN_NEXT 0
#define OPEN_STACK 2
#define OPEN_RECORD 4
#define OPEN_START 6
#define OPEN_RETURN 10
#ifdef __AVR_3_BYTE_PC__
#define OPEN_BYTES LITIFUT_AVR_OPEN_BYTES(3)
#else
#define OPEN_BYTES LITIFUT_AVR_OPEN_BYTES(2)
#endif
#endif

#endif
