#!/usr/bin/env python3
"""Tests of tidy.py: a clean tree passes, and each planted fault is found, at its place, and nothing else is."""

import subprocess
import tempfile
import unittest
from pathlib import Path

import tidy

# Spelt in pieces, as in tidy.py.
LEFTOVER = "TO" + "DO"

CLEAN_TREE = {
    "CMakeLists.txt": "add_subdirectory(src/wire)\n",
    "README.md": "# Title\n\n[guide](docs/guide.md#second-part), [folder](docs), [site](https://example.org/none)\n",
    "docs/guide.md": "# Guide\n\n## Second part\n\n[up](../README.md) [here](#second-part)\n\n```\n[no](link)\n```\n",
    "dev": "#!/bin/sh\n",
    "cmake/Tools.cmake": "target_sources(x PRIVATE ${PROJECT_SOURCE_DIR}/tests/fuzz/main.cc)\n",
    "include/homa/call.h": "#pragma once\n#include <span>\n#include <homa/types.h>\n",
    "simulation/run.h": '#pragma once\n#include "base/time.h"\n',
    "src/base/time.h": "#pragma once\n#include <chrono>\n",
    "src/wire/CMakeLists.txt": "add_library(wire frame.cc)\n",
    "src/wire/frame.h": '#pragma once\n#include "base/time.h"\n',
    "src/wire/frame.cc": '#include "wire/frame.h"\n// No steady_clock::now() here, and std::cout neither.\n',
    "src/net/udp.h": '#pragma once\n#include <sys/socket.h>\n#include "base/time.h"\n',
    "src/runtime/shard.h": '#pragma once\n#include <thread>\n#include "net/udp.h"\n#include "security/seal.h"\n',
    "tests/fuzz/main.cc": "int main() {}\n",
    "tests/fuzz/corpus/frame_fuzzer/one": "trailing \n\nno newline",
}


class TidyTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.root = Path(self.folder.name)
        for path, text in CLEAN_TREE.items():
            self.write(path, text)
        (self.root / "dev").chmod(0o755)

    def write(self, path, text):
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    def expect(self, path, line, words):
        faults = tidy.find_faults(self.root)
        self.assertEqual([(f.path, f.line) for f in faults], [(path, line)], msg="\n".join(map(str, faults)))
        self.assertIn(words, faults[0].message)

    def append(self, path, text):
        self.write(path, CLEAN_TREE[path] + text)

    def test_clean_tree_has_no_fault(self):
        self.assertEqual(tidy.find_faults(self.root), [])

    def test_trailing_white_space(self):
        self.append("docs/guide.md", "words \n")
        self.expect("docs/guide.md", 10, "white space")

    def test_carriage_return(self):
        self.append("dev", "echo\r\n")
        self.expect("dev", 2, "white space")

    def test_missing_newline_at_end(self):
        self.append("src/wire/frame.cc", "int x;")
        self.expect("src/wire/frame.cc", 0, "no newline")

    def test_long_line(self):
        self.append("src/wire/frame.cc", "//" + "x" * 119 + "\n")
        self.expect("src/wire/frame.cc", 3, "line of 121 characters")

    def test_line_at_the_limit(self):
        self.append("src/wire/frame.cc", "//" + "x" * 118 + "\n")
        self.assertEqual(tidy.find_faults(self.root), [])

    def test_long_file(self):
        self.append("src/wire/frame.cc", "int x;\n" * 699)
        self.expect("src/wire/frame.cc", 0, "701 lines")

    def test_leftover_word_in_any_text(self):
        self.append("dev", f"# {LEFTOVER}: later\n")
        self.expect("dev", 2, LEFTOVER)

    def test_printing_in_src(self):
        self.append("src/wire/frame.cc", "void f() { std::cout << 1; }\n")
        self.expect("src/wire/frame.cc", 3, "printing")

    def test_using_namespace_std(self):
        self.append("tests/fuzz/main.cc", "using namespace std;\n")
        self.expect("tests/fuzz/main.cc", 2, "using namespace std")

    def test_literals_namespace_is_allowed(self):
        self.append("tests/fuzz/main.cc", "using namespace std::chrono_literals;\n")
        self.assertEqual(tidy.find_faults(self.root), [])

    def test_sleep_in_a_test(self):
        for call in ("std::this_thread::sleep_for(1ms);", "usleep(5);", "sleep(1);", "std::this_thread::sleep_until(t);"):
            with self.subTest(call):
                self.append("tests/fuzz/main.cc", f"void f() {{ {call} }}\n")
                self.expect("tests/fuzz/main.cc", 2, "sleeping")

    def test_sleep_in_a_python_test(self):
        self.write("tests/netns/peer.py", "time.sleep(1)\n")
        self.expect("tests/netns/peer.py", 1, "sleeping")

    def test_includes_against_the_arrows(self):
        for source, included in (
            ("simulation/run.h", "net/udp.h"),
            ("src/base/time.h", "wire/frame.h"),
            ("src/wire/frame.h", "protocol/endpoint.h"),
            ("src/wire/frame.h", "testing/world.h"),
            ("src/net/udp.h", "wire/frame.h"),
            ("src/net/udp.h", "runtime/shard.h"),
            ("src/runtime/shard.h", "api/call.h"),
            ("src/net/udp.h", "homa/call.h"),
        ):
            with self.subTest(f"{source} {included}"):
                self.append(source, f'#include "{included}"\n')
                self.expect(source, CLEAN_TREE[source].count("\n") + 1, "must not include")
                self.write(source, CLEAN_TREE[source])

    def test_protocol_includes_neither_net_nor_runtime(self):
        for included in ("net/udp.h", "runtime/shard.h", "security/seal.h"):
            self.write("src/protocol/endpoint.h", f'#pragma once\n#include "{included}"\n')
            self.expect("src/protocol/endpoint.h", 2, "must not include")

    def test_protocol_is_pure(self):
        for header in ("sys/socket.h", "thread", "mutex", "random", "netinet/in.h"):
            self.write("src/protocol/endpoint.h", f"#pragma once\n#include <{header}>\n")
            self.expect("src/protocol/endpoint.h", 2, "pure")

    def test_protocol_reads_no_clock(self):
        for call in ("std::chrono::steady_clock::now()", "clock_gettime(CLOCK_MONOTONIC, &t)", "time(nullptr)"):
            self.write("src/protocol/endpoint.h", f"#pragma once\nauto f() {{ return {call}; }}\n")
            self.expect("src/protocol/endpoint.h", 2, "clock")

    def test_headers_of_linux_are_no_room_of_ours(self):
        self.append("src/base/time.h", "#include <net/if.h>\n")
        self.assertEqual(tidy.find_faults(self.root), [])

    def test_relative_include(self):
        self.append("src/wire/frame.h", '#include "../net/udp.h"\n')
        self.expect("src/wire/frame.h", 3, "source root")
        self.append("src/wire/frame.h", '#include "frame.h"\n')
        self.expect("src/wire/frame.h", 3, "source root")

    def test_unknown_room(self):
        self.write("src/attic/box.h", "#pragma once\n#include <span>\n")
        self.expect("src/attic/box.h", 2, "unknown")

    def test_public_header_shows_no_inside(self):
        self.append("include/homa/call.h", '#include "base/time.h"\n')
        self.expect("include/homa/call.h", 4, "public headers")

    def test_header_without_pragma_once(self):
        self.write("src/base/time.h", "// says #pragma once only here\n")
        self.expect("src/base/time.h", 0, "#pragma once")

    def test_source_not_built(self):
        self.write("src/wire/lost.cc", "int x;\n")
        self.expect("src/wire/lost.cc", 0, "not named")

    def test_source_named_only_as_part_of_another(self):
        self.write("src/wire/me.cc", "int x;\n")  # frame.cc ends in it
        self.expect("src/wire/me.cc", 0, "not named")

    def test_source_named_only_in_a_comment(self):
        self.write("src/wire/lost.cc", "int x;\n")
        self.append("src/wire/CMakeLists.txt", "# lost.cc\n")
        self.expect("src/wire/lost.cc", 0, "not named")

    def test_source_named_from_above(self):
        self.write("src/wire/part/deep.cc", "int x;\n")
        self.append("src/wire/CMakeLists.txt", "target_sources(wire PRIVATE part/deep.cc)\n")
        self.assertEqual(tidy.find_faults(self.root), [])

    def test_script_without_executable_bit(self):
        (self.root / "dev").chmod(0o644)
        self.expect("dev", 0, "executable bit")

    def test_executable_that_is_no_script(self):
        (self.root / "README.md").chmod(0o755)
        self.expect("README.md", 0, "not a script")

    def test_broken_link(self):
        self.append("docs/guide.md", "[gone](none.md)\n")
        self.expect("docs/guide.md", 10, "broken link")

    def test_broken_anchor(self):
        self.append("docs/guide.md", "[gone](#third-part)\n")
        self.expect("docs/guide.md", 10, "no heading")

    def test_ignored_files_are_left_alone(self):
        subprocess.run(["git", "init", "-q", str(self.root)], check=True)
        self.write(".gitignore", "/build/\n")
        self.write("build/junk.h", "trailing \n")
        self.assertEqual(tidy.find_faults(self.root), [])
        self.write("new.h", "trailing \n#pragma once\n")  # not added yet, but would be
        self.expect("new.h", 1, "white space")

    def test_exit_status_and_output(self):
        script = Path(tidy.__file__)
        self.append("docs/guide.md", "words \n")
        result = subprocess.run([script, self.root], capture_output=True, text=True)
        self.assertEqual(result.returncode, 1)
        self.assertEqual(result.stdout, "docs/guide.md:10: white space at the end of the line\ntidy: 1 faults\n")


if __name__ == "__main__":
    unittest.main()
