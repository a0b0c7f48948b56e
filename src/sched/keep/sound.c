#include "keep/sound.h"

#include <math.h>

#include "place/index.h"
#include "queue/lengths.h"

/*
 * Whether a state that was read can be worked with. A file may hold anything, and the code of the
 * queue trusts its own indices, lists and counts: each of them is checked here from what it is
 * derived from, without the code that keeps it.
 */

static bool policy_sound(const struct myr_queue_policy *p)
{
    const int64_t times[] = {p->patience_s, p->locality_s, p->checkpoint_s, p->restart_s,
                             p->level_s,    p->run_min_s,  p->yield_s,      p->stop_after_s,
                             p->keep_s,     p->avoid_s};
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(times); i++) {
        /* A length that cannot overflow when it is added to a time or multiplied by a few. */
        if (times[i] < 0 || times[i] > INT64_C(1) << 40) {
            return false;
        }
    }
    return (uint32_t)p->order <= MYR_ORDER_FAIR && p->loss_permille <= 1000 &&
           sound_bool(&p->plain) && sound_bool(&p->preempt) && sound_bool(&p->confirm);
}

/* Totals are of what is counted, and what was found of it can be said. */
static bool lengths_sound(const struct lengths *l)
{
    for (uint32_t class = 0; class < LENGTH_CLASSES; class ++) {
        uint64_t total = 0;
        for (uint32_t bucket = 0; bucket < LENGTH_BUCKETS; bucket++) {
            total += l->counts[class][bucket];
            if (l->cost[class][bucket] > LENGTH_BUCKETS) {
                return false;
            }
        }
        /* Totals may not have been asked about yet, but never more than there are. */
        if (l->totals[class] != total || l->told[class] > total) {
            return false;
        }
    }
    return true;
}

/* The frame of everything else: sizes that all arrays follow. */
static bool frame_sound(const struct myr_queue *q)
{
    const struct myr_place_shape *s = &q->shape;
    if (!q->placer || !q->lengths || !lengths_sound(q->lengths) || !placer_is_sound(q->placer) ||
        s->pod_nodes == 0) {
        return false;
    }
    /* The queue's own shape may have smaller pods: the placer rounds them up to leaves. */
    const struct myr_place_shape *p = &q->placer->shape;
    return s->nodes == p->nodes && s->gpus_per_node == p->gpus_per_node &&
           s->group_nodes == p->group_nodes && s->pod_nodes <= p->pod_nodes &&
           s->pod_nodes >= s->group_nodes && policy_sound(&q->policy) && sound_bool(&q->handed) &&
           (q->now_s == INT64_MIN || sound_time(q->now_s)) && q->usual_wait >= 0 &&
           q->usual_wait <= INT64_C(1) << 51 && q->shares > 0;
}

/* Nodes of a hold are inside the cluster. */
static bool holds_sound(const struct myr_queue *q)
{
    for (size_t i = 0; i < q->holds.count; i++) {
        const struct hold *hold = &q->holds.items[i];
        /* The job may be over and forgotten: such a hold goes with the next decision. */
        if (hold->job >= q->job_count || !sound_time(hold->since_s) || hold->since_s > q->now_s ||
            hold->idle_gpu_s < 0 || !sound_time(hold->idle_gpu_s)) {
            return false;
        }
        for (size_t k = 0; k < hold->nodes.count; k++) {
            if (hold->nodes.items[k] >= q->shape.nodes) {
                return false;
            }
        }
    }
    return true;
}

/* Within the cluster, with times that can be added. */
static bool windows_sound(const struct myr_queue *q)
{
    for (size_t i = 0; i < q->windows.count; i++) {
        const struct window *w = &q->windows.items[i];
        /* Ids go up: windows stand in the order in which they came. */
        if (w->id >= q->window_count || (i && w->id <= q->windows.items[i - 1].id) ||
            w->spec.first >= q->shape.nodes || w->spec.count > q->shape.nodes - w->spec.first ||
            !sound_time(w->spec.start_s) || !sound_time(w->spec.end_s) || w->spec.drain_s < 0 ||
            !sound_time(w->spec.drain_s) || w->stage > 3 || w->cancelled > 1 ||
            w->job > q->job_count) {
            return false;
        }
    }
    return true;
}

/* Replicas are jobs that are not over and know their service, each of them once. */
static bool services_sound(const struct myr_queue *q)
{
    MYR_CLEANUP(myr_free_at) uint8_t *seen = myr_xcalloc(q->jobs.count + 1, 1);
    for (size_t s = 0; s < q->services.count; s++) {
        const struct service *service = &q->services.items[s];
        const struct myr_service *spec = &service->spec;
        if (spec->tenant >= q->tenant_count || spec->gpus == 0 ||
            spec->gpus > (uint64_t)q->shape.nodes * q->shape.gpus_per_node ||
            spec->priority < -MYR_PRIORITY_MAX || spec->priority > MYR_PRIORITY_MAX ||
            spec->replicas_min > spec->replicas_max) {
            return false;
        }
        for (size_t i = 0; i < service->jobs.count; i++) {
            /* A replica that is over has been replaced. */
            const struct qjob *job = sound_job(q, service->jobs.items[i]);
            if (!job || job->service != s || job->state == MYR_JOB_DONE ||
                seen[job - q->jobs.items]) {
                return false;
            }
            seen[job - q->jobs.items] = 1;
        }
    }
    return true;
}

