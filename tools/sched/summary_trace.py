#!/usr/bin/env python3
"""A trace of jobs drawn from a one-line summary of a cluster.

    summary_trace.py SUMMARY.csv --cluster Kalos --gpus 2416 --load 0.8 > trace.csv

The summary is a CSV with one row a cluster and the columns id, gpu_job_num, avg_run_time_gpu,
med_run_time_gpu, max_run_time_gpu, avg_gpu_num, max_gpu and complete_/cancel_/fail_gpu_time (the
form in which Shanghai AI Laboratory published its Acme clusters beside others).

What is drawn: sizes are powers of two with a power law that meets the mean size; run times are
log-normal with the mean and the median of the summary, longer for larger jobs by a power of the
size that meets the GPU time (large jobs hold most of it); arrivals follow the day, and one in five
comes with a burst of its tenant; tenants follow Zipf's law. Same arguments, same bytes.
"""
import argparse
import csv
import math
import random
import sys


def bisect(function, low, high, wanted):
    """x between low and high where a monotone function is 'wanted', as near as it gets."""
    rising = function(high) > function(low)
    for _ in range(80):
        middle = (low + high) / 2
        if (function(middle) < wanted) == rising:
            low = middle
        else:
            high = middle
    return (low + high) / 2


class Shape:
    """The laws that jobs of a cluster are drawn from."""

    def __init__(self, row, size_max):
        number = {key: float(value) for key, value in row.items() if key != "id" and value}
        self.sizes = [1 << k for k in range(20) if 1 << k <= min(number["max_gpu"], size_max)]
        power = bisect(lambda a: self.mean_size(self.weights(a)), 0.0, 6.0, number["avg_gpu_num"])
        self.size_weights = self.weights(power)
        self.median_s = number["med_run_time_gpu"]
        self.max_s = number["max_run_time_gpu"]
        self.sigma = math.sqrt(2 * math.log(number["avg_run_time_gpu"] / self.median_s))
        total = sum(number.get(key + "_gpu_time", 0) for key in ("complete", "cancel", "fail"))
        wanted = total / number["gpu_job_num"] / number["avg_run_time_gpu"]
        self.growth = bisect(self.gpu_time, 0.0, 3.0, wanted) if total else 0.0
        # Larger jobs run longer, so smaller ones shorter: the median stays where it is.
        self.jobs = int(number["gpu_job_num"])

    def weights(self, power):
        raw = [size ** -power for size in self.sizes]
        return [w / sum(raw) for w in raw]

    def mean_size(self, weights):
        return sum(w * s for w, s in zip(weights, self.sizes))

    def gpu_time(self, growth):
        pairs = list(zip(self.size_weights, self.sizes))
        return sum(w * s ** (1 + growth) for w, s in pairs) / sum(w * s ** growth for w, s in pairs)

    def draw(self, rng):
        size = rng.choices(self.sizes, self.size_weights)[0]
        scale = sum(w * s ** self.growth for w, s in zip(self.size_weights, self.sizes))
        seconds = self.median_s * size ** self.growth / scale
        seconds *= math.exp(self.sigma * rng.gauss(0, 1))
        return size, int(min(max(seconds, 1), self.max_s))


def arrivals(rng, count, period_s, tenants):
    """(submit, tenant) of each job: more by day than by night, some in bursts."""
    weights = [1 / (t + 1) for t in range(tenants)]
    ret = []
    while len(ret) < count:
        at = rng.uniform(0, period_s)
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
    parser.add_argument("--tenants", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    with open(args.summary, encoding="utf-8") as file:
        rows = {row["id"]: row for row in csv.DictReader(file)}
    if args.cluster not in rows:
        sys.exit(f"{args.summary}: no cluster '{args.cluster}', there are {', '.join(rows)}")
    rng = random.Random(args.seed)
    shape = Shape(rows[args.cluster], args.gpus // 2)
    jobs = [shape.draw(rng) for _ in range(args.jobs or shape.jobs)]
    work_s = sum(size * seconds for size, seconds in jobs)
    when = arrivals(rng, len(jobs), work_s / (args.gpus * args.load), args.tenants)
    print("submit_s,duration_s,num_gpus,vc")
    for (size, seconds), (submit, tenant) in zip(jobs, when):
        print(f"{submit},{seconds},{size},t{tenant:02d}")


if __name__ == "__main__":
    main()
