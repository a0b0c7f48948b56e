/* trouble: what the service says, and when; what went wrong is told once for each cause. */
#include <stdio.h>
#include <time.h>

#include "service.h"

int64_t kube_wall_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* 'fine' has microseconds, as a Lease has its times; an Event has whole seconds. */
const char *kube_put_time(char ret[40], bool fine)
{
    struct timespec now;
    struct tm parts;
    clock_gettime(CLOCK_REALTIME, &now);
    gmtime_r(&now.tv_sec, &parts);
    size_t length = strftime(ret, 40, "%Y-%m-%dT%H:%M:%S", &parts);
    MYR_ASSERT(length > 0 && length < 32); /* a fraction fits behind it */
    if (fine) {
        snprintf(ret + length, 40 - length, ".%06ldZ", now.tv_nsec / 1000);
    } else {
        snprintf(ret + length, 40 - length, "Z");
    }
    return ret;
}

/* One line, cut where it is longer than any that is meant for people. */
void kube_say(struct service *s, const char *level, const char *fmt, ...)
{
    char text[1200];
    MYR_ASSERT(s->schedule && level);
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);
    if (s->schedule->say) {
        s->schedule->say(s->schedule->context, level, text);
    }
}

/* The same place, read anew; the old one lives on where the new one cannot be read. */
static bool renew_access(struct service *s)
{
    struct myr_kube_access fresh;
    struct myr_err err = {};
    if (s->stopping || myr_kube_access_find(&s->schedule->where, &fresh, &err) < 0) {
        return false;
    }
    struct myr_kube_access old = s->access;
    s->access = fresh;
    if (kube_renew(&s->client, &s->access, &err) < 0) {
        s->access = old;
        myr_kube_access_done(&fresh);
        return false;
    }
    myr_kube_access_done(&old);
    return true;
}

/* Nobody is there, or not for long: the same cause, however it shows. */
static bool is_away(int code)
{
    return code == MYR_EIO || code == MYR_EAWAY;
}

/*
 * One line for one cause, whoever meets it first; one more when the last of them is over. What was
 * refused is looked at again with fresh credentials: a new certificate or token may lie there.
 */
void kube_trouble(struct service *s, enum source source, const struct myr_err *err)
{
    MYR_ASSERT(source < SOURCES && (!err || err->code < 0));
    struct trouble *own = &s->troubles[source];
    bool said = err && own->on && own->code == err->code, other = false;
    if (!err && !own->on) {
        return;
    }
    for (uint32_t i = 0; i < SOURCES; i++) {
        const struct trouble *t = &s->troubles[i];
        /*
         * Silence is one cause whoever meets it, and so are papers that are not believed; a refusal
         * is of the source alone that met it.
         */
        bool same = err && t->on &&
                    (is_away(err->code)          ? is_away(t->code)
                     : err->code == MYR_EUNKNOWN ? t->code == err->code
                                                 : false);
        said = said || same;
        other = other || (t->on && i != source);
    }
    if (!err) {
        own->on = false;
        if (!other) {
            kube_say(s, "info", "%s: well again", s->access.url);
        }
        return;
    }
    own->on = true;
    own->code = err->code;
    if (!said) {
        s->report.troubles++;
        kube_say(s, "warning", "%s%s%s%s", err->message, err->hint[0] ? " (hint: " : "", err->hint,
                 err->hint[0] ? ")" : "");
    }
    if (err->code == MYR_EUNKNOWN || err->code == MYR_EIO) {
        renew_access(s);
    }
}
