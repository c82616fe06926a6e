"""What the tests of the `homa` command share: running it, and servers that end with the test."""

import os
import signal
import subprocess
import unittest

HOMA = os.environ.get("HOMA_COMMAND", "build/dev/tools/homa/homa")
CLEAR = ("--security", "clear")


def homa(*arguments, stdin=b"", timeout=30):
    """Runs the command to its end; bytes in, bytes out."""
    return subprocess.run([HOMA, *map(str, arguments)], input=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          timeout=timeout)


class CommandTest(unittest.TestCase):
    def start(self, *arguments):
        """A server; returns the process and the port that it says it listens on."""
        process = subprocess.Popen([HOMA, *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(self.stop, process)
        line = process.stdout.readline()
        self.assertIn("listening on", line, process.stderr.read() if not line else "")
        return process, int(line.split("listening on ")[1].split(" ")[0].strip().rsplit(":", 1)[1])

    def stop(self, process):
        """Ends a server as a user would; its exit code and remaining output."""
        if process.poll() is None:
            process.send_signal(signal.SIGINT)
        try:
            out, _ = process.communicate(timeout=10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            self.fail("SIGINT did not end the server")
        except ValueError:  # communicated before
            return process.returncode, ""
        return process.returncode, out

    def assert_one_line(self, result, exit_code, *parts):
        """Nothing on stdout, one line on stderr that says these things."""
        text = result.stderr.decode()
        self.assertEqual(result.returncode, exit_code, text)
        self.assertEqual(text.count("\n"), 1, text)
        self.assertTrue(text.startswith("homa"), text)
        for part in parts:
            self.assertIn(part, text)
