/*
 * alike: what pods ask of nodes is read once for those that ask the same. Pods of a gang come out
 * of one template, and each of them is told of several times in its life.
 */
#include <stdlib.h>

#include "kube.h"

static struct kube_needs *new_needs(void)
{
    struct kube_needs *needs = myr_xcalloc(1, sizeof(*needs));
    myr_arena_init(&needs->arena);
    needs->arena.next_block_bytes = 1024;
    needs->uses = 1;
    return needs;
}

struct kube_needs *kube_needs_of(struct kube_resources *resources, const struct myr_doc *spec)
{
    struct kube_needs *needs = new_needs();
    kube_needs_read(resources, &needs->arena, spec, needs);
    return needs;
}

void kube_needs_free(struct kube_needs *needs)
{
    if (!needs || --needs->uses > 0) {
        return;
    }
    if (needs->back) {
        *needs->back = needs->next;
        if (needs->next) {
            needs->next->back = needs->back;
        }
    }
    myr_arena_done(&needs->arena);
    free(needs);
}

struct kube_needs *kube_needs_alike(struct kube_resources *resources, struct myr_str text)
{
    struct kube_needs **list = &resources->alike[myr_hash_bytes(text.data, text.len) % KUBE_ALIKE];
    const struct myr_doc *spec;
    struct myr_arena scratch = {0};
    for (struct kube_needs *needs = *list; needs; needs = needs->next) {
        if (myr_str_eq(needs->text, text)) {
            needs->uses++;
            return needs;
        }
    }
    myr_arena_init(&scratch);
    struct kube_needs *needs = NULL;
    if (myr_doc_read_json(&scratch, "spec", text, &spec, NULL) == MYR_OK) {
        needs = kube_needs_of(resources, spec);
        needs->text = kube_keep(&needs->arena, text);
        needs->next = *list;
        needs->back = list;
        if (needs->next) {
            needs->next->back = &needs->next;
        }
        *list = needs;
    }
    myr_arena_done(&scratch);
    return needs;
}
