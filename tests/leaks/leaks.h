/* leaks: how many pieces of memory a test may keep; 0 unless it defines this. */
#pragma once

extern const long myr_leaks_allowed;
