#!/usr/bin/env python3
"""Sums a vector over processes that may die: sum.py GROUP MEMBERS STEPS"""
import array
import sys

from myriad import ccl

name, members, steps = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
with ccl.Group(name, members, timeout=30) as group:
    step = 0
    while step < steps:
        values = array.array("f", [group.view.rank] * 1000)
        try:
            group.all_reduce(values, timeout=5)
            counts = True
        except ccl.Reform:
            last = group.calls
            counts = last <= group.reform(timeout=5).completed  # the same at all
        step += counts
    print(f"{steps} steps; {group.view.size} members in epoch {group.view.epoch}", flush=True)
