# SPDX-License-Identifier: Apache-2.0
"""S3 servers for tests and benchmarks, as context managers: real ones, that check signatures. None is left when the context ends.

packaging/servers.sh finds or makes their programs. All that a server keeps is in its folder.
"""

import contextlib
import dataclasses
import json
import os
import pathlib
import socket
import subprocess
import tempfile
import time

import mounts
from s3_client import Credentials, S3Client

PATIENCE_S = 60
CREDENTIALS = Credentials("AUGURTESTKEY", "augur-test-secret")
REGION = "us-east-1"
# Tests move the cache folder of their daemons. Programs are kept in the user's own, where another run finds them.
ENVIRONMENT = dict(os.environ)


def server_program(name):
    """The path of a program that packaging/servers.sh knows; it is made when it is not there."""
    done = subprocess.run([mounts.ROOT / "packaging" / "servers.sh", name], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True,
                          check=True, env=ENVIRONMENT)
    return done.stdout.strip()


@dataclasses.dataclass(frozen=True)
class Certificate:
    """Signed by itself, so its own file is the bundle of authorities that clients need."""

    file: str
    key: str

    @classmethod
    def make(cls, folder, *addresses):
        """For localhost and these IP addresses."""
        folder = pathlib.Path(folder).resolve()
        file, key = folder / "certificate.pem", folder / "key.pem"
        names = ",".join(["DNS:localhost", *(f"IP:{address}" for address in addresses)])
        mounts.run("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
                   "-subj", "/CN=localhost", "-addext", f"subjectAltName={names}", "-keyout", key, "-out", file)
        return cls(str(file), str(key))


@dataclasses.dataclass(frozen=True)
class ObjectServer:
    """A running S3 server."""

    name: str
    endpoint: str
    process: subprocess.Popen
    credentials: Credentials = CREDENTIALS
    region: str = REGION
    ca_file: str | None = None

    def client(self, bucket, **options):
        return S3Client(self.endpoint, bucket, self.credentials, self.region, self.ca_file, **options)

    def environment(self):
        """The variables with which clients of AWS find it. AWS_CA_BUNDLE is not among them: some clients refuse to start with it."""
        return {"AWS_ACCESS_KEY_ID": self.credentials.access_key, "AWS_SECRET_ACCESS_KEY": self.credentials.secret_key,
                "AWS_REGION": self.region, "AWS_EC2_METADATA_DISABLED": "true"}


def free_ports(address, count):
    """Ports that nothing listens on. All are held until all are known, so that no two are the same."""
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for one in sockets:
            one.bind((address, 0))
        return [one.getsockname()[1] for one in sockets]


def _wait_until_it_answers(server, log):
    """A request for a bucket that is not there must be answered so."""
    end_s = time.monotonic() + PATIENCE_S
    while True:
        client = server.client("augur-no-such-bucket", timeout_s=5)
        with contextlib.suppress(OSError, ValueError):
            if client.request("GET", query={"list-type": 2}).status == 404:
                client.close()
                return
        client.close()
        if server.process.poll() is not None or time.monotonic() > end_s:
            raise RuntimeError(f"{server.name} does not answer at {server.endpoint}: {pathlib.Path(log).read_text(errors='replace')[-3000:]}")
        time.sleep(0.05)


@contextlib.contextmanager
def _running(name, words, endpoint, folder, environment=None, ca_file=None, end=subprocess.Popen.terminate):
    log = os.path.join(folder, f"{name}.log")
    with open(log, "wb") as output:
        process = subprocess.Popen([str(word) for word in words], stdin=subprocess.DEVNULL, stdout=output, stderr=output,
                                   env={**os.environ, **(environment or {})}, cwd=folder)
    try:
        server = ObjectServer(name, endpoint, process, ca_file=ca_file)
        _wait_until_it_answers(server, log)
        yield server
    finally:
        end(process)
        process.wait()


@contextlib.contextmanager
def versitygw(folder, address="127.0.0.1", certificate=None, access_log=None, keep_alive=True, versions=False):
    """An ObjectServer: buckets are folders in folder/objects, objects are files in them. Its errors are most like those of AWS.
    `access_log`: a file that gets a line for each request. Without `keep_alive` it closes the connection after each answer. `versions`:
    buckets may keep versions."""
    program = server_program("versitygw")
    folder = pathlib.Path(folder).resolve()
    (folder / "objects").mkdir(parents=True, exist_ok=True)
    (port,) = free_ports(address, 1)
    words = [program, "--quiet", "--port", f"{address}:{port}", "--region", REGION]
    words += ["--keep-alive"] if keep_alive else []
    words += ["--access-log", access_log] if access_log else []
    words += ["--cert", certificate.file, "--key", certificate.key] if certificate else []
    arguments = [folder / "objects"]
    if versions:
        (folder / "versions").mkdir(exist_ok=True)
        arguments = ["--versioning-dir", folder / "versions", *arguments]
    environment = {"ROOT_ACCESS_KEY": CREDENTIALS.access_key, "ROOT_SECRET_KEY": CREDENTIALS.secret_key}
    scheme = "https" if certificate else "http"
    with _running("versitygw", [*words, "posix", *arguments], f"{scheme}://{address}:{port}", folder, environment,
                  certificate and certificate.file) as server:
        yield server


@contextlib.contextmanager
def seaweedfs(folder, address="127.0.0.1", versions=True):
    """An ObjectServer, of the second kind: a master, a volume server, a filer and the S3 gateway in one process. Its buckets may always
    keep versions."""
    program = server_program("seaweedfs")
    folder = pathlib.Path(folder).resolve()
    (folder / "volumes").mkdir(parents=True, exist_ok=True)
    identity = {"name": "test", "actions": ["Admin", "Read", "Write", "List", "Tagging"],
                "credentials": [{"accessKey": CREDENTIALS.access_key, "secretKey": CREDENTIALS.secret_key}]}
    (folder / "identities.json").write_text(json.dumps({"identities": [identity]}), encoding="ascii")
    names = ["master.port", "master.port.grpc", "volume.port", "volume.port.grpc", "filer.port", "filer.port.grpc", "s3.port", "s3.port.grpc"]
    ports = dict(zip(names, free_ports(address, len(names)), strict=True))
    words = [program, f"-logdir={folder}", "server", f"-ip={address}", f"-ip.bind={address}", f"-dir={folder / 'volumes'}", "-s3", f"-s3.config={folder / 'identities.json'}",
             "-s3.port.iceberg=0", "-s3.port.lance=0", "-volume.max=0", "-master.volumeSizeLimitMB=1024", *(f"-{name}={port}" for name, port in ports.items())]
    # Its end leaves six sockets in /tmp. Only two of them have an option for their place.
    sockets = [pathlib.Path(f"/tmp/seaweedfs-{name.replace('.port', '').replace('.', '-')}-{port}.sock") for name, port in ports.items()]
    try:
        with _running("seaweedfs", words, f"http://{address}:{ports['s3.port']}", folder,
                      end=subprocess.Popen.kill) as server:  # its orderly end takes twenty seconds
            yield server
    finally:
        for one in sockets:
            one.unlink(missing_ok=True)


def default_server():
    """The server that tests use, as a function of the two above: $AUGUR_S3_SERVER, or the one that costs least from nothing."""
    name = os.environ.get("AUGUR_S3_SERVER") or pathlib.Path(server_program("s3")).name
    return {"versitygw": versitygw, "seaweedfs": seaweedfs, "weed": seaweedfs}[name]


@contextlib.contextmanager
def in_new_folder(server, **options):
    """The server, with a folder that is gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="augur-objects-") as folder, server(folder, **options) as running:
        yield running
