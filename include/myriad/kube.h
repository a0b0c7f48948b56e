/*
 * kube: Myriad as the scheduler of pods in a Kubernetes cluster.
 *
 *   access     where the API server is and who asks: a kubeconfig, or a service account
 *   cluster    nodes and pods as the API server tells them, and what is to be done: no input/output
 *   schedule   the scheduler as a service, until it is told to stop
 *   job        a job file as a Kubernetes Job
 *
 * The API server is the store: what is known comes from its objects, and what was decided is
 * written into them before it is acted upon. So a scheduler can die at any moment, and another one
 * goes on from what it finds.
 */
#pragma once

#include "myriad/kube/access.h"
#include "myriad/kube/cluster.h"
#include "myriad/kube/job.h"
#include "myriad/kube/schedule.h"
