/*
 * engine: settings that make OpenSM route a fabric without deadlock.
 *
 * Trees go by ftree, and by updn where ftree gives up; both send up and then down. Fabrics without
 * tiers need several lanes, and a service level for each path that only an engine can hand out:
 * torus-2QoS for a torus as long as its rings hold, dfsssp for any fabric as long as its lanes
 * suffice, nue for the rest. 'no_fallback' ends each list: OpenSM's own last resort, minhop,
 * promises nothing and would be taken in silence.
 */
#pragma once

#include "myriad/base.h"
#include "myriad/fabric.h"
#include "myriad/site/binding.h"

/* Files that the settings name; NULL: there is none. */
struct engine_files {
    const char *roots, *compute, *others, *names, *torus;
};

/* "ftree,updn,no_fallback"; without its file the torus engine is left out. */
const char *engine_list(const struct myr_network *net, const char *torus);
/* Whether the highest tier is the root of a tree; a torus and the dragonflies have none. */
bool engine_has_roots(const struct myr_network *net);
void engine_put_options(const struct myr_network *net, const struct engine_files *files,
                        struct myr_buf *buf);
/*
 * The torus of torus-2QoS.conf, with seeds at switches whose neighbours along every side are
 * alive. False when there is no such switch, when the engine does not know as many sides, or when
 * more is dead than it goes around.
 */
bool engine_put_torus(const struct myr_graph *graph, const struct myr_binding *binding,
                      struct myr_buf *buf);
