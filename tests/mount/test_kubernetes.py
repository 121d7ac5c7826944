# SPDX-License-Identifier: Apache-2.0
"""packaging/kubernetes: the files are what Kubernetes accepts, by its schemas, and their commands do what the files say. No cluster runs
here. A node is a folder whose mounts are shared, and a pod is a mount namespace that has it as the runtime would bind it."""

import os
import pathlib
import signal
import subprocess
import sys

import pytest

from mounts import children, is_running
from patience import PATIENCE_S, wait_until
from program_runs import run
from skips import needs_root
from stores import HELLO

yaml = pytest.importorskip("yaml")

KUBERNETES = pathlib.Path(__file__).resolve().parents[2] / "packaging" / "kubernetes"
FILES = sorted(KUBERNETES.glob("*.yaml"))
# How a container runtime binds a volume: the propagation that it has, and that of the container's mounts.
PROPAGATION = {"Bidirectional": "shared", "HostToContainer": "slave", None: "private"}
FIRST = "1.29"  # restartPolicy of an init container


def documents(path):
    return list(yaml.safe_load_all(path.read_text(encoding="utf-8")))


def pods(path):
    """The specification of each pod of a file."""
    specs = [document["spec"] for document in documents(path) if document["kind"] in ("Pod", "DaemonSet")]
    return [spec["template"]["spec"] if "template" in spec else spec for spec in specs]


def containers(pod):
    return [*pod.get("initContainers", []), *pod["containers"]]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_kubernetes_accepts_it(path):
    """No unknown field, none of another type: in the first version that has all of them, and in the newest."""
    folder = os.environ.get("AUGUR_KUBERNETES")
    if not folder:
        pytest.skip("AUGUR_KUBERNETES is not set: it is what `packaging/venv.sh kubernetes` prints")
    script = f"""
import sys, yaml, kubernetes_validate as k
for document in yaml.safe_load_all(open(sys.argv[1])):
    for version in ({FIRST!r}, k.latest_version()):
        k.validate(document, version, strict=True)
try:
    k.validate({{"apiVersion": "v1", "kind": "Pod", "metadata": {{}}, "spec": {{"containers": [], "volume": []}}}}, {FIRST!r}, strict=True)
except k.ValidationError:
    print("and it refuses a field that there is not")
"""
    done = subprocess.run([sys.executable, "-c", script, path], env={**os.environ, "PYTHONPATH": folder}, capture_output=True, text=True,
                          check=False)
    assert done.returncode == 0 and "it refuses" in done.stdout, done.stderr[-2000:]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_what_the_schemas_do_not_see(path):
    """Volumes that are named are there; mounts go to the node from privileged containers alone; who reads has no rights."""
    for pod in pods(path):
        volumes = {volume["name"] for volume in pod["volumes"]}
        for container in containers(pod):
            mounted = container["volumeMounts"]
            assert {mount["name"] for mount in mounted} <= volumes
            makes_mounts = any(mount.get("mountPropagation") == "Bidirectional" for mount in mounted)
            assert makes_mounts == (container["name"] == "augurfs")
            assert container.get("securityContext", {}) == ({"privileged": True} if makes_mounts else {})
            (where,) = [mount for mount in mounted if mount["name"] == "mounts"]
            assert where["mountPath"] == "/augurfs" and where["mountPropagation"] == ("Bidirectional" if makes_mounts else "HostToContainer")
    paths = {volume["hostPath"]["path"] for file in ("daemonset.yaml", "pod.yaml") for pod in pods(KUBERNETES / file)
             for volume in pod["volumes"] if volume["name"] == "mounts"}
    assert paths == {"/var/lib/augurfs"}


