/* language: what documents can be written in. */
#pragma once

#include "myriad/text/lang.h"

/* The built-in languages: "en" (for which 'ret' is left empty and false is given back), "zh". */
MYR_MUST_USE int myr_report_language(struct myr_arena *arena, const char *name,
                                     struct myr_lang *ret, bool *ret_other, struct myr_err *err);
