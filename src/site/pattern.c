#include "myriad/site/verify.h"

const char *const myr_pattern_kind_names[MYR_PATTERN_KIND_COUNT] = {
    "cage-halves-swapped", "bundle-shifted", "leaf-pair-exchanged",  "devices-exchanged",
    "rails-permuted",      "rack-rotated",   "splitter-legs-crossed"};