class Node:
    """Folders whose mounts are shared, as / is on a machine that systemd has started, and the containers of a file on it."""

    def __init__(self, room, program, store):
        self.room, self.store = room, store
        self.path = {"PATH": f"{os.path.dirname(program)}:/usr/sbin:/usr/bin:/sbin:/bin"}
        self.mounts = room / "node"
        self.mounts.mkdir()
        run(["mount", "-t", "tmpfs", "tmpfs", self.mounts], check=True)
        run(["mount", "--make-shared", self.mounts], check=True)
        self.processes = []

    def start(self, container, command=None, variables=()):
        """The container's command, or another, in its namespace: what the container has as /augurfs is a folder of its own here."""
        place = self.room / f"container{len(self.processes)}"
        place.mkdir()
        kinds = {mount["name"]: mount.get("mountPropagation") for mount in container["volumeMounts"]}
        # As runc does: what comes from the node keeps its peers, or follows them.
        enter = f"mount --make-rprivate /proc; mount --rbind {self.mounts} {place}; mount --make-r{PROPAGATION[kinds['mounts']]} {place}"
        words = [word.replace("/augurfs", str(place)) for word in command or container["command"]]
        environment = {**os.environ, **self.path, **dict(variables)}
        process = subprocess.Popen(["unshare", "--mount", "--propagation=unchanged", "sh", "-ec", f'{enter}; exec "$@"', "sh", *words],
                                   env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        process.place = place
        self.processes.append(process)
        return process

    def probe(self, process, words):
        """The exit status of a probe in a container."""
        return run(["nsenter", f"--target={process.pid}", "--mount", "--", *[word.replace("/augurfs", str(process.place)) for word in words]])

    def end(self):
        for process in self.processes:
            process.kill()
            process.communicate()
        for _ in range(4):
            if run(["umount", "-l", self.mounts / "train"]).returncode != 0:
                break
        run(["umount", "-l", self.mounts])


@pytest.fixture
def node(room, mounts, small_store):
    made = Node(room, mounts.program, small_store)
    yield made
    made.end()


def mounting(path, store):
    """The container that mounts, and its variables, with this store."""
    (container,) = [one for pod in pods(path) for one in containers(pod) if one["name"] == "augurfs"]
    variables = {row["name"]: row["value"] for row in container.get("env", [])}
    for source in container.get("envFrom", []):
        (found,) = [one for one in documents(path) if one["kind"] == "ConfigMap" and one["metadata"]["name"] == source["configMapRef"]["name"]]
        variables.update(found["data"])
    assert set(variables) == {"STORE", "OPTIONS"}
    return container, {**variables, "STORE": str(store)}


READ = ["sh", "-c", "cat /augurfs/train/hello.txt"]


@needs_root
@pytest.mark.parametrize("name", ["daemonset.yaml", "sidecar.yaml"])
def test_pods_read_what_a_container_mounts(name, node):
    container, variables = mounting(KUBERNETES / name, node.store)
    (pod,) = pods(KUBERNETES / ("pod.yaml" if name == "daemonset.yaml" else name))
    (reader,) = pod["containers"]
    # It is there before the mount, as when its node has just started.
    pod = node.start(reader, ["sleep", "1000"])
    probe = next(container[kind]["exec"]["command"] for kind in ("readinessProbe", "startupProbe") if kind in container)
    wait_until(lambda: node.probe(pod, ["true"]).returncode == 0 and pod.place.is_dir(), "the pod is there")
    assert node.probe(pod, probe).returncode != 0

    def start():
        daemon = node.start(container, variables=variables)
        wait_until(lambda: daemon.poll() is None and node.probe(daemon, probe).returncode == 0, "the mount is there")
        return daemon

    daemon = start()
    assert node.probe(pod, READ).stdout == HELLO

    # All of the container is killed. The next one makes the mount again, and the pod, which goes on, sees that.
    pids = [daemon.pid, *children(daemon.pid).values()]
    for pid in pids:
        os.kill(pid, signal.SIGKILL)
    wait_until(lambda: not any(map(is_running, pids)) and daemon.poll() is not None, "the container has ended")
    again = start()
    assert node.probe(pod, READ).stdout == HELLO

    # The end of the pod is SIGTERM to the container's first process.
    again.terminate()
    assert again.wait(PATIENCE_S) == 0
    assert node.probe(pod, probe).returncode != 0 and node.probe(pod, ["ls", "/augurfs"]).returncode == 0


@needs_root
def test_a_pod_waits_for_the_mount(node):
    container, variables = mounting(KUBERNETES / "daemonset.yaml", node.store)
    (pod,) = pods(KUBERNETES / "pod.yaml")
    (wait,) = pod["initContainers"]
    waiting = node.start(wait)
    with pytest.raises(subprocess.TimeoutExpired):
        waiting.wait(1.5)
    daemon = node.start(container, variables=variables)
    assert waiting.wait(PATIENCE_S) == 0
    daemon.terminate()
    assert daemon.wait(PATIENCE_S) == 0
