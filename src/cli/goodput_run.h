/* goodput_run: a training run that 'myriad goodput' has planned, and how it is told. */
#pragma once

#include "fit.h"
#include "goodput.h"

enum { CASES_MAX = 4 };

/* One practice at one failure rate. */
struct goodput_case {
    const char *practice, *rate_name;
    double rate; /* per 1,000 node-days */
    struct myr_campaign campaign;
};

struct goodput_run {
    struct cli_goodput_options asked; /* with the design's numbers where the user gave none */
    const struct cli_goodput_options *o;
    struct cli_fit_asked *a;
    struct myr_recovery recovery;
    struct myr_fit_answer answer;
    struct myr_campaign_question question;
    struct cli_rates rates;
    double tokens, spread;
    const char *currency;
    bool kwh_known;        /* the default is a price in CNY */
    bool servers_unpriced; /* the design's price lacks what costs most */
    struct goodput_case cases[CASES_MAX];
    uint32_t case_count;
};

void goodput_put_json(const struct goodput_run *run, struct myr_buf *buf);
/* For people. */
void goodput_put_text(const struct goodput_run *run, struct myr_buf *buf);
/* Cases as rows, YAML or CSV. */
void goodput_put_table(const struct goodput_run *run, struct myr_buf *buf);
