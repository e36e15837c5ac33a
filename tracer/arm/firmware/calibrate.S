/* Calls that measure what a timed call costs, see tracer/sink/frames/calibrate.c. */
	.syntax	unified
	.thumb
	.text
	.global	litifut_clock_read, litifut_calibration_timed, litifut_calibration_plain
	.hidden	litifut_clock_read, litifut_calibration_timed, litifut_calibration_plain
	.global	litifut_calibration_number, litifut_calibrate_all
	.hidden	litifut_calibration_number, litifut_calibrate_all
	.type	litifut_clock_read, %function
	.type	litifut_calibration_timed, %function
	.type	litifut_calibration_plain, %function
	.type	litifut_calibration_number, %object
	.type	litifut_calibrate_all, %function
	.thumb_func
	.balign	4
litifut_clock_read:
	push	{r4, lr}
	bl	litifut_clock
	pop	{r4, pc}
	.thumb_func
litifut_calibration_timed:
	push	{r4, lr}
	bl	1f
	pop	{r4, pc}
	.thumb_func
litifut_calibration_plain:
	push	{r4, lr}
	bl	2f
	pop	{r4, pc}
/* Where the clock runs from its start on. */
	.thumb_func
litifut_calibrate_all:
	push	{r4, lr}
	movs	r4, #16
3:	bl	litifut_calibrate
	subs	r4, #1
	bne	3b
	pop	{r4, pc}
	.balign	4
1:	push	{r0, lr}		@ as the stub of a site
	bl	litifut_time_call
litifut_calibration_number:		@ of its record; the rewriter fills it
	.hword	0
	.word	2f + 1
2:	bx	lr
	.size	litifut_clock_read, . - litifut_clock_read
	.size	litifut_calibration_number, 2
