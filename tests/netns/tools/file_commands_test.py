"""serve, call and ping against each other over loopback."""

import os
import socket
import subprocess
import tempfile
import unittest
from pathlib import Path

from command import CLEAR, HOMA, CommandTest, homa


class Files(CommandTest):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.top = Path(folder.name)
        self.root = self.top / "root"
        (self.root / "sub").mkdir(parents=True)
        (self.top / "secret").write_text("secret")
        (self.root / "link").symlink_to("../secret")

    def serve_files(self):
        self.server, port = self.start("serve", "--files", self.root, "--bind", "127.0.0.1:0", *CLEAR)
        return f"127.0.0.1:{port}"

    def test_files_of_many_sizes_come_back_equal(self):
        address = self.serve_files()
        for size in (0, 1, 1413, 1414, 1415, 65535, 65536, 1_000_000, 20_000_000):
            content = os.urandom(size)
            (self.root / "sub" / f"{size}").write_bytes(content)
            out = self.top / "out"
            result = homa("call", address, "--data", f"sub/{size}", "--out", out, "--deadline", "20s", *CLEAR)
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertEqual(out.read_bytes(), content)

    def test_nothing_outside_comes_out_and_nothing_is_left(self):
        address = self.serve_files()
        for path in ("../secret", "sub/../../secret", "link", str(self.top / "secret"), "sub", "missing", ""):
            out = self.top / "out"
            result = homa("call", address, "--data", path, "--out", out, "--deadline", "10s", *CLEAR)
            self.assert_one_line(result, 1)
            self.assertFalse(out.exists(), path)
        self.assertEqual(sorted(entry.name for entry in self.top.iterdir()), ["root", "secret"])
        code, out = self.stop(self.server)
        self.assertEqual(code, 0)
        self.assertIn("0 requests answered, 7 refused", out)

    def test_echo_from_stdin_to_stdout(self):
        _, port = self.start("serve", "--echo", "--bind", "127.0.0.1:0", *CLEAR)
        for content in (b"", b"hello\n", os.urandom(3_000_000)):
            result = homa("call", f"127.0.0.1:{port}", "--idempotent", "--class", 1, "--deadline", "10s", *CLEAR, stdin=content)
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertEqual(result.stdout, content)

    def test_limits_of_either_end(self):
        # More than the library's own default of memory for received messages.
        _, port = self.start("serve", "--echo", "--bind", "127.0.0.1:0", "--max-message", "3GiB", *CLEAR)
        self.assertEqual(homa("call", f"127.0.0.1:{port}", "--data", "x", "--max-message", "5GiB", *CLEAR).stdout, b"x")
        _, port = self.start("serve", "--echo", "--bind", "127.0.0.1:0", "--max-message", "1000", *CLEAR)
        self.assert_one_line(homa("call", f"127.0.0.1:{port}", *CLEAR, stdin=b"x" * 1001), 2, "--max-message at both")

    def test_ping(self):
        _, port = self.start("serve", "--echo", "--bind", "127.0.0.1:0", *CLEAR)
        result = homa("ping", f"127.0.0.1:{port}", "-c", 5, "-i", "10ms", "-s", 200, *CLEAR)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(result.stdout.count(b"200 B from"), 5)
        self.assertIn(b"5 calls, 5 answered", result.stdout)
        self.assertIn(b"min/avg/p50/p99/max", result.stdout)
        quiet = homa("ping", f"127.0.0.1:{port}", "-c", 3, "-i", 0, "-q", *CLEAR)
        self.assertNotIn(b"seq=", quiet.stdout)

    def test_nobody_answers(self):
        result = homa("ping", "127.0.0.1:9", "-c", 2, "-i", "10ms", "-W", "200ms", *CLEAR)
        self.assertEqual(result.returncode, 1)
        self.assert_one_line(homa("call", "127.0.0.1:9", "--deadline", "300ms", *CLEAR), 1, "127.0.0.1:9")

    def test_a_silent_peer_is_told_by_counts_of_packets(self):
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as silent:
            silent.bind(("127.0.0.1", 0))
            address = f"127.0.0.1:{silent.getsockname()[1]}"
            self.assert_one_line(homa("call", address, "--data", "x", "--deadline", "200ms", *CLEAR), 1, address,
                                 "packets, heard 0", "firewall")
            ping = homa("ping", address, "-c", 1, "-W", "200ms", *CLEAR)
            self.assertEqual(ping.returncode, 1)
            for text in (ping.stdout, ping.stderr):
                self.assertIn(b"packets, heard 0", text)

    def test_ports_are_never_shared(self):
        _, port = self.start("serve", "--echo", "--bind", "127.0.0.1:0", *CLEAR)
        for shards in (1, 2):
            self.assert_one_line(homa("serve", "--echo", "--bind", f"127.0.0.1:{port}", "--shards", shards, *CLEAR), 2,
                                 f"bind 127.0.0.1:{port}: another socket has this port", "choose another port")

    def test_homa_bench(self):
        _, port = self.start("bench", "serve", "--bind", "127.0.0.1:0")
        result = homa("bench", "run", f"127.0.0.1:{port}", "--size", "10k", "--outstanding", 4, "--wait", "block",
                      "--duration", "300ms", "--json")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn(b'"failed":0', result.stdout)

    def test_sigint_ends_ping_with_a_summary(self):
        _, port = self.start("serve", "--echo", "--bind", "127.0.0.1:0", *CLEAR)
        process = subprocess.Popen([HOMA, "ping", f"127.0.0.1:{port}", *CLEAR], stdout=subprocess.PIPE, text=True)
        for _ in range(2):
            process.stdout.readline()
        process.send_signal(2)
        out, _ = process.communicate(timeout=10)
        self.assertEqual(process.returncode, 0)
        self.assertIn("answered", out)


if __name__ == "__main__":
    unittest.main()
