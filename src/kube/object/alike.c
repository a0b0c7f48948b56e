/*
 * alike: what pods ask of nodes is read once for those that ask the same. Pods of a gang come out
 * of one template, and each of them is told of several times in its life.
 */
#include <stdlib.h>

#include "kube.h"

/* Of one pod, without a key: nobody else finds it. */
static struct kube_needs *new_needs(void)
{
    struct kube_needs *needs = myr_xcalloc(1, sizeof(*needs));
    needs->arena.next_block_bytes = 1024;
    needs->uses = 1;
    return needs;
}

struct kube_needs *kube_needs_of(struct kube_resources *resources, const struct myr_doc *spec)
{
    struct kube_needs *needs = new_needs();
    kube_needs_read(resources, &needs->arena, spec, needs);
    MYR_ASSERT(needs->uses == 1 && !needs->back && !needs->key.data); /* of one pod alone */
    return needs;
}

/* One use less; with the last one it goes, out of its list too. */
void kube_needs_free(struct kube_needs *needs)
{
    MYR_ASSERT(!needs || needs->uses > 0);
    if (!needs || --needs->uses > 0) {
        return;
    }
    MYR_ASSERT((needs->back != NULL) == (needs->key.data != NULL)); /* in a list by its key */
    if (needs->back) {
        MYR_ASSERT(*needs->back == needs);
        *needs->back = needs->next;
        if (needs->next) {
            needs->next->back = needs->back;
        }
    }
    myr_arena_done(&needs->arena);
    free(needs);
}

/* Keys are compared in full behind it: a digest alone could take one for another. */
static struct kube_needs **list_of(struct kube_resources *resources, struct myr_str key)
{
    return &resources->alike[myr_hash_bytes(key.data, key.len) % KUBE_ALIKE];
}

/* A use more where it is known. */
static struct kube_needs *find(struct kube_needs *list, struct myr_str key)
{
    while (list && !myr_str_eq(list->key, key)) {
        list = list->next;
    }
    if (list) {
        MYR_ASSERT(list->uses > 0); /* with the last one it would have left the list */
        list->uses++;
    }
    return list;
}

/*
 * 'back' is what points at it: the list's head or the 'next' before it, so that it leaves its list
 * without being looked for.
 */
static struct kube_needs *learn(struct kube_resources *resources, struct kube_needs **list,
                                struct myr_str key, struct myr_str text)
{
    const struct myr_doc *spec;
    struct myr_arena scratch = {};
    struct kube_needs *needs = NULL;
    if (myr_doc_read_json(&scratch, "spec", text, &spec, NULL) == MYR_OK) {
        needs = kube_needs_of(resources, spec);
        needs->key = kube_keep(&needs->arena, key);
        needs->next = *list;
        needs->back = list;
        if (needs->next) {
            MYR_ASSERT(needs->next->back == list);
            needs->next->back = &needs->next;
        }
        *list = needs;
    }
    myr_arena_done(&scratch);
    return needs;
}

struct kube_needs *kube_needs_known(struct kube_resources *resources, struct myr_str key)
{
    return find(*list_of(resources, key), key);
}

struct kube_needs *kube_needs_learn(struct kube_resources *resources, struct myr_str key,
                                    struct myr_str text)
{
    return learn(resources, list_of(resources, key), key, text);
}

/* The list is found once for both. */
struct kube_needs *kube_needs_alike(struct kube_resources *resources, struct myr_str text)
{
    struct kube_needs **list = list_of(resources, text), *known = find(*list, text);
    return known ? known : learn(resources, list, text, text);
}
