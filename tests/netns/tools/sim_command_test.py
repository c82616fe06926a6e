"""`homa sim`: sweeps of processes, plans that several workers share, errors in one line."""

import json
import os
import shutil
import signal
import subprocess
import tempfile
import unittest
from pathlib import Path

from command import HOMA, CommandTest, homa

TINY = ("--workload", "w2", "--load", "0.5", "--hosts", "32", "--messages", "2k")


def sweep(command, folder, *options, seeds=3):
    return homa("sim", command, "homa18-slowdown", *TINY, "--seeds", seeds, "--out", folder, *options, timeout=120)


class SimCommand(CommandTest):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)

    def results(self, name):
        return (self.folder / name / "results.json").read_bytes()

    def assert_done(self, result):
        self.assertEqual(result.returncode, 0, result.stderr.decode())

    def test_the_list_names_every_experiment(self):
        text = homa("sim", "list").stdout.decode()
        for name in ("homa18-slowdown", "homa18-load", "homa18-queues", "homa18-priorities", "carriers", "incast", "loss",
                     "victim", "oversubscription", "smoke"):
            self.assertRegex(text, rf"(?m)^{name}$")

    def test_same_seeds_same_bytes_however_they_were_run(self):
        self.assert_done(sweep("run", self.folder / "side-by-side", "--jobs", 2))
        self.assert_done(sweep("run", self.folder / "one-by-one", "--jobs", 1))
        self.assert_done(sweep("plan", self.folder / "planned"))
        for line in (self.folder / "planned/commands.txt").read_text().splitlines():
            subprocess.run(line, shell=True, check=True, capture_output=True)
        self.assert_done(homa("sim", "merge", self.folder / "planned"))
        self.assertEqual(self.results("side-by-side"), self.results("one-by-one"))
        self.assertEqual(self.results("side-by-side"), self.results("planned"))
        runs = json.loads(self.results("planned"))["runs"]
        self.assertEqual([run["spec"]["seed"] for run in runs], [1, 2, 3])
        self.assertEqual({run["messages_measured"] for run in runs}, {2000})

    def test_a_second_run_computes_only_what_is_missing(self):
        self.assert_done(sweep("run", self.folder / "s", seeds=1))
        first = sorted((self.folder / "s/results").iterdir())[0]
        before = first.stat().st_mtime_ns
        again = sweep("run", self.folder / "s", seeds=2)
        self.assert_done(again)
        self.assertIn(b"1 of 2 runs are in", again.stderr)
        self.assertEqual(first.stat().st_mtime_ns, before)
        self.assertEqual(len(json.loads(self.results("s"))["runs"]), 2)

    def test_interrupt_keeps_what_is_finished(self):
        process = subprocess.Popen([HOMA, "sim", "run", "homa18-slowdown", "--workload", "w4", "w5", "--load", "0.5",
                                    "--hosts", "32", "--messages", "2k", "--seeds", "1", "--jobs", "1",
                                    "--out", str(self.folder / "s")],
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        results = self.folder / "s/results"
        while process.poll() is None and not (results.is_dir() and any(p.suffix == ".json" for p in results.iterdir())):
            os.sched_yield()  # each run takes a second or more
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 1, errors)
        self.assertIn(b"stopped with 1 of 2 runs done", errors)
        merged = homa("sim", "merge", self.folder / "s")
        self.assertEqual(merged.returncode, 1)
        self.assertIn(b"incomplete: 1 of 2 runs are missing", merged.stdout)

    def test_workers_share_a_plan_without_overlap(self):
        self.assert_done(sweep("plan", self.folder / "p"))
        self.assertIn(b"1 runs done", homa("sim", "worker", self.folder / "p", "--rank", 1, "--of", 2).stdout)
        self.assertEqual(len(list((self.folder / "p/results").iterdir())), 1)
        self.assertIn(b"2 runs done", homa("sim", "worker", self.folder / "p", "--rank", 0, "--of", 2).stdout)
        self.assert_done(homa("sim", "merge", self.folder / "p"))

    @unittest.skipUnless(shutil.which("mpirun"), "mpirun is missing: apt-get install openmpi-bin")
    def test_open_mpi_runs_a_plan(self):
        self.assert_done(sweep("plan", self.folder / "p"))
        environment = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
        launched = subprocess.run(["mpirun", "-n", "2", "--oversubscribe", HOMA, "sim", "worker", str(self.folder / "p")],
                                  env=environment, capture_output=True, timeout=120)
        self.assertEqual(launched.returncode, 0, launched.stderr.decode())
        self.assertIn(b"worker 0 of 2: 2 runs done", launched.stdout)
        self.assertIn(b"worker 1 of 2: 1 runs done", launched.stdout)
        self.assert_done(homa("sim", "merge", self.folder / "p"))
        self.assert_done(sweep("run", self.folder / "here"))
        self.assertEqual(self.results("p"), self.results("here"))

    def test_errors_are_one_line_with_the_cure(self):
        out = ("--out", self.folder / "e")
        self.assert_one_line(homa("sim", "run", "homa99", *out), 2, "homa99", "homa18-slowdown")
        self.assert_one_line(homa("sim", "run", "homa18-slowdown", "--workload", "w9", *out), 2, "w9", "w1 to w5")
        self.assert_one_line(homa("sim", "run", "homa18-slowdown", "--load", "1.5", *out), 2, "1.5", "at most 1")
        self.assert_one_line(homa("sim", "run", "homa18-slowdown", "--hosts", "50", *out), 2, "multiple")
        self.assert_one_line(homa("sim", "run", "homa18-slowdown", "--topology", "ring", *out), 2, "ring", "homa18")
        self.assert_one_line(homa("sim", "run", "incast", "--workload", "w1", *out), 2, "no --workload")
        self.assert_one_line(homa("sim", "merge", self.folder), 2, "homa sim plan")
        self.assert_one_line(homa("sim", "one", self.folder / "nothing.json"), 2, "nothing.json")
        sizes = self.folder / "sizes.txt"
        sizes.write_text("10 0.5\n5 1\n")
        self.assert_one_line(homa("sim", "run", "homa18-slowdown", "--workload", sizes, *out), 2, "sizes.txt:2:")
        self.assertFalse((self.folder / "e").exists(), "nothing was tried")

    def test_an_overloaded_run_says_so(self):
        # Messages of 100 bytes at the rate of the links: with their headers, twice what the links carry.
        result = homa("sim", "run", "carriers", "--carrier", "native", "--workload", "100", "--load", "1", "--hosts", "16",
                      "--messages", "20k", "--out", self.folder / "o", timeout=120)
        self.assert_done(result)
        self.assertIn(b"1 of 1 runs diverged", result.stdout)


if __name__ == "__main__":
    unittest.main()
