#!/usr/bin/env python3
"""A trace of jobs drawn from a one-line summary of a cluster.

    summary_trace.py SUMMARY.csv --cluster Kalos --gpus 2416 --load 0.8 > trace.csv

The summary is a CSV with one row a cluster and the columns id, gpu_job_num, avg_run_time_gpu,
med_run_time_gpu, max_run_time_gpu, avg_gpu_num, max_gpu and complete_/cancel_/fail_gpu_time (the
form in which Shanghai AI Laboratory published its Acme clusters beside others).

What is drawn: sizes are powers of two with a power law that meets the mean size, and half of all
jobs of one GPU where that is the median; run times are log-normal, longer for larger jobs by a
power of the size, cut off at the longest: mean, median and GPU time (which large jobs hold most
of) are those of the summary. With --independent, lengths have nothing to do with sizes. Arrivals
follow the day, and one in five comes with a burst of its tenant; or they are Poisson's. Tenants
follow Zipf's law. Same arguments, same bytes.
"""
import argparse
import csv
import math
import random
import sys


def bisect(function, low, high, wanted, steps=80):
    """x between low and high where a monotone function is 'wanted', as near as it gets."""
    rising = function(high) > function(low)
    for _ in range(steps):
        middle = (low + high) / 2
        if (function(middle) < wanted) == rising:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def normal(x):
    """Share of a normal law below x."""
    return 0.5 * math.erfc(-x / math.sqrt(2))


class Shape:
    """The laws that jobs of a cluster are drawn from."""

    STEPS = 40  # of each search for a parameter

    def __init__(self, row, size_max, independent):
        number = {key: float(value) for key, value in row.items() if key != "id" and value}
        self.sizes = [1 << k for k in range(20) if 1 << k <= min(number["max_gpu"], size_max)]
        self.single = 0.52 if number.get("med_gpu_num", 1) <= 1 else 0.0
        power = bisect(lambda a: self.mean_size(self.weights(a)), 0.0, 6.0, number["avg_gpu_num"])
        self.size_weights = self.weights(power)
        self.max_s = number["max_run_time_gpu"]
        self.mean_s, self.median_s = number["avg_run_time_gpu"], number["med_run_time_gpu"]
        self.jobs = int(number["gpu_job_num"])
        total = sum(number.get(key + "_gpu_time", 0) for key in ("complete", "cancel", "fail"))
        wanted = total / self.jobs
        self.growth = self.sigma = self.log_s = 0.0
        if total and not independent:
            bisect(self.gpu_time, 0.0, 1.5, wanted, self.STEPS)
        else:
            self.gpu_time(0.0)

    def weights(self, power):
        """Of the sizes; at least 'single' of all jobs have one GPU."""
        raw = [size ** -power for size in self.sizes]
        ret = [w / sum(raw) for w in raw]
        if ret[0] < self.single < 1 and len(ret) > 1:
            ret = [w * (1 - self.single) / (1 - ret[0]) for w in ret]
            ret[0] = self.single
        return ret

    def mean_size(self, weights):
        return sum(w * s for w, s in zip(weights, self.sizes))

    def length(self, size):
        """Mean of the run times of this size, cut off at the longest."""
        mean, cap = self.log_s + self.growth * math.log(size), math.log(self.max_s)
        uncut = math.exp(mean + self.sigma ** 2 / 2)
        below = uncut * normal((cap - mean) / self.sigma - self.sigma)
        return below + self.max_s * normal((mean - cap) / self.sigma)

    def share_below(self, seconds):
        """Of the jobs, by their run time."""
        return sum(w * normal((math.log(seconds) - self.log_s - self.growth * math.log(s)) /
                              self.sigma) for w, s in zip(self.size_weights, self.sizes))

    def mean_length(self, log_s):
        self.log_s = log_s
        return sum(w * self.length(s) for w, s in zip(self.size_weights, self.sizes))

    def median_met(self, sigma):
        """Share of the jobs below the median when the spread is this and the mean is met."""
        self.sigma = sigma
        bisect(self.mean_length, -10.0, 20.0, self.mean_s, self.STEPS)
        return self.share_below(self.median_s)

    def gpu_time(self, growth):
        """Of a job, in the mean, when lengths grow with this power and mean and median are met."""
        self.growth = growth
        bisect(self.median_met, 0.3, 4.0, 0.5, self.STEPS)
        return sum(w * s * self.length(s) for w, s in zip(self.size_weights, self.sizes))

    def draw(self, rng):
        size = rng.choices(self.sizes, self.size_weights)[0]
        seconds = math.exp(self.log_s + self.growth * math.log(size) + self.sigma * rng.gauss(0, 1))
        return size, int(min(max(seconds, 1), self.max_s))


def arrivals(rng, count, period_s, tenants, poisson):
    """(submit, tenant) of each job: more by day than by night, some in bursts; or Poisson's."""
    weights = [1 / (t + 1) for t in range(tenants)]
    ret = []
    while len(ret) < count:
        at = rng.uniform(0, period_s)
        if poisson:
            ret.append((int(at), rng.choices(range(tenants), weights)[0]))
            continue
        if rng.random() > 0.65 + 0.35 * math.sin(2 * math.pi * at / 86400):
            continue
        tenant = rng.choices(range(tenants), weights)[0]
        burst = 1 + int(rng.expovariate(1 / 20)) if rng.random() < 0.012 else 1
        burst = min(burst, count - len(ret))
        ret += [(int(at) + 2 * i, tenant) for i in range(burst)]
    return sorted(ret)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("summary")
    parser.add_argument("--cluster", default="Kalos", help="row of the summary")
    parser.add_argument("--gpus", type=int, default=2416, help="of the cluster replayed on")
    parser.add_argument("--load", type=float, default=0.8, help="mean share of its GPUs asked for")
    parser.add_argument("--jobs", type=int, help="default: as many as the summary")
    parser.add_argument("--arrivals", choices=("day", "poisson"), default="day")
    parser.add_argument("--independent", action="store_true", help="lengths do not grow with size")
    parser.add_argument("--tenants", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    with open(args.summary, encoding="utf-8") as file:
        rows = {row["id"]: row for row in csv.DictReader(file)}
    if args.cluster not in rows:
        sys.exit(f"{args.summary}: no cluster '{args.cluster}', there are {', '.join(rows)}")
    rng = random.Random(args.seed)
    shape = Shape(rows[args.cluster], args.gpus // 2, args.independent)
    jobs = [shape.draw(rng) for _ in range(args.jobs or shape.jobs)]
    work_s = sum(size * seconds for size, seconds in jobs)
    when = arrivals(rng, len(jobs), work_s / (args.gpus * args.load), args.tenants,
                    args.arrivals == "poisson")
    print("submit_s,duration_s,num_gpus,vc")
    for (size, seconds), (submit, tenant) in zip(jobs, when):
        print(f"{submit},{seconds},{size},t{tenant:02d}")


if __name__ == "__main__":
    main()