/* Each entry is before those below it; values are below a bound, or MYR_NONE where that may be. */
static bool heap_sound(const struct myr_heap *heap, uint64_t bound, bool none)
{
    for (uint32_t i = 0; i < heap->count; i++) {
        const struct myr_heap_item *item = &heap->items[i];
        /* Four children an entry, as myr_heap has it. */
        const struct myr_heap_item *above = &heap->items[i ? (i - 1) / 4 : 0];
        bool after = item->key > above->key ||
                     (item->key == above->key && (i == 0 || item->order > above->order));
        if (!after || (item->value >= bound && !(none && item->value == MYR_NONE))) {
            return false;
        }
    }
    return true;
}

/* Who is due for a search, and the notes on searches in vain. */
static bool tries_sound(const struct myr_queue *q)
{
    const struct tries *t = &q->tries;
    size_t due = 0;
    /* Every line that says it is due stands in the list, so the two numbers agree. */
    for (size_t i = 0; i < q->lines.count; i++) {
        due += q->lines.items[i].due;
    }
    for (size_t i = 0; i < t->due.count; i++) {
        if (t->due.items[i] >= q->lines.count || !q->lines.items[t->due.items[i]].due) {
            return false;
        }
    }
    for (uint32_t i = 0; i < VAIN_MAX; i++) {
        if (t->vain[i].gpus && !sound_time(t->vain[i].at_s)) {
            return false;
        }
    }
    return due == t->due.count && sound_bool(&t->known) && t->vain_next < VAIN_MAX &&
           heap_sound(&t->later, q->lines.count, false);
}

/* Closed nodes: as many spares and nodes to avoid as is said. */
static bool closed_sound(const struct myr_queue *q)
{
    uint32_t spares = 0, avoided = 0;
    for (uint32_t node = 0; node < q->shape.nodes; node++) {
        spares += q->closed[node] & CLOSED_SPARE ? 1 : 0;
        avoided += q->closed[node] & CLOSED_AVOID ? 1 : 0;
        if (q->closed[node] & ~(CLOSED_HOLD | CLOSED_SPARE | CLOSED_BAD)) {
            return false;
        }
    }
    for (size_t i = 0; i < q->avoids.count; i++) {
        if (q->avoids.items[i].node >= q->shape.nodes ||
            !(q->closed[q->avoids.items[i].node] & CLOSED_AVOID)) {
            return false;
        }
    }
    return spares == q->spares_kept && avoided == q->avoids.count;
}

/* Whether two cells differ in none but the digits given. */
static bool differ_within(const struct myr_job_traffic *t, uint32_t bits, uint32_t a, uint32_t b)
{
    for (uint32_t d = 0; d < t->digit_count; d++) {
        if (!(bits >> d & 1) && a % t->digits[d] != b % t->digits[d]) {
            return false;
        }
        a /= t->digits[d];
        b /= t->digits[d];
    }
    return true;
}

/* Pairs along one digit, from each of its values but the last, or from the first alone. */
static bool pairs_sound(const struct myr_job_traffic *t, const struct myr_traffic_family *f)
{
    uint32_t digit = 0, stride = 1;
    bool ends = f->members == MYR_MEMBERS_ENDS;
    for (; !(f->digit_bits >> digit & 1); digit++) {
        stride *= t->digits[digit];
    }
    uint32_t size = t->digits[digit], from = ends ? 1 : size - 1;
    if (f->digit_bits != 1U << digit || f->group_size != 2 || size < 2 || f->offsets[0] != 0 ||
        f->offsets[1] != (ends ? stride * (size - 1) : stride) ||
        f->group_count != t->cells / size * from) {
        return false;
    }
    for (uint32_t g = 0; g < f->group_count; g++) {
        /* They go up, as they are made, so none comes twice. */
        if (f->firsts[g] / stride % size >= from || (g && f->firsts[g] <= f->firsts[g - 1])) {
            return false;
        }
    }
    return true;
}

/* What the digits say of the groups: searches count by them and do not look at the members. */
static bool digits_sound(const struct myr_job_traffic *t, const struct myr_traffic_family *f)
{
    uint64_t members = 1;
    if (f->members == MYR_MEMBERS_LISTED) {
        return true;
    }
    if (f->digit_bits == 0 || f->members != MYR_MEMBERS_ALL) {
        return f->digit_bits != 0 && pairs_sound(t, f);
    }
    for (uint32_t d = 0; d < t->digit_count; d++) {
        members *= f->digit_bits >> d & 1 ? t->digits[d] : 1;
    }
    /* No cell is in two groups, so with as many as these none is missing. */
    bool sound = members == f->group_size && members * f->group_count == t->cells;
    for (uint32_t g = 0; g < f->group_count && sound; g++) {
        for (uint32_t m = 1; m < f->group_size && sound; m++) {
            sound = differ_within(t, f->digit_bits, f->firsts[g] + f->offsets[0],
                                  f->firsts[g] + f->offsets[m]);
        }
    }
    return sound;
}

