#!/usr/bin/env python3
"""consumer/ in a directory of its own. `installed`: against `cmake --install` of a finished build, which it links and runs.
`subdirectory`: with the sources inside its own project; configures all of it, and compiles what tells whether a foreign
project and our sources get along: the consumer, and one room of ours. That the rest links and runs, `installed` shows
with the same targets. Neither may need more than libhoma itself."""

import argparse
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
            f"-DCMAKE_CXX_FLAGS={options.flags}", place)
        if options.way == "installed":
            run(options.cmake, "--build", build)
            run(build / "consumer")
        else:
            run(options.cmake, "--build", build, "--target", "consumer_code", "homa_wire")
    print(f"consumer by {options.way}: well")


if __name__ == "__main__":
    main()
