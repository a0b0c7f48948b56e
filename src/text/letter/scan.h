/* What the looks at a text share. Private. */
#pragma once

#include "myriad/base.h"

bool kind_begins(struct myr_str text, const char *with);
/* Anywhere in the part that is looked at. */
bool kind_contains(struct myr_str text, const char *word);
bool kind_is_blank(char c);
/* Without blanks and line ends at both ends. */
struct myr_str kind_trim(struct myr_str text);
/* The next line without its end; 'rest' moves behind it. */
struct myr_str kind_next_line(struct myr_str *rest);
