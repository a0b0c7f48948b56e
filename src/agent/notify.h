/* notify: a word to the service manager, where there is one. */
#pragma once

void notify_manager(const char *text);
