# SPDX-License-Identifier: Apache-2.0
"""Each place where credentials may come from, and each option and variable of S3, on the real program: what it sends, and what the
server makes of it. The fake services answer as those of AWS do; their answers are those of AWS's documentation."""

import contextlib
import http.server
import json
import os
import pathlib
import shutil
import subprocess
import threading
import urllib.parse

import faults
import mounts
import pytest
import s3_client
from bucket_support import run
from https_server import HttpsServer

pytestmark = pytest.mark.usefixtures("aws_environment")

# What the sources give. The proxy checks signatures made with it, and signs anew for the server, which does not know it.
GIVEN = s3_client.Credentials("AUGURROLEKEY", "role-secret", "role-token")
EXPIRATION = "2099-01-01T00:00:00Z"
DOCUMENT = json.dumps({"Code": "Success", "Type": "AWS-HMAC", "AccessKeyId": GIVEN.access_key, "SecretAccessKey": GIVEN.secret_key,
                       "Token": GIVEN.token, "Expiration": EXPIRATION})
STS_ANSWER = f"""<AssumeRoleWithWebIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/">
<AssumeRoleWithWebIdentityResult><Credentials><SessionToken>{GIVEN.token}</SessionToken>
<SecretAccessKey>{GIVEN.secret_key}</SecretAccessKey><Expiration>{EXPIRATION}</Expiration><AccessKeyId>{GIVEN.access_key}</AccessKeyId>
</Credentials></AssumeRoleWithWebIdentityResult></AssumeRoleWithWebIdentityResponse>"""


@contextlib.contextmanager
def service(answer):
    """The address of a web server; `answer` makes (status, text) of a method, a path, the headers and a body."""
    class Handler(http.server.BaseHTTPRequestHandler):
        def reply(self):
            body = self.rfile.read(int(self.headers.get("content-length", 0))).decode()
            status, text = answer(self.command, self.path, self.headers, body)
            self.send_response(status)
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text.encode())

        do_GET = do_PUT = do_POST = reply

        def log_message(self, *_):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()
            thread.join()


@pytest.fixture
def home(folder, monkeypatch):
    """A user who has nothing as yet: the folder of profile files."""
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name)
    path = pathlib.Path(folder) / "home" / ".aws"
    path.mkdir(parents=True)
    monkeypatch.setenv("HOME", str(path.parent))
    return path


def sample(store, point):
    """One file of the mounted store is right."""
    path = next(store.tree.rglob("*.jpg"))
    assert (point / path.relative_to(store.tree)).read_bytes() == path.read_bytes()


def web_identity(stack, monkeypatch, home):
    def answer(method, path, headers, body):
        form = urllib.parse.parse_qs(body)
        is_right = (method, form["Action"], form["WebIdentityToken"]) == ("POST", ["AssumeRoleWithWebIdentity"], ["the.jwt"])
        return (200, STS_ANSWER) if is_right else (400, "")

    (home / "jwt").write_text("the.jwt\n")
    monkeypatch.setenv("AWS_ENDPOINT_URL_STS", stack.enter_context(service(answer)))
    monkeypatch.setenv("AWS_WEB_IDENTITY_TOKEN_FILE", str(home / "jwt"))
    monkeypatch.setenv("AWS_ROLE_ARN", "arn:aws:iam::123456789012:role/train")


def container(stack, monkeypatch, home):
    def answer(method, path, headers, body):
        return (200, DOCUMENT) if (path, headers.get("authorization")) == ("/v1/credentials", "pod-token") else (404, "")

    monkeypatch.setenv("AWS_CONTAINER_CREDENTIALS_FULL_URI", stack.enter_context(service(answer)) + "/v1/credentials")
    monkeypatch.setenv("AWS_CONTAINER_AUTHORIZATION_TOKEN", "pod-token")


def instance(stack, monkeypatch, home):
    roles = "/latest/meta-data/iam/security-credentials/"

    def answer(method, path, headers, body):
        if (method, path) == ("PUT", "/latest/api/token"):
            return (200, "session") if headers.get("x-aws-ec2-metadata-token-ttl-seconds") else (400, "")
        if headers.get("x-aws-ec2-metadata-token") != "session":
            return 401, ""
        return {roles: (200, "train"), roles + "train": (200, DOCUMENT)}.get(path, (404, ""))

    monkeypatch.delenv("AWS_EC2_METADATA_DISABLED")
    monkeypatch.setenv("AWS_EC2_METADATA_SERVICE_ENDPOINT", stack.enter_context(service(answer)))


def process(stack, monkeypatch, home):
    document = {"Version": 1, "AccessKeyId": GIVEN.access_key, "SecretAccessKey": GIVEN.secret_key, "SessionToken": GIVEN.token}
    (home / "document").write_text(json.dumps(document))
    (home / "config").write_text(f'[profile train]\ncredential_process = cat "{home / "document"}"\n')
    monkeypatch.setenv("AWS_PROFILE", "train")


