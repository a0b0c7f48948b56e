/*
 * rounds: how often a random case is drawn. Under the sanitizers, which are ten times as slow, an
 * eighth of the draws executes the same lines.
 */
#pragma once

#ifdef __SANITIZE_ADDRESS__
#define TEST_ROUNDS(all) ((all) / 8)
#else
#define TEST_ROUNDS(all) (all)
#endif
