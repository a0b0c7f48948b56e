/* search: the best layout of a model on a number of GPUs. */
#pragma once

#include "myriad/fit/cost.h"