/* Every member of every group is a cell of the gang; of links it may be in two, else in one. */
static bool family_sound(const struct myr_job_traffic *t, const struct myr_traffic_family *f)
{
    if ((uint32_t)f->members > MYR_MEMBERS_ENDS || f->digit_bits >> t->digit_count ||
        !isfinite(f->bytes) || f->bytes < 0 || f->group_size < 2 || f->group_count == 0) {
        return false;
    }
    MYR_CLEANUP(myr_free_at) uint8_t *in = myr_xcalloc(t->cells, 1);
    uint8_t most = f->group_size == 2 && f->members != MYR_MEMBERS_ALL ? 2 : 1;
    /* Searches follow these without looking where they lead. */
    for (uint32_t g = 0; g < f->group_count; g++) {
        for (uint32_t m = 0; m < f->group_size; m++) {
            uint64_t cell = (uint64_t)f->firsts[g] + f->offsets[m];
            if (cell >= t->cells || ++in[cell] > most) {
                return false;
            }
        }
    }
    return digits_sound(t, f);
}

/* Digits multiply to the number of cells, and families keep to them. */
static bool traffic_sound(const struct myr_job_traffic *t, const struct qrequest *r)
{
    uint64_t cells = 1;
    if (t->cells != r->nodes || t->gpus_per_cell != r->gpus_per_node ||
        t->family_count > MYR_TRAFFIC_FAMILIES_MAX || t->digit_count > MYR_TRAFFIC_DIGITS_MAX ||
        !isfinite(t->inside_bytes) || !isfinite(t->between_bytes) || t->between_bytes < 0) {
        return false;
    }
    for (uint32_t d = 0; d < t->digit_count; d++) {
        if (t->digits[d] == 0 || t->digits[d] > t->cells) {
            return false;
        }
        cells *= t->digits[d];
        /* Before the next factor: a product of many would overflow. */
        if (cells > t->cells) {
            return false;
        }
    }
    for (uint32_t i = 0; i < t->family_count; i++) {
        if (!family_sound(t, &t->families[i])) {
            return false;
        }
    }
    return cells == t->cells;
}

static bool request_sound(const struct myr_queue *q, const struct qrequest *r)
{
    return r->nodes > 0 && r->nodes <= q->shape.nodes && r->gpus_per_node > 0 &&
           r->gpus_per_node <= q->shape.gpus_per_node && r->limited <= 1 &&
           r->within < MYR_LEVEL_COUNT && r->kind_given <= 1 && r->kind <= UINT8_MAX &&
           (r->exclude_words == 0 || r->exclude_words == q->shape.nodes / 64 + 1) &&
           (!r->traffic || traffic_sound(r->traffic, r));
}

/* Each request has as many users as jobs name it; the rest is linked up. */
static bool requests_sound(const struct myr_queue *q)
{
    uint64_t users = 0, asked = 0, unused = 0;
    for (size_t i = 0; i < q->jobs.count; i++) {
        const struct qjob *job = &q->jobs.items[i];
        if (job->id != MYR_NONE && job->request != MYR_NONE) {
            const struct qrequest *r = &q->requests.items[job->request];
            asked++;
            if (r->nodes * (uint64_t)r->gpus_per_node != job->wish) {
                return false;
            }
        }
    }
    for (size_t i = 0; i < q->requests.count; i++) {
        /* Compared in sum with the jobs that name requests. */
        users += q->requests.items[i].users;
        unused += q->requests.items[i].users == 0;
        if (q->requests.items[i].users && !request_sound(q, &q->requests.items[i])) {
            return false;
        }
    }
    /* 'unused' counts down, so a list that runs in a circle ends. */
    for (uint32_t at = q->request_free; at != MYR_NONE; at = q->requests.items[at].next_free) {
        if (at >= q->requests.count || q->requests.items[at].users || unused-- == 0) {
            return false;
        }
    }
    return users == asked && unused == 0;
}

/* In an order in which each check may rely on those before it. */
bool queue_is_sound(const struct myr_queue *q)
{
    return frame_sound(q) &&
           myr_tenants_check(q->tenants, q->tenant_count, &q->shape, NULL) == MYR_OK &&
           sound_table(q) && sound_jobs(q) && requests_sound(q) && sound_lines(q) &&
           sound_gpus(q) && sound_cells(q) && holds_sound(q) && windows_sound(q) &&
           services_sound(q) && heap_sound(&q->wakes, q->job_count, true) && tries_sound(q) &&
           closed_sound(q);
}
