	.set noreorder
	.text
	.section .note.GNU-stack, "", @progbits
