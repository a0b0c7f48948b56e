/*
 * fit: step time, memory and the best parallel layout of a model on a number of GPUs.
 *
 *   profile.h   devices, software stacks and the fitted constants, as data
 *   place.h     levels of a fabric
 *   cost.h      time and memory of one layout
 *   interval.h  how far a time may be off, by the distance from what was measured
 *   parts.h     a step taken apart
 *   runs.h      published or own measurements, and the error of the model on them
 *   validate.h  the error on measured runs
 *   search.h    the best layout
 *   pools.h     one job on GPUs of several kinds
 *   case.h      a question as a value: what fit, goodput and the scheduler ask
 *   study.h     a case answered, with all that lies around it
 *   curve.h     how far more GPUs carry
 *   failures.h  goodput of a job of some size; training.h: of a whole training run
 *   recipe.h    what a run switches on beside its layout
 *   why.h       what makes one of two layouts the faster one
 *   advice.h    what lies around it: other choices, other hardware, what does not fit
 *
 * Its folders: question (cases, studies, layout files), cost (time and memory of a layout), search,
 * mixed (pools of several GPUs), goodput (failures, training runs), measure (runs, logs, kernels,
 * calibration), report (plots, timeline).
 */
#pragma once

#include "myriad/fit/advice.h"
#include "myriad/fit/calibrate.h"
#include "myriad/fit/campaign.h"
#include "myriad/fit/case.h"
#include "myriad/fit/compare.h"
#include "myriad/fit/cost.h"
#include "myriad/fit/curve.h"
#include "myriad/fit/facility.h"
#include "myriad/fit/failures.h"
#include "myriad/fit/goodput.h"
#include "myriad/fit/interval.h"
#include "myriad/fit/kernels.h"
#include "myriad/fit/parts.h"
#include "myriad/fit/place.h"
#include "myriad/fit/pools.h"
#include "myriad/fit/profile.h"
#include "myriad/fit/recipe.h"
#include "myriad/fit/report.h"
#include "myriad/fit/runs.h"
#include "myriad/fit/search.h"
#include "myriad/fit/study.h"
#include "myriad/fit/training.h"
#include "myriad/fit/trainlog.h"
#include "myriad/fit/validate.h"
#include "myriad/fit/why.h"
