/* A firmware in LITIFUT_MODE=units may bring a recorder, litifut_token(), with which others are
 * compared (tests/firmware/avr_lis.S). It gets tokens as those of LIS ("Scoped identifiers for
 * efficient bit aligned logging", 2010), and no ring of records is kept then. There is one token
 * where a unit starts, one for each way out of a conditional branch of it, and one where it ends.
 * litifut_token() is called for each. Behind the call stand two words of 16 bits, where control
 * must not come: the token, at the upper end, and how many bits it has. A token without bits is not
 * recorded.
 *
 * A unit that starts has its number among all units; the other tokens have numbers of that unit
 * alone. If the program has a symbol litifut_tokens_global, all have numbers among all. */
#ifndef LITIFUT_REWRITER_TOKENS_H
#define LITIFUT_REWRITER_TOKENS_H

#include <stdbool.h>

#include "rewriter/numbers.h"

#define LITIFUT_TOKENS_SYMBOL "litifut_token"
#define LITIFUT_TOKENS_GLOBAL_SYMBOL "litifut_tokens_global"

/* What is recorded of the block: of its end by LITIFUT_WAY_TAKEN, if `entry'. */
struct litifut_number_calls litifut_tokens_of(const struct litifut_graph *graph, bool global,
					      size_t block, bool entry, enum litifut_edge_way way);

#endif
