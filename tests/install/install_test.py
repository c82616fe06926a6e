#!/usr/bin/env python3
"""Builds and runs consumer/ in a directory of its own: `installed` against `cmake --install` of a finished build,
`subdirectory` with the sources inside its own project. Neither may need more than libhoma itself."""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

CONSUMER = Path(__file__).resolve().parent / "consumer"
# Only these may stand in an installed include directory.
HEADERS = "homa/"


def run(*command):
    result = subprocess.run([*map(str, command)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if result.returncode != 0:
        sys.exit(f"'{' '.join(map(str, command))}' failed:\n{result.stdout}")
    return result.stdout


def install(options, prefix):
    run(options.cmake, "--install", options.build, "--prefix", prefix)
    headers = [path.relative_to(prefix / "include").as_posix() for path in (prefix / "include").rglob("*.h")]
    strangers = [header for header in headers if not header.startswith(HEADERS)]
    if strangers or not headers:
        sys.exit(f"installed headers beside {HEADERS}: {strangers}, of {len(headers)}")
    for package_file in prefix.rglob("*.cmake"):
        text = package_file.read_text()
        for place in (str(options.source), str(options.build)):
            if place in text:
                sys.exit(f"{package_file.relative_to(prefix)} refers to {place}, which users do not have")


def compiler_cache():
    """The library is compiled once more here; the second time it comes from the cache. No -g: it names the directory."""
    return ["-DCMAKE_CXX_COMPILER_LAUNCHER=ccache"] if shutil.which("ccache") else []


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("way", choices=("installed", "subdirectory"))
    for name in ("source", "build", "cmake", "generator", "compiler", "flags"):
        parser.add_argument(f"--{name}", required=True)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="homa-install-") as folder:
        prefix, build = Path(folder, "prefix"), Path(folder, "build")
        if options.way == "installed":
            install(options, prefix)
            place = f"-DCMAKE_PREFIX_PATH={prefix}"
        else:
            place = f"-DHOMA_SOURCE={options.source}"
        run(options.cmake, "-S", CONSUMER, "-B", build, "-G", options.generator, f"-DCMAKE_CXX_COMPILER={options.compiler}",
            f"-DCMAKE_CXX_FLAGS={options.flags}", *compiler_cache(), place)
        run(options.cmake, "--build", build, "-j", os.environ.get("HOMA_JOBS", "2"))
        run(build / "consumer")
    print(f"consumer by {options.way}: built and ran")


if __name__ == "__main__":
    main()
