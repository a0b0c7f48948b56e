/* clang-format off */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
/* clang-format on */
#include <stdlib.h>

#include "split.h"

enum { NODES_MAX = 24, EDGES_MAX = 700, COLOURS_MAX = 33 };

struct graph {
    struct split_shape shape;
    struct split_edge edges[EDGES_MAX];
    uint32_t count;
};

static void make_graph(struct graph *graph, struct myr_rng *rng)
{
    graph->shape.nodes = 1 + myr_rng_below(rng, NODES_MAX);
    graph->shape.outers = graph->shape.nodes;
    graph->count = myr_rng_below(rng, EDGES_MAX + 1);
    for (uint32_t i = 0; i < graph->count; i++) {
        uint32_t a = myr_rng_below(rng, graph->shape.nodes);
        uint32_t b = myr_rng_below(rng, graph->shape.nodes);
        bool leaves = a / 4 != b / 4;
        graph->edges[i] = (struct split_edge){
            {a, b}, {leaves ? a / 4 : SPLIT_NO_OUTER, leaves ? b / 4 : SPLIT_NO_OUTER}};
    }
}

/* Edges of each colour at a node differ by one at most: nothing can be more even. */
static void check_node(const struct graph *graph, const uint32_t *colour, uint32_t colours,
                       uint32_t side, uint32_t node, uint64_t seed)
{
    uint32_t held[COLOURS_MAX] = {}, degree = 0;
    for (uint32_t i = 0; i < graph->count; i++) {
        assert_true(colour[i] < colours);
        if (graph->edges[i].node[side] == node) {
            held[colour[i]]++;
            degree++;
        }
    }
    for (uint32_t c = 0; c < colours; c++) {
        if (held[c] < degree / colours || held[c] > (degree + colours - 1) / colours) {
            fail_msg("seed %llu: %u of %u edges in one of %u colours", (unsigned long long)seed,
                     held[c], degree, colours);
        }
    }
}

static void every_node_gets_its_colours_evenly(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 600; seed++) {
        static struct graph graph;
        static uint32_t colour[EDGES_MAX];
        struct myr_rng rng;
        myr_rng_init(&rng, seed, 1);
        make_graph(&graph, &rng);
        uint32_t colours = 1 + myr_rng_below(&rng, COLOURS_MAX);
        split_edges(&graph.shape, graph.edges, graph.count, colours, colour);
        for (uint32_t side = 0; side < 2; side++) {
            for (uint32_t node = 0; node < graph.shape.nodes; node++) {
                check_node(&graph, colour, colours, side, node, seed);
            }
        }
    }
}

/* Heaviest first: the two halves of a node's weight differ by one edge at most. */
static void weights_come_out_even_up_to_one_edge(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 200; seed++) {
        static struct graph graph;
        static uint32_t colour[EDGES_MAX];
        struct myr_rng rng;
        myr_rng_init(&rng, seed, 2);
        make_graph(&graph, &rng);
        for (uint32_t i = 0; i < graph.count; i++) {
            graph.edges[i].outer[0] = graph.edges[i].outer[1] = SPLIT_NO_OUTER;
        }
        split_edges(&graph.shape, graph.edges, graph.count, 2, colour);
        for (uint32_t node = 0; node < graph.shape.nodes; node++) {
            int64_t difference = 0, heaviest = 0;
            for (uint32_t i = 0; i < graph.count; i++) {
                int64_t weight = graph.count - i;
                if (graph.edges[i].node[0] == node) {
                    difference += colour[i] ? weight : -weight;
                    heaviest = weight > heaviest ? weight : heaviest;
                }
            }
            assert_true(difference <= heaviest && -difference <= heaviest);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_node_gets_its_colours_evenly),
        cmocka_unit_test(weights_come_out_even_up_to_one_edge),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
