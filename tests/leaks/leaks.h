/* leaks: how many pieces of memory a test may keep; 0 unless it defines this. */
#pragma once

extern long myr_leaks_allowed;
