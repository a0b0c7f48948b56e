/* turns: one happening of the world, whoever controls it. */
#include "world.h"

/* Messages to the controller: said again until somebody takes them. */
static void take_message(struct world *w, uint32_t id)
{
    MYR_ASSERT(id < w->msgs.count && w->msgs.items[id].used);
    const struct wmsg *msg = &w->msgs.items[id];
    /* Copied: taking it may send messages, and those move in memory. */
    struct myr_event event = msg->event;
    MYR_ASSERT(event.kind < MYR_EVENT_KINDS);
    enum myr_event_kind kind = event.kind;
    /* Only agents are cut off and rebooted; people and racks are always there. */
    bool by_agent = (kind >= MYR_EVENT_JOIN && kind <= MYR_EVENT_TESTED);
    if (by_agent) {
        const struct wnode *node = node_at(w, event.node);
        if (!node->up || node->boot != msg->boot) { /* the agent that wanted to say it is gone */
            msg_free(w, id);
            return;
        }
        /* It is kept, and tried again when the node may be reached. */
        if (node->cut > 0) {
            happen_to(w, w->now_ms + 5000, HAP_TO_CONTROL, id);
            return;
        }
    }
    if (tell_control(w, &event)) {
        msg_free(w, id);
    } else {
        happen_to(w, w->now_ms + 5000, HAP_TO_CONTROL, id);
    }
}

/* Orders are taken, or lost, once. */
static void take_order(struct world *w, uint32_t id)
{
    /* Copied: what follows may send messages, and those move in memory. */
    MYR_ASSERT(id < w->msgs.count);
    struct myr_effect effect = w->msgs.items[id].effect;
    MYR_ASSERT(w->msgs.items[id].used && effect.kind <= MYR_EFFECT_TEST);
    msg_free(w, id);
    agent_take(w, &effect);
}

/* Not for a node: a rack, a crew, a person. */
static void take_other(struct world *w, uint32_t id)
{
    MYR_ASSERT(id < w->msgs.count);
    struct myr_effect effect = w->msgs.items[id].effect;
    msg_free(w, id);
    MYR_ASSERT(effect.kind > MYR_EFFECT_TEST);
    MYR_ASSERT(effect.kind <= MYR_EFFECT_ACCEPT);
    if (effect.kind == MYR_EFFECT_FENCE) {
        rack_fence(w, &effect);
    } else if (effect.kind == MYR_EFFECT_REPAIR) {
        crew_repair(w, effect.node);
    } else {
        person_heard(w, &effect);
    }
}

/* What concerns one slot: a message, a rank, an incarnation, a node, a job. */
static void take_one(struct world *w, enum happening what, uint32_t id, uint32_t serial)
{
    switch (what) {
    case HAP_TO_NODE:
        take_order(w, id);
        break;
    case HAP_ORDER:
        take_other(w, id);
        break;
    case HAP_TO_CONTROL:
        take_message(w, id);
        break;
    case HAP_SUBMIT:
        person_submit(w, id);
        break;
    case HAP_LET_GO:
        person_lets_go(w, id);
        break;
    case HAP_CANCEL:
        person_cancel(w, id);
        break;
    case HAP_READY:
        agent_ready(w, id, serial);
        break;
    case HAP_GONE:
        agent_gone(w, id, serial);
        break;
    case HAP_RUN:
        inc_run(w, id, serial);
        break;
    case HAP_REPORT:
        inc_report(w, id, serial);
        break;
    case HAP_COMMIT:
        inc_commit(w, id, serial);
        break;
    case HAP_FINISH:
        inc_finish(w, id, serial);
        break;
    case HAP_SILENT:
        shell_silent(w, id, serial);
        break;
    case HAP_BOOT:
        node_boot(w, id, serial);
        break;
    case HAP_FENCE:
        rack_fence_done(w, id, serial);
        break;
    case HAP_LEASE:
        node_lease(w, id);
        break;
    default:
        MYR_ASSERT(false); /* all are above */
    }
}

/* Kinds that concern the world as a whole are here; all others name a slot. */
void turn(struct world *w, enum happening what, uint32_t id, uint32_t serial)
{
    MYR_ASSERT((uint32_t)what <= HAP_LOOK);
    MYR_ASSERT(serial <= 0xffffff);
    switch (what) {
    case HAP_FAULT:
        nature_fault(w);
        break;
    case HAP_PARTITION:
        nature_partition(w);
        break;
    case HAP_HEAL:
        if (serial == (w->calms & 0xffffff)) { /* else a calm has healed it */
            nature_heal(w, id);
        }
        break;
    case HAP_UNCUT:
        node_cut(w, id, false);
        break;
    case HAP_DRAIN:
        nature_drain(w);
        break;
    case HAP_UNDRAIN:
        if (serial == (w->calms & 0xffffff)) { /* else it was given back in a calm */
            nature_undrain(w, id);
        }
        break;
    case HAP_HOLD:
        nature_hold(w);
        break;
    case HAP_UNHOLD:
        if (serial == (w->calms & 0xffffff)) {
            nature_unhold(w, id);
        }
        break;
    case HAP_WEIGHT:
        nature_weight(w);
        break;
    case HAP_ASK:
        nature_ask(w);
        break;
    case HAP_LEVER:
        nature_lever(w);
        break;
    case HAP_SYMPTOM:
        nature_symptom(w);
        break;
    case HAP_CALM:
        calm_begin(w);
        break;
    case HAP_STORM:
        calm_end(w);
        break;
    case HAP_LOOK:
        calm_look(w);
        break;
    case HAP_WINDOW:
        nature_window(w, id);
        break;
    case HAP_APPROVE:
        person_approve(w);
        break;
    default:
        take_one(w, what, id, serial);
    }
}
