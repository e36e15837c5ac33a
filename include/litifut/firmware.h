/* For firmware that is traced: switch recording off and on, begin anew, send the results. In a
 * link without LITIFUT=1 the tracer's functions do not exist, so that they are weak here; test the
 * address:
 *
 *	if (litifut_stop)
 *		litifut_stop();
 *
 * A function is linked in only if the program names it. */
#ifndef LITIFUT_FIRMWARE_H
#define LITIFUT_FIRMWARE_H

#ifdef __cplusplus
extern "C" {
#endif

/* Calls that begin from now on are not recorded. What is open is timed to its end. */
void litifut_stop(void) __attribute__((weak));
void litifut_start(void) __attribute__((weak));

/* All numbers are 0 again, and events that have not been sent are forgotten. */
void litifut_reset(void) __attribute__((weak));

/* Sends everything once (LITIFUT_PORT), and returns when that is done. Two tasks must not call it
 * at the same time. */
void litifut_send(void) __attribute__((weak));

/* With LITIFUT_COMPACT=1 (LITIFUT_MODE=paths): does a little of a sending, for an idle loop or a
 * task, and returns 0 if there is nothing to be sent now. On an AVR it takes at most 2,000 cycles.
 */
int litifut_send_some(void) __attribute__((weak));

/* Puts a mark among the events of LITIFUT_MODE=spans: a number from 3 on is one of the program's; 0
 * says that a pin is set now, which a power analyser sees. Other modes do not have the function. */
void litifut_mark(unsigned number) __attribute__((weak));

/* The program's own, where LITIFUT_PORT=packet: sends these bytes, at most 32, as one packet, or
 * returns 0 while that is not possible. */
int litifut_packet(const unsigned char *bytes, unsigned count);

#ifdef __cplusplus
}
#endif

#endif
