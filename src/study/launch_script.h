/* launch_script: parts of the writer; private to the module. */
#pragma once

#include "launch_list.h"
#include "myriad/study/launch_script.h"

/* Text in double quotes, as JSON, TOML and Python all read it. */
void launch_put_string(struct myr_buf *buf, const char *text);

/* The files that trainers read. */
void launch_put_toml(const struct myr_launch *l, const struct myr_launch_case *of,
                     const struct myr_launch_run *run, struct myr_buf *buf);
void launch_put_flavour(const struct myr_launch_case *of, struct myr_buf *buf);
void launch_put_recipe(const struct myr_launch *l, const struct myr_launch_case *of,
                       const struct myr_launch_run *run, struct myr_buf *buf);
/* Arguments of a run that neither layout nor model decide: steps, data, rates. */
void launch_put_run(const struct myr_launch *l, const struct myr_launch_case *of,
                    const struct myr_launch_run *run, struct myr_buf *buf);
/* Where torchtitan's own models end: what of this one they have not. */
const char *launch_titan_family(const struct myr_model *model);
