"""Exit codes and one-line errors of wrong use and wrong input; --help everywhere."""

import re
import tempfile
import unittest
from pathlib import Path

from command import CLEAR, CommandTest, homa

COMMANDS = ((), ("serve",), ("call",), ("ping",), ("bench",), ("bench", "serve"), ("bench", "run"), ("bench", "calibrate"),
            ("sim",), ("sim", "list"), ("sim", "run"), ("sim", "plan"), ("sim", "worker"), ("sim", "merge"), ("sim", "one"))

PAGES = {"homa-serve": [("serve",)], "homa-call": [("call",)], "homa-ping": [("ping",)],
         "homa-bench": [("bench", "serve"), ("bench", "run"), ("bench", "calibrate")],
         "homa-sim": [("sim", "run"), ("sim", "plan"), ("sim", "worker"), ("sim", "merge"), ("sim", "one")]}


class CommandLine(CommandTest):
    def test_help_everywhere_with_examples(self):
        for command in COMMANDS:
            result = homa(*command, "--help")
            self.assertEqual(result.returncode, 0, command)
            self.assertIn(b"Example", result.stdout, command)
            self.assertEqual(result.stderr, b"")

    def test_manual_pages_and_help_name_the_same_options(self):
        manual = Path(__file__).resolve().parents[3] / "man"
        common = (manual / "homa.1").read_text().replace("\\-", "-")
        for page, commands in PAGES.items():
            text = (manual / f"{page}.1").read_text().replace("\\-", "-")
            helped = set()
            for command in commands:
                helped |= set(re.findall(r"^ +(?:-\w,)?(--[a-z-]+)", homa(*command, "--help").stdout.decode(), re.MULTILINE))
            named = set(re.findall(r"(?<![\w-])--[a-z-]+", text))
            self.assertLessEqual(helped - {"--help"}, named | set(re.findall(r"--[a-z-]+", common)), page)
            self.assertLessEqual(named - {"--echo"}, helped, page)

    def test_unknown_options_and_commands(self):
        for command in COMMANDS:
            self.assert_one_line(homa(*command, "--bogus"), 2, "--help'")
        self.assert_one_line(homa("nonsense"), 2, "unknown command 'nonsense'")
        self.assert_one_line(homa("--bogus"), 2, "unknown option '--bogus'")

    def test_security_must_be_named(self):
        for command in (("call", "127.0.0.1:1"), ("serve", "--echo"), ("ping", "127.0.0.1:1", "-c", 1)):
            self.assert_one_line(homa(*command), 2, "--security clear")
        self.assert_one_line(homa("ping", "127.0.0.1:1", "--security", "rot13"), 2, "--security")

    def test_names_and_addresses(self):
        self.assert_one_line(homa("call", "no.such.host.invalid:1", *CLEAR), 2, "no.such.host.invalid", "knows no such host")
        self.assert_one_line(homa("call", "[fe80::1%nope0]:1", *CLEAR), 2, "no interface", "nope0")
        self.assert_one_line(homa("call", "[fe80::1]:1", *CLEAR), 2, "[fe80::1%eth0]")
        for bad in ("127.0.0.1:0", ":5"):
            self.assert_one_line(homa("ping", bad, "-c", 1, *CLEAR), 2, "HOST:PORT")
        for bad in ("127.0.0.1:x", "[::1:5", "127.0.0:1"):
            self.assert_one_line(homa("ping", bad, "-c", 1, *CLEAR), 2, bad, "write ")
        self.assert_one_line(homa("serve", "--echo", "--bind", "127.0.0.1:99999", *CLEAR), 2, "127.0.0.1:99999")

    def test_addresses_of_no_single_host(self):
        for bad, why in (("224.0.0.1:4", "multicast"), ("255.255.255.255:4", "broadcast"), ("0.0.0.0:4", "HOST:PORT"),
                         ("[ff02::1]:4", "multicast"), ("[::]:4", "HOST:PORT")):
            self.assert_one_line(homa("call", bad, "--data", "x", *CLEAR), 2, bad, why)
        self.assert_one_line(homa("serve", "--echo", "--bind", "224.0.0.1:0", *CLEAR), 2, "multicast")
        self.assert_one_line(homa("serve", "--echo", "--bind", "192.0.2.1:0", *CLEAR), 2, "no interface that is up")

    def test_values(self):
        self.assert_one_line(homa("call", "127.0.0.1:1", "--deadline", "soon", *CLEAR), 2, "--deadline", "5s")
        self.assert_one_line(homa("ping", "127.0.0.1:1", "-s", "big", *CLEAR), 2, "--size", "64k")
        self.assert_one_line(homa("ping", "127.0.0.1:1", "-s", "2GiB", *CLEAR), 2, "over the limit")
        self.assert_one_line(homa("call", "127.0.0.1:1", "--class", "256", *CLEAR), 2, "--class")
        self.assert_one_line(homa("call", "127.0.0.1:1", "--deadline", "0", *CLEAR), 2, "--deadline")
        self.assert_one_line(homa("ping", "127.0.0.1:1", "-W", "0", *CLEAR), 2, "--timeout")
        self.assert_one_line(homa("bench", "run", "127.0.0.1:1", "--duration", "0"), 2, "--duration")
        for option in ("--size", "--response"):
            self.assert_one_line(homa("bench", "run", "127.0.0.1:1", option, "2GiB"), 2, "over the limit", option)
        for length in ("0", "281474976710656", "1e9"):
            self.assert_one_line(homa("serve", "--echo", "--max-message", length, *CLEAR), 2, "--max-message")

    def test_refused_numbers_name_a_bound_that_can_be_read(self):
        for result in (homa("ping", "127.0.0.1:1", "-c", 0, *CLEAR), homa("bench", "run", "127.0.0.1:1", "--rate", -5)):
            self.assert_one_line(result, 2, "at least")
            self.assertLess(len(result.stderr), 200)

    def test_counts(self):
        for count in ("0", "-1", "many"):
            self.assert_one_line(homa("ping", "127.0.0.1:1", "-c", count, *CLEAR), 2, "--count")
        for option in ("--outstanding", "--threads", "--connections", "--shards", "--count", "--seed", "--background"):
            self.assert_one_line(homa("bench", "run", "127.0.0.1:1", option, "-1"), 2, option)

    def test_unreadable_and_unwritable_files(self):
        self.assert_one_line(homa("call", "127.0.0.1:1", "--in", "/nonexistent", *CLEAR), 2, "cannot read '/nonexistent'")
        self.assert_one_line(homa("call", "127.0.0.1:1", "--in", "/", *CLEAR), 2, "cannot read '/'")
        self.assert_one_line(homa("call", "127.0.0.1:1", "--out", "/nonexistent/x", *CLEAR), 2, "cannot write")
        self.assert_one_line(homa("call", "127.0.0.1:1", "--out", "/", *CLEAR), 2, "cannot write")
        self.assert_one_line(homa("serve", "--files", "/nonexistent", *CLEAR), 2, "cannot serve '/nonexistent'")

    def test_serve_wants_exactly_one_kind(self):
        self.assert_one_line(homa("serve", *CLEAR), 2, "--echo or --files")
        self.assert_one_line(homa("serve", "--echo", "--files", "/", *CLEAR), 2, "--echo or --files")

    def test_input_over_the_limit(self):
        self.assert_one_line(homa("call", "127.0.0.1:1", "--max-message", "1k", *CLEAR, stdin=b"x" * 1001), 2,
                             "longer than the limit of 1000 bytes")

    def test_a_failed_call_leaves_no_file(self):
        with tempfile.TemporaryDirectory() as folder:
            homa("call", "127.0.0.1:1", "--in", "/nonexistent", "--out", Path(folder) / "out", *CLEAR)
            self.assertEqual(list(Path(folder).iterdir()), [])


if __name__ == "__main__":
    unittest.main()
