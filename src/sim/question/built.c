/* built: a fabric from parts and a spec that are written here, through the planner as any other. */
#include "question/built.h"

#include "myriad/plan.h"

static int read_yaml(struct myr_sim_topology *topology, const struct myr_buf *yaml,
                     const char *name, const struct myr_doc **ret, struct myr_err *err)
{
    struct myr_str text = {myr_arena_strndup(&topology->arena, yaml->data, yaml->len), yaml->len};
    return myr_doc_read_yaml(&topology->arena, name, text, ret, err);
}

/* Parts first: the spec names them. All of it lives in the topology's arena. */
int sim_built(struct myr_sim_topology *topology, const char *name, const struct myr_buf *parts,
              const struct myr_buf *spec, struct myr_err *err)
{
    const struct myr_doc *doc;
    MYR_TRY(read_yaml(topology, parts, name, &doc, err));
    MYR_TRY(myr_catalog_add(&topology->catalog, doc, err));
    MYR_TRY(read_yaml(topology, spec, name, &doc, err));
    MYR_TRY(myr_spec_read(&topology->arena, &topology->catalog, doc, &topology->spec, err));
    return myr_plan_fabric(&topology->arena, &topology->catalog, &topology->spec, &topology->design,
                           err);
}
