"""Two hosts on one machine: network namespaces joined by a veth pair, for the demo and the measurements.

A namespace lives as long as its holder, a sleeping process that dies with us whatever happens (PR_SET_PDEATHSIG), so
nothing is left behind, not even after kill -9. No name is taken in /run/netns.
"""

import ctypes
import json
import os
import shutil
import signal
import subprocess
import sys
import time

ADDRESSES = ("10.77.0.1", "10.77.0.2")
OFFLOADS = ("tso", "gso", "gro", "tx-udp-segmentation")
PR_SET_PDEATHSIG = 1


class SetupError(Exception):
    """What is missing and how to mend it, one line."""


def die_with_parent():
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def as_root_in_namespace():
    """Makes sure that we may create network namespaces: as root, else by running this script again as root of a user
    namespace. Raises SetupError where neither is allowed."""
    for tool in ("ip", "tc", "ethtool", "nsenter", "unshare"):
        if shutil.which(tool) is None and not os.path.exists(f"/usr/sbin/{tool}"):
            raise SetupError(f"'{tool}' is missing; run ./dev setup (Debian: iproute2, ethtool, util-linux)")
    os.environ["PATH"] += ":/usr/sbin:/sbin"
    probe = ["unshare", "--net", "true"]
    if subprocess.run(probe, stderr=subprocess.DEVNULL).returncode == 0:
        return
    user = ["unshare", "--user", "--map-root-user", "--net"]
    if os.environ.get("HOMA_IN_USER_NAMESPACE") or subprocess.run([*user, "true"], stderr=subprocess.DEVNULL).returncode:
        raise SetupError("may not create network namespaces here; run as root, or allow user namespaces "
                         "(sysctl kernel.unprivileged_userns_clone=1, or kernel.apparmor_restrict_unprivileged_userns=0)")
    os.environ["HOMA_IN_USER_NAMESPACE"] = "1"
    os.execvp("unshare", [*user, sys.executable, *sys.argv])


class TwoHosts:
    """Context manager. Hosts are numbered 0 and 1; each has one interface, `wire`, and ADDRESSES[i]/24."""

    def __init__(self, mtu=1500):
        self.mtu = mtu
        self.holders = []
        self.children = []

    def __enter__(self):
        try:
            for _ in ADDRESSES:
                self.holders.append(subprocess.Popen(["unshare", "--net", "sleep", "infinity"], stdin=subprocess.DEVNULL,
                                                     preexec_fn=die_with_parent))
            for holder in self.holders:
                self._wait_for_namespace(holder.pid)
            self.fresh_link()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, *_):
        self.close()

    def _wait_for_namespace(self, pid):
        ours = os.readlink("/proc/self/ns/net")
        for _ in range(500):
            try:
                if os.readlink(f"/proc/{pid}/ns/net") != ours:
                    return
            except OSError:
                pass
            time.sleep(0.01)
        raise SetupError("a network namespace could not be made; run as root")

    def fresh_link(self):
        """Joins the hosts by a new veth pair: what earlier cases did to the old one is gone with it."""
        if self.run(0, "ip", "link", "show", "wire", check=False).returncode == 0:
            self.run(0, "ip", "link", "delete", "wire")
        self.run(0, "ip", "link", "add", "name", "wire", "mtu", str(self.mtu), "type", "veth", "peer", "name", "far",
                 "mtu", str(self.mtu))
        self.run(0, "ip", "link", "set", "far", "netns", str(self.holders[1].pid))
        self.run(1, "ip", "link", "set", "far", "name", "wire")
        for host, address in enumerate(ADDRESSES):
            self.run(host, "ip", "address", "add", f"{address}/24", "dev", "wire")
            self.run(host, "ip", "link", "set", "lo", "up")
            self.run(host, "ip", "link", "set", "wire", "up")
            # Of the kernel's choices here, the one that everybody knows; the peers pin it as well.
            self.run(host, "sysctl", "-qw", "net.ipv4.tcp_congestion_control=cubic", check=False)

    def inside(self, host, *command):
        return ["nsenter", f"--net=/proc/{self.holders[host].pid}/ns/net", "--", *map(str, command)]

    def run(self, host, *command, check=True):
        result = subprocess.run(self.inside(host, *command), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        if check and result.returncode != 0:
            reason = (result.stderr.strip() or result.stdout.strip() or f"exit code {result.returncode}").splitlines()[-1]
            raise SetupError(f"'{' '.join(map(str, command))}' failed: {reason}")
        return result

    def start(self, host, *command):
        """A background process on the host; ends with us at the latest."""
        child = subprocess.Popen(self.inside(host, *command), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                 stderr=subprocess.PIPE, text=True, preexec_fn=die_with_parent)
        self.children.append(child)
        return child

    def start_server(self, host, *command):
        """A server that prints one line when it listens."""
        child = self.start(host, *command)
        line = child.stdout.readline()
        if not line:
            raise SetupError((child.stderr.read().strip() or "the server ended at once").splitlines()[-1])
        return child

    def offloads(self, on, names=OFFLOADS):
        """Segmentation by the "hardware" of both hosts: veth passes super-packets untouched otherwise."""
        for host in (0, 1):
            for name in names:
                self.run(host, "ethtool", "-K", "wire", name, "on" if on else "off", check=False)

    def shape(self, gigabits, queue_bytes):
        """Both directions at this rate with a queue of this size (token bucket). Offloads must be off."""
        for host in (0, 1):
            self.run(host, "tc", "qdisc", "replace", "dev", "wire", "root", "tbf", "rate", f"{round(gigabits * 1000)}mbit",
                     "burst", "8kb", "limit", str(queue_bytes))

    def lose(self, percent):
        """Random loss of IP packets that arrive at either host."""
        for host in (0, 1):
            self.run(host, "nft", "add", "table", "inet", "loss")
            self.run(host, "nft", "add", "chain", "inet", "loss", "in", "{ type filter hook input priority 0 ; }")
            self.run(host, "nft", "add", "rule", "inet", "loss", "in", "iifname", "wire", "numgen", "random", "mod",
                     "1000", "<", str(round(percent * 10)), "drop")

    def stop_losing(self):
        for host in (0, 1):
            self.run(host, "nft", "delete", "table", "inet", "loss", check=False)

    def bench(self, homa, *arguments, port=4000, timeout=60):
        """Runs `homa bench run` on host 0 against the server on host 1; its JSON."""
        command = [homa, "bench", "run", f"{ADDRESSES[1]}:{port}", "--json", *map(str, arguments)]
        result = subprocess.run(self.inside(0, *command), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                timeout=timeout)
        if not result.stdout.strip():
            raise SetupError((result.stderr.strip() or "homa bench ended without a word").splitlines()[-1])
        return json.loads(result.stdout)

    def close(self):
        for child in self.children:
            if child.poll() is None:
                child.terminate()
        for child in self.children:
            try:
                child.wait(timeout=3)
            except subprocess.TimeoutExpired:
                child.kill()
        for holder in self.holders:
            holder.kill()
            holder.wait()
        self.children, self.holders = [], []
