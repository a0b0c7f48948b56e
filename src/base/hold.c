/* hold: signals that wait while files have temporary names (see struct myr_signal_hold). */
#include "file_internal.h"

/* Those that people and systems end programs with; SIGKILL cannot be held. */
static const int fatal_signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};

void file_hold(struct myr_signal_hold *hold)
{
    MYR_ASSERT(!hold->on);
    sigemptyset(&hold->held);
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(fatal_signals); i++) {
        sigaddset(&hold->held, fatal_signals[i]);
    }
    hold->on = pthread_sigmask(SIG_BLOCK, &hold->held, &hold->before) == 0;
    /* Who had blocked a signal before wants to be asked about it himself. */
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(fatal_signals); i++) {
        if (sigismember(&hold->before, fatal_signals[i])) {
            sigdelset(&hold->held, fatal_signals[i]);
        }
    }
}

void file_release(struct myr_signal_hold *hold)
{
    if (hold->on) {
        hold->on = false;
        /* A signal that waits is delivered here, when nothing is left to be taken away. */
        pthread_sigmask(SIG_SETMASK, &hold->before, NULL);
    }
}

/* Asks, and takes nothing: the signal does what it does when the hold ends. */
bool file_interrupted(const struct myr_signal_hold *hold)
{
    sigset_t waiting;
    if (!hold->on || sigpending(&waiting) < 0) {
        return false;
    }
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(fatal_signals); i++) {
        struct sigaction action;
        int number = fatal_signals[i];
        /* A blocked signal waits even where it is ignored, as SIGHUP is under nohup. */
        if (sigismember(&hold->held, number) && sigismember(&waiting, number) &&
            sigaction(number, NULL, &action) == 0 && action.sa_handler != SIG_IGN) {
            return true;
        }
    }
    return false;
}
