#include "myriad/fit/place.h"

const char *const myr_fit_level_names[MYR_FIT_LEVELS] = {"scale-up", "leaf", "pod"};
