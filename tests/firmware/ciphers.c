/* Runs the tests that Mbed TLS has of itself. In place of main.c of examples/firmware. */
#include <stdio.h>

#include <mbedtls/aes.h>
#include <mbedtls/base64.h>
#include <mbedtls/bignum.h>
#include <mbedtls/camellia.h>
#include <mbedtls/chacha20.h>
#include <mbedtls/des.h>
#include <mbedtls/gcm.h>
#include <mbedtls/md5.h>
#include <mbedtls/poly1305.h>
#include <mbedtls/sha1.h>
#include <mbedtls/sha256.h>

#include "board.h"

void SysTick_Handler(void)
{
}

static const struct {
	const char *name;
	int (*test)(int verbose);
} tests[] = {
	{"aes", mbedtls_aes_self_test},           {"base64", mbedtls_base64_self_test},
	{"camellia", mbedtls_camellia_self_test}, {"chacha20", mbedtls_chacha20_self_test},
	{"des", mbedtls_des_self_test},           {"gcm", mbedtls_gcm_self_test},
	{"md5", mbedtls_md5_self_test},           {"mpi", mbedtls_mpi_self_test},
	{"poly1305", mbedtls_poly1305_self_test}, {"sha1", mbedtls_sha1_self_test},
	{"sha256", mbedtls_sha256_self_test},
};

int main(void)
{
	board_start_ticks(1000000);
	for (int round = 0; round < 2; round++)
		for (unsigned i = 0; i < sizeof(tests) / sizeof(*tests); i++)
			printf("%s %s\n", tests[i].name, tests[i].test(0) ? "failed" : "passed");
	board_stop_ticks();
	return 0;
}