def credentials_file(stack, monkeypatch, home):
    (home / "keys").write_text(f"[default]\naws_access_key_id = {GIVEN.access_key}\naws_secret_access_key = {GIVEN.secret_key}\n"
                               f"aws_session_token = {GIVEN.token}\n")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(home / "keys"))


def variables(stack, monkeypatch, home):
    for name, value in zip(("ACCESS_KEY_ID", "SECRET_ACCESS_KEY", "SESSION_TOKEN"), (GIVEN.access_key, GIVEN.secret_key, GIVEN.token)):
        monkeypatch.setenv(f"AWS_{name}", value)


@pytest.mark.parametrize("source", [variables, credentials_file, process, web_identity, container, instance])
def test_a_source_of_credentials(remote_store, point, proxy, home, monkeypatch, source):
    """Behind a proxy of the environment that leads nowhere, which the services of credentials must not be asked through."""
    monkeypatch.setenv("no_proxy", "127.0.0.1" if source is web_identity else proxy.endpoint.removeprefix("http://").partition(":")[0])
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    with contextlib.ExitStack() as stack, proxy.playing(faults.ExpiredToken(access_key="none", renewed=GIVEN)):
        source(stack, monkeypatch, home)
        with mounts.augurfs(remote_store.url, point, f"endpoint-url={proxy.endpoint}"):
            sample(remote_store, point)
        used = {request.access_key for request in proxy.requests()}
    assert used == {GIVEN.access_key}


def test_without_credentials(remote_store, point, home, folder):
    """A public bucket, as a web server has it in path style: no request is signed."""
    shutil.copytree(remote_store.store, pathlib.Path(folder) / "public" / remote_store.prefix)
    with HttpsServer(folder) as server:
        with mounts.augurfs(f"s3://public/{remote_store.prefix}", point, f"endpoint-url={server.url}", "no-sign-request"):
            sample(remote_store, point)
        assert server.log and not any("authorization" in request.headers for request in server.log)


def test_no_credentials_anywhere(remote_store, point, home, s3_server):
    done = run(mounts.augurfs_words(mounts.program("augurfs"), remote_store.url, point, [f"endpoint-url={s3_server.endpoint}"]))
    assert done.returncode == 2 and not os.path.ismount(point)
    for word in ("environment: ", "profile files: ", "web identity: ", "container: ", "instance metadata: ", "no-sign-request"):
        assert word in done.stderr, done.stderr


def test_headers_that_options_add(remote_store, point, proxy):
    """versitygw compares the owner with the name of its user, which is no account of AWS."""
    options = [f"endpoint-url={proxy.endpoint}", "requester-pays", "expected-bucket-owner=123456789012"]
    with proxy.playing(faults.HeaderIgnored(header="x-amz-expected-bucket-owner")), mounts.augurfs(remote_store.url, point, *options):
        sample(remote_store, point)
    for request in proxy.requests():
        assert request.headers["x-amz-request-payer"] == "requester"
        assert request.headers["x-amz-expected-bucket-owner"] == "123456789012"


def test_settings_of_the_environment_and_the_profile(remote_store, point, tls_proxy, certificate, home, s3_server, monkeypatch):
    """No option is given: endpoint, region and CA bundle are found where the AWS programs find them."""
    keys = s3_server.credentials
    monkeypatch.delenv("AWS_REGION")
    monkeypatch.setenv("AWS_CA_BUNDLE", certificate.file)
    (home / "config").write_text(f"[profile train]\nendpoint_url = {tls_proxy.endpoint}\nregion = {s3_server.region}\n"
                                 f"aws_access_key_id = {keys.access_key}\naws_secret_access_key = {keys.secret_key}\n")
    with mounts.augurfs(remote_store.url, point, "profile=train"):
        sample(remote_store, point)
    assert tls_proxy.requests("GET", "manifest")


def test_a_proxy_of_the_environment(remote_store, point, proxy, augurpack, monkeypatch):
    """It is asked for names that this machine need not know."""
    endpoint = "http://storage.invalid"
    monkeypatch.setenv("http_proxy", proxy.endpoint)
    with mounts.augurfs(remote_store.url, point, f"endpoint-url={endpoint}"):
        sample(remote_store, point)
    assert all(request.headers["host"] == "storage.invalid" for request in proxy.requests())
    monkeypatch.setenv("no_proxy", ".invalid")
    done = subprocess.run([augurpack, "info", remote_store.url, f"--endpoint-url={endpoint}", "--io-timeout=1"], stdin=subprocess.DEVNULL,
                          capture_output=True, text=True)
    assert done.returncode == 2 and "Could not resolve host: storage.invalid" in done.stderr
