/*
 * details: what a trainer must be told of a model beyond its shape. No count and no time depends on
 * it; 'fit launch' writes it into scripts, and says what is not known.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum myr_activation {
    MYR_ACTIVATION_UNKNOWN,
    MYR_ACTIVATION_SILU,
    MYR_ACTIVATION_GELU,
    MYR_ACTIVATION_GELU_TANH,
    MYR_ACTIVATION_RELU,
    MYR_ACTIVATION_RELU2, /* squared */
    MYR_ACTIVATION_OTHER
};

/* 0: not said. */
struct myr_model_details {
    enum myr_activation activation;
    double rotary_base;
    double rotary_share; /* of a head that is rotated; 0: all of it */
    double norm_epsilon;
    double routed_scale;                      /* factor of the routed experts' sum */
    uint32_t expert_groups, groups_per_token; /* experts are drawn from the best groups only */
    bool sigmoid_scores;                      /* of the router, in place of softmax */
    bool scaled_rotation;                     /* stretched beyond the first training's length */
};
