#!/usr/bin/env python3
"""Tidiness as a test: what a reviewer should not have to say twice. Prints one line per fault, exits 1 if there is any.

Each check is a function that takes a Tree and yields Faults; CHECKS lists them. Rules of rooms are tables at the top.
tidy_test.py plants every fault once and expects it to be found.
"""

import os
import re
import subprocess
import sys
from pathlib import Path, PurePosixPath
from typing import Iterator, NamedTuple, Optional

LINE_LENGTH_MAX = 120
SOURCE_LINES_MAX = 700

# Rooms whose headers a room may include, besides its own. Arrows go one way (ARCHITECTURE.md).
ROOMS = {
    "base": ("homa",),
    "wire": ("base",),
    "protocol": ("base", "wire"),
    "security": ("base", "wire", "protocol", "homa"),
    "net": ("base",),
    "runtime": ("base", "wire", "protocol", "security", "net", "homa"),
    "api": ("base", "wire", "protocol", "security", "net", "runtime", "homa"),
    "simulation": ("base", "wire", "protocol", "homa", "testing"),
}

# Rooms outside of src/.
ROOT_ROOMS = ("simulation",)

# Rooms that are pure: time, packets and randomness come in as arguments.
PURE_ROOMS = ("wire", "protocol")
CLOCKLESS_ROOMS = ("base", "wire", "protocol")
IMPURE_HEADERS = re.compile(
    r"<(sys/.*|net/.*|netinet/.*|arpa/.*|linux/.*|poll\.h|unistd\.h|pthread\.h|time\.h|ctime"
    r"|thread|mutex|shared_mutex|condition_variable|future|semaphore|random|iostream|fstream|cstdio)>"
)
CLOCK_READS = re.compile(r"_clock::now\s*\(|\bclock_gettime\s*\(|\bgettimeofday\s*\(|\btime\s*\(\s*(nullptr|NULL|0)\s*\)")

# Spelt in pieces, or this file would be its own first finding.
LEFTOVERS = re.compile(r"\b(TO" r"DO|FIX" r"ME|XX" r"X|HA" r"CK)\b")

CXX = (".h", ".cc")


class Fault(NamedTuple):
    path: str
    line: int  # 0: the file as a whole
    message: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.message}" if self.line else f"{self.path}: {self.message}"


class Tree:
    """The files under test, as {path relative to root: text}; binary files and fuzz corpora are left out."""

    def __init__(self, root: Path):
        self.root = root
        self.texts = {}
        for path in list_files(root):
            if "/corpus/" in path or not (root / path).is_file():
                continue
            data = (root / path).read_bytes()
            if b"\0" not in data:
                self.texts[path] = data.decode("utf-8", errors="replace")

    def select(self, *tops: str, suffixes=CXX) -> Iterator[str]:
        """Paths with one of the suffixes, below one of the folders (all folders when none is named)."""
        for path in self.texts:
            if path.endswith(suffixes) and (not tops or path.split("/")[0] in tops):
                yield path

    def lines(self, path: str) -> Iterator[tuple[int, str]]:
        return enumerate(self.texts[path].split("\n"), start=1)

    def code_lines(self, path: str) -> Iterator[tuple[int, str]]:
        """Lines without `//` comments. Good enough: we write no other comments in C++."""
        for number, line in self.lines(path):
            yield number, re.sub(r"(^|\s)//.*", "", line)


