"""`homa bench` over loopback: every peer moves bytes, reports in both forms and fails in one line."""

import json
import tempfile
import unittest

from command import CommandTest, homa

SHORT = ("--duration", "200ms", "--warm-up", "50ms", "--wait", "block")


class Bench(CommandTest):
    def setUp(self):
        self.server, port = self.start("bench", "serve", "--bind", "127.0.0.1:0")
        self.address = f"127.0.0.1:{port}"

    def run_json(self, *arguments):
        result = homa("bench", "run", self.address, "--json", *SHORT, *arguments)
        self.assertEqual(result.returncode, 0, result.stderr)
        return json.loads(result.stdout)

    def test_tcp_closed_loop(self):
        report = self.run_json("--transport", "tcp", "--size", "64k", "--outstanding", 4, "--label", "x")
        self.assertGreater(report["calls"], 0)
        self.assertGreater(report["gbit_per_s"], 0)
        self.assertGreaterEqual(report["received_bytes"], report["calls"] * 64000)
        self.assertEqual(report["settings"]["wait"], "block")
        self.assertEqual(report["label"], "x")

    def test_tcp_open_loop_with_sizes_and_slowdown(self):
        report = self.run_json("--transport", "tcp", "--size", "w1", "--rate", 2000, "--by-size", "--connections", 2)
        self.assertEqual(report["loop"], "open")
        self.assertGreater(report["calls"], 100)
        self.assertLess(report["calls"], 1000)
        self.assertGreater(len(report["by_size"]), 5)
        self.assertTrue(all(bucket["slowdown_p99"] > 0 for bucket in report["by_size"] if bucket["latency_ns"]["count"]))

    def test_tcp_small_beside_large(self):
        report = self.run_json("--transport", "tcp", "--background", 1, "--background-size", "1MB", "--connections", 2)
        self.assertGreater(report["calls"], 0)
        self.assertGreater(report["background_gbit_per_s"], 0)

    def test_messages_longer_than_any_buffer_and_empty_ones(self):
        self.assertGreater(self.run_json("--transport", "tcp", "--size", "5MB", "--response", "same")["calls"], 0)
        self.assertGreater(self.run_json("--transport", "tcp", "--size", 0, "--response", 0)["calls"], 0)

    def test_udp_echo(self):
        report = self.run_json("--transport", "udp-echo", "--outstanding", 3)
        self.assertGreater(report["calls"], 10)
        self.assertLessEqual(report["latency_ns"]["p50"], report["latency_ns"]["p99"])

    def test_udp_blast_counts_what_arrived(self):
        report = self.run_json("--transport", "udp-blast")
        self.assertGreater(report["received_bytes"], 0)
        self.assertLessEqual(report["received_bytes"], report["sent_bytes"])

    def test_count_ends_a_run(self):
        result = homa("bench", "run", self.address, "--transport", "tcp", "--count", 20, "--duration", "60s", "--warm-up", "0",
                      "--json", "--wait", "block", timeout=20)
        self.assertGreaterEqual(json.loads(result.stdout)["calls"], 20)

    def test_table(self):
        result = homa("bench", "run", self.address, "--transport", "tcp", *SHORT)
        self.assertIn(b"p99", result.stdout)
        self.assertIn(b"block", result.stdout)

    def test_a_second_server_does_not_share_the_port(self):
        self.assert_one_line(homa("bench", "serve", "--bind", self.address), 2, "the port is in use")

    def test_nobody_there(self):
        self.assert_one_line(homa("bench", "run", "127.0.0.1:1", "--transport", "tcp"), 1, "nobody listens there")

    def test_bad_input(self):
        run = ("bench", "run", self.address, "--transport")
        self.assert_one_line(homa(*run, "smoke-signals"), 2, "--transport")
        self.assert_one_line(homa(*run, "tcp", "--size", "/nonexistent"), 2, "/nonexistent")
        self.assert_one_line(homa(*run, "tcp", "--size", "2GiB"), 2, "over the limit")
        self.assert_one_line(homa(*run, "udp-echo", "--size", "64k"), 2, "one datagram")
        self.assert_one_line(homa(*run, "udp-blast", "--segment", "1"), 2, "--segment")
        self.assert_one_line(homa(*run, "tcp", "--core", "4000"), 2, "core 4000")
        self.assert_one_line(homa(*run, "tcp", "--congestion", "hope"), 2, "hope")
        with tempfile.NamedTemporaryFile("w", suffix=".txt") as sizes:
            sizes.write("# sizes\n10 0.5\n5 1\n")
            sizes.flush()
            self.assert_one_line(homa(*run, "tcp", "--size", sizes.name), 2, f"{sizes.name}:3:")

    def test_sigint_ends_the_server(self):
        code, out = self.stop(self.server)
        self.assertEqual(code, 0)
        self.assertIn("stopped", out)


if __name__ == "__main__":
    unittest.main()
