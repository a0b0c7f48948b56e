/*
 * campaign: a whole training run on a cluster that fails: how many days, how many spares, how much
 * energy and money.
 *
 * The checkpoint's size comes from the layout's memory, its cost from the store (a planned storage
 * network, or rates of practice), failures and recovery from catalog/recovery.yaml. Two practices
 * are told side by side:
 *   common  one tier: training stops while the checkpoint is written to shared storage, and every
 *           failure reads it back
 *   best    two tiers: a copy in host memory and on a peer, drained to storage in the background;
 *           failures that automation heals come back from the copy, the others from storage
 * Among the layouts given, the one with the most kept tokens a day wins: a layout that steps a
 * little slower but saves and loads faster may win.
 */
#pragma once

#include "myriad/fit/goodput.h"
#include "myriad/fit/search.h"
#include "myriad/model.h"

/* Where durable checkpoints go. Bytes a second of the network; 0: not planned, practice decides. */
struct myr_store {
    double node_bytes_per_s;   /* one GPU node's ports, less what the fabric above them lacks */
    double server_bytes_per_s; /* all storage servers' ports */
    uint32_t servers;
};

/* The storage network of a design (or, where nodes have no such ports, their compute network). */
struct myr_store myr_store_of(const struct myr_design *design);
/*
 * Draw of everything in the design, by the catalogue's figures; of devices without one GPU nodes
 * count as 'node_watts' and others as nothing.
 */
double myr_design_watts(const struct myr_design *design, const struct myr_catalog *catalog,
                        double node_watts);

/* How often parts of each class fail, for a job of that size; Llama 3's table. */
struct myr_failure_class {
    const char *key; /* of the recovery data */
    double per_day;
};

#define MYR_FAILURE_CLASSES_MAX 20

uint32_t myr_failure_classes(const struct myr_recovery *recovery, double gpus, double nodes,
                             struct myr_failure_class *ret);

struct myr_campaign_question {
    struct myr_fit_case it;
    const struct myr_recovery *recovery;
    struct myr_store store;
    uint32_t gpus_per_node;
    double tokens;        /* 0: days, energy and money are not asked for */
    double rate_per_s;    /* failures of the whole job */
    double interval_s;    /* between copies; 0: the best */
    enum myr_fault fault; /* how failures show themselves */
    bool has_recovery, has_stall;
    double recovery_s, stall_s; /* given: of every tier, in place of what the data and bytes say */
    double spare_risk;          /* share of the time that nodes may be short */
    double watts;               /* of the job's part of the cluster, without cooling */
    double pue;                 /* what the building adds */
    double price_per_kwh;       /* in the currency of 'price_per_hour' */
    double price_per_hour;      /* of the job's part of the cluster: what it cost, over its life */
};

struct myr_campaign {
    struct myr_layout layout;
    uint32_t choice; /* which of the given layouts */
    double step_s;
    struct myr_renewal renewal; /* with the best intervals */
    struct myr_goodput goodput;
    double checkpoint_bytes; /* the whole */
    double rank_bytes;       /* of the fullest rank */
    double write_s, read_s;  /* of the durable copy */
    double write_bytes_per_s, read_bytes_per_s;
    uint32_t spares;       /* nodes beside the job */
    double spares_out;     /* share of the time that they do not suffice */
    double repairs;        /* nodes in repair on average */
    double tokens_per_day; /* kept */
    double layout_gap;     /* no layout at all keeps more than this share more */
    bool ends;             /* else failures come so fast that the run gets nowhere: no days */
    double days, energy_mwh;
    double days_low, days_high; /* nine runs of ten, the step time taken for granted */
    double energy_cost, machine_cost;
};

/*
 * The best of 'count' layouts under one practice. MYR_ENOENT when the recovery data lack a row.
 */
MYR_MUST_USE int myr_campaign_of(const struct myr_campaign_question *question,
                                 enum myr_practice practice, const struct myr_fit_found *layouts,
                                 uint32_t count, struct myr_campaign *ret, struct myr_err *err);

/*
 * Nine runs of ten take from ret[0] to ret[1] days where the step time lies between 1/(1+spread)
 * and 1+spread of what is said nine times of ten.
 */
void myr_campaign_days(const struct myr_campaign *campaign, double spread, double ret[2]);

/*
 * The fewest spares such that nodes in repair exceed them at most 'risk' of the time. Failures
 * that need a repair come at 'rate' (per second) and take 'repair_s' on average: the number in
 * repair is Poisson whatever the distribution of repair times.
 */
uint32_t myr_spares_needed(double rate, double repair_s, double risk, double *ret_out);
