#!/usr/bin/env python3
"""Makes smoke_bands.json from many seeds of the same runs:

    homa sim run smoke --seeds 12 --out build/bands      (whether bands are left does not matter here)
    data/simulation/make_smoke_bands.py build/bands/results.json > data/simulation/smoke_bands.json

A band is the mean over the seeds, less and more four standard deviations of one run and two per cent: one run in ten
thousand leaves one by chance, a change of the model or the protocol by more than noise does.
"""

import json
import statistics
import sys

DEVIATIONS = 4
MARGIN = 0.02


def band(values):
    mean = statistics.fmean(values)
    half = DEVIATIONS * statistics.stdev(values) + MARGIN * mean
    return {"low": round(mean - half, 4), "high": round(mean + half, 4)}


def main():
    runs = {}
    for run in json.load(open(sys.argv[1]))["runs"]:
        spec = run["spec"]
        runs.setdefault(f"{spec['workload']}-{spec['carrier']}-{spec['policy']}", []).append(run["buckets"])
    bands = {"made_by": "make_smoke_bands.py", "seeds": min(len(seeds) for seeds in runs.values()), "runs": {}}
    for name, seeds in runs.items():
        bands["runs"][name] = {
            statistic: [band([buckets[b]["slowdown"][statistic]["value"] for buckets in seeds])
                        for b in range(len(seeds[0]))]
            for statistic in ("p50", "p99")
        }
    print(json.dumps(bands, indent=1))


main()
