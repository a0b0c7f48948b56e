/* A cloth of the test's own: who is joined to whom with how much, without a design behind it. */
#pragma once

#include "cloth.h"

enum { SWITCHES_MAX = 24, EDGES_MAX = SWITCHES_MAX * SWITCHES_MAX };

struct sample {
    uint32_t switches;
    uint64_t gbps[SWITCHES_MAX][SWITCHES_MAX];
    uint64_t from[SWITCHES_MAX], to[SWITCHES_MAX];
    /* The same in rows, by sample_cloth(). */
    uint32_t start[SWITCHES_MAX + 1];
    struct cloth_edge edges[EDGES_MAX];
};

static inline void sample_join(struct sample *sample, uint32_t a, uint32_t b, uint64_t gbps)
{
    sample->gbps[a][b] += gbps;
    sample->gbps[b][a] += gbps;
}

static inline struct cloth sample_cloth(struct sample *sample)
{
    uint32_t count = 0;
    for (uint32_t a = 0; a < sample->switches; a++) {
        for (uint32_t b = 0; b < sample->switches; b++) {
            if (sample->gbps[a][b]) {
                sample->edges[count++] = (struct cloth_edge){b, sample->gbps[a][b]};
            }
        }
        sample->start[a + 1] = count;
    }
    return (struct cloth){
        .switches = sample->switches, .start = sample->start, .edges = sample->edges};
}