def list_files(root: Path) -> list[str]:
    """What git knows or would add; every file but build results when there is no git here (a release archive)."""
    command = ["git", "-c", "safe.directory=*", "-C", str(root), "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    try:
        output = subprocess.run(command, capture_output=True, check=True).stdout
        return sorted(set(filter(None, output.decode().split("\0"))))
    except (OSError, subprocess.CalledProcessError):
        paths = (path.relative_to(root) for path in root.rglob("*") if path.is_file())
        return sorted(p.as_posix() for p in paths if p.parts[0] not in ("build", ".git") and "__pycache__" not in p.parts)


def room_of(path: str) -> Optional[str]:
    parts = path.split("/")
    if parts[0] in ROOT_ROOMS:
        return parts[0]
    return parts[1] if parts[0] == "src" and len(parts) > 2 else None


# White space and size


def check_white_space(tree: Tree) -> Iterator[Fault]:
    for path, text in tree.texts.items():
        if text and not text.endswith("\n"):
            yield Fault(path, 0, "no newline at the end")
        for number, line in tree.lines(path):
            if line != line.rstrip():
                yield Fault(path, number, "white space at the end of the line")


def check_size(tree: Tree) -> Iterator[Fault]:
    for path in tree.select():
        for number, line in tree.lines(path):
            if len(line) > LINE_LENGTH_MAX:
                yield Fault(path, number, f"line of {len(line)} characters, limit {LINE_LENGTH_MAX}")
    for path in tree.select("src", "simulation"):
        count = tree.texts[path].count("\n")
        if count > SOURCE_LINES_MAX:
            yield Fault(path, 0, f"{count} lines, limit {SOURCE_LINES_MAX}: split it by concept")


# Words


def check_words(tree: Tree) -> Iterator[Fault]:
    for path in tree.texts:
        for number, line in tree.lines(path):
            if match := LEFTOVERS.search(line):
                yield Fault(path, number, f"leftover '{match.group()}': do it, or write an issue")
    for path in tree.select():
        for number, line in tree.code_lines(path):
            if re.search(r"\busing\s+namespace\s+std\s*;", line):
                yield Fault(path, number, "using namespace std")
            if path.startswith("src/") and re.search(r"\bstd::(cout|cerr)\b", line):
                yield Fault(path, number, "printing in src/: report an event or return an error")


def check_sleeps(tree: Tree) -> Iterator[Fault]:
    for path in tree.select("tests", "testing", suffixes=CXX + (".py",)):
        if path.startswith("tests/tidy/"):
            continue
        for number, line in tree.code_lines(path):
            if re.search(r"\b(u?sleep|nanosleep|sleep_for|sleep_until)\s*\(", line):
                yield Fault(path, number, "sleeping in a test: use virtual time, or wait for the event itself")


# Rooms


def check_includes(tree: Tree) -> Iterator[Fault]:
    for path in tree.select("src", "include", "simulation", "testing", "tools", "bench", "tests"):
        for number, line in tree.lines(path):
            match = re.match(r'\s*#\s*include\s*(<[^>]+>|"[^"]+")', line)
            if match:
                for message in judge_include(path, match.group(1)):
                    yield Fault(path, number, message)


def judge_include(path: str, included: str) -> Iterator[str]:
    room = room_of(path)
    name = included[1:-1]
    is_of_linux = included.startswith("<net/")  # <net/if.h>, and no header of src/net
    target = name.split("/")[0] if "/" in name and not is_of_linux else None
    if name.startswith(".") or "/../" in name:
        yield f"{included}: name headers from the source root"
        return
    if room in PURE_ROOMS and IMPURE_HEADERS.fullmatch(included):
        yield f"{included} in src/{room}, which is pure"
    if path.startswith("include/") and (included[0] == '"' or target in ROOMS) and target != "homa":
        yield f"{included}: public headers include only the standard library and each other"
    if room is None:
        return
    if room not in ROOMS:
        yield f"room src/{room} is unknown: add it to ROOMS in tests/tidy/tidy.py and to ARCHITECTURE.md"
    elif included[0] == '"' and target is None:
        yield f"{included}: name headers from the source root"
    elif (target in ROOMS or target in ("homa", "testing")) and target != room and target not in ROOMS[room]:
        folder = room if room in ROOT_ROOMS else f"src/{room}"
        yield f"{folder} must not include {included} (ARCHITECTURE.md)"


def check_clocks(tree: Tree) -> Iterator[Fault]:
    for path in tree.select("src"):
        if room_of(path) in CLOCKLESS_ROOMS:
            for number, line in tree.code_lines(path):
                if CLOCK_READS.search(line):
                    yield Fault(path, number, f"src/{room_of(path)} reads a clock: take `now` as an argument")


def check_pragma_once(tree: Tree) -> Iterator[Fault]:
    for path in tree.select(suffixes=(".h",)):
        if not re.search(r"^#pragma once$", tree.texts[path], re.MULTILINE):
            yield Fault(path, 0, "header without #pragma once")


# Files


def check_sources_are_built(tree: Tree) -> Iterator[Fault]:
    """Each source is named in a CMakeLists.txt at or above it, or from the root in cmake/*.cmake."""
    for path in tree.select("src", "simulation", "testing", "tools", "bench", "tests", suffixes=(".cc",)):
        if not any(names_source(tree, lists, path) for lists in cmake_files_for(path)):
            if not any(f"/{path}" in tree.texts[module] for module in tree.select("cmake", suffixes=(".cmake",))):
                yield Fault(path, 0, "not named in any CMakeLists.txt")


def cmake_files_for(path: str) -> Iterator[str]:
    for folder in PurePosixPath(path).parents:
        yield (folder / "CMakeLists.txt").as_posix()


def names_source(tree: Tree, cmake_lists: str, path: str) -> bool:
    relative = PurePosixPath(path).relative_to(PurePosixPath(cmake_lists).parent).as_posix()
    text = re.sub(r"#.*", "", tree.texts.get(cmake_lists, ""))
    return re.search(rf"(?<![\w./-]){re.escape(relative)}(?![\w./-])", text) is not None


def check_executable_bits(tree: Tree) -> Iterator[Fault]:
    for path, text in tree.texts.items():
        executable = os.access(tree.root / path, os.X_OK)
        if text.startswith("#!") and not executable:
            yield Fault(path, 0, "script without the executable bit")
        if executable and not text.startswith("#!"):
            yield Fault(path, 0, "executable but not a script")


# Documents


def check_links(tree: Tree) -> Iterator[Fault]:
    for path in tree.select(suffixes=(".md",)):
        for number, line in prose_lines(tree, path):
            for target in re.findall(r"\]\(([^)\s]+)\)", line):
                if message := judge_link(tree, path, target):
                    yield Fault(path, number, message)


def prose_lines(tree: Tree, path: str) -> Iterator[tuple[int, str]]:
    """Lines outside code fences, without `code`."""
    fenced = False
    for number, line in tree.lines(path):
        if line.lstrip().startswith("```"):
            fenced = not fenced
        elif not fenced:
            yield number, re.sub(r"`[^`]*`", "", line)


def judge_link(tree: Tree, path: str, target: str) -> Optional[str]:
    if re.match(r"[a-z]+:", target):
        return None  # other sites are not ours to keep alive
    name, _, anchor = target.partition("#")
    file = os.path.normpath(os.path.join(os.path.dirname(path), name)) if name else path
    if file not in tree.texts and not any(known.startswith(file + "/") for known in tree.texts):
        return f"broken link: {target}"
    if anchor and file.endswith(".md") and anchor not in anchors_of(tree.texts[file]):
        return f"broken link: no heading '#{anchor}' in {file}"
    return None


def anchors_of(text: str) -> set[str]:
    """Heading anchors as GitHub makes them."""
    headings = re.findall(r"^#+ +(.*)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-") for heading in headings}


CHECKS = (
    check_white_space,
    check_size,
    check_words,
    check_sleeps,
    check_includes,
    check_clocks,
    check_pragma_once,
    check_sources_are_built,
    check_executable_bits,
    check_links,
)


def find_faults(root: Path) -> list[Fault]:
    tree = Tree(root)
    return sorted(fault for check in CHECKS for fault in check(tree))


def main() -> int:
    root = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parents[2]
    faults = find_faults(root)
    for fault in faults:
        print(fault)
    print(f"tidy: {len(faults)} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
