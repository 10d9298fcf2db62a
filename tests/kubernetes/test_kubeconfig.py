"""Kubeconfig files are read as kubectl reads them, and what is wrong with one is said with its file and field."""

from __future__ import annotations

import asyncio
import base64
import json
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from headgate.kernel import instants
from headgate.kernel.problems import Rejected
from headgate.kubernetes import in_cluster, kubeconfig
from headgate.kubernetes.access import ClusterAccess
from headgate.kubernetes.exec_plugins import ExecPlugin, IdentityFromPlugin
from headgate.kubernetes.identities import (
    REREAD_SECONDS,
    ApiIdentity,
    ClientCertificate,
    IdentityFile,
    IdentityFromFiles,
)

NOW = instants.parse("2026-03-01T09:00:00Z")


def encoded(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def config(
    *, cluster: dict[str, Any] | None = None, user: dict[str, Any] | None = None, **context: Any
) -> dict[str, Any]:
    return {
        "current-context": "home",
        "clusters": [{"name": "c", "cluster": {"server": "https://c.example:6443"} | (cluster or {})}],
        "users": [{"name": "u", "user": user or {}}],
        "contexts": [{"name": "home", "context": {"cluster": "c", "user": "u"} | context}],
    }


def load(folder: Path, document: object, name: str = "config", **options: Any) -> ClusterAccess:
    file = folder / name
    file.write_text(document if isinstance(document, str) else yaml.safe_dump(document))
    return kubeconfig.load(path=str(file), environ={}, **options)


def identity(access: ClusterAccess) -> ApiIdentity:
    return asyncio.run(access.identities.identity())


def problems(folder: Path, document: object, **options: Any) -> list[str]:
    with pytest.raises(Rejected) as rejected:
        load(folder, document, **options)
    return [str(problem).replace(str(folder), "DIR") for problem in rejected.value.problems]


def test_the_current_context_says_cluster_user_and_namespace(tmp_path: Path) -> None:
    access = load(tmp_path, config(user={"token": "secret"}, namespace="team"))
    assert (access.server, access.namespace) == ("https://c.example:6443", "team")
    assert identity(access).token == "secret"


def test_another_context_is_chosen_by_its_name(tmp_path: Path) -> None:
    document = config(user={"token": "secret"})
    document["clusters"].append({"name": "d", "cluster": {"server": "https://d.example/"}})
    document["contexts"].append({"name": "away", "context": {"cluster": "d", "user": "u"}})
    access = load(tmp_path, document, context="away")
    assert (access.server, access.namespace) == ("https://d.example", "default")


def test_data_in_the_file_counts_before_files_it_names(tmp_path: Path) -> None:
    user = {
        "client-certificate-data": encoded("CERT"),
        "client-key-data": encoded("KEY"),
        "client-certificate": "nowhere.crt",
        "client-key": "nowhere.key",
    }
    access = load(tmp_path, config(cluster={"certificate-authority-data": encoded("CA")}, user=user))
    assert access.ca == b"CA"
    assert identity(access).certificate == ClientCertificate(b"CERT", b"KEY")


def test_files_are_looked_for_beside_the_kubeconfig(tmp_path: Path) -> None:
    for name in ("ca.crt", "me.crt", "me.key"):
        (tmp_path / name).write_text(name)
    user = {"client-certificate": "me.crt", "client-key": "me.key"}
    access = load(tmp_path, config(cluster={"certificate-authority": "ca.crt"}, user=user))
    assert access.ca == b"ca.crt"
    assert identity(access).certificate == ClientCertificate(b"me.crt", b"me.key")


def test_of_several_files_the_first_that_has_a_name_counts_and_absent_ones_are_left_out(
    tmp_path: Path,
) -> None:
    first = {
        "users": [{"name": "u", "user": {"token": "first"}}],
        "contexts": [{"name": "home", "context": {"cluster": "c", "user": "u", "namespace": "one"}}],
    }
    second = config(user={"token": "second", "username": "me"}, namespace="two")
    (tmp_path / "1").write_text(yaml.safe_dump(first))
    (tmp_path / "2").write_text(yaml.safe_dump(second))
    environ = {"KUBECONFIG": f"{tmp_path}/absent::{tmp_path}/1:{tmp_path}/2"}
    access = kubeconfig.load(environ=environ)
    assert (access.server, access.namespace) == ("https://c.example:6443", "one")
    assert identity(access) == ApiIdentity(token="first")


def test_without_a_variable_the_file_in_the_home_folder_is_read(tmp_path: Path) -> None:
    (tmp_path / ".kube").mkdir()
    load(tmp_path / ".kube", config(namespace="at-home"))
    assert kubeconfig.load(environ={}, home=tmp_path).namespace == "at-home"


def test_whom_one_acts_for_is_sent_as_headers(tmp_path: Path) -> None:
    user = {"as": "ada", "as-uid": "7", "as-groups": ["x", "y"], "as-user-extra": {"a/b": ["1", "2"]}}
    assert load(tmp_path, config(user=user)).headers == (
        ("Impersonate-User", "ada"),
        ("Impersonate-Uid", "7"),
        ("Impersonate-Group", "x"),
        ("Impersonate-Group", "y"),
        ("Impersonate-Extra-a%2Fb", "1"),
        ("Impersonate-Extra-a%2Fb", "2"),
    )


def test_a_proxy_is_that_of_the_cluster_or_that_of_the_environment(tmp_path: Path) -> None:
    assert load(tmp_path, config(cluster={"proxy-url": "http://p:1"})).proxy == "http://p:1"
    file = str(tmp_path / "config")
    load(tmp_path, config())
    everywhere = {"HTTPS_PROXY": "p:2"}
    assert kubeconfig.load(path=file, environ=everywhere).proxy == "http://p:2"
    assert kubeconfig.load(path=file, environ=everywhere | {"NO_PROXY": ".example"}).proxy == ""
    assert kubeconfig.load(path=file, environ={"HTTP_PROXY": "p:2"}).proxy == ""


@pytest.mark.parametrize(
    ("document", "expected"),
    [
        ("a: [", "DIR/config: is not YAML: "),
        ("- a", "DIR/config: must be a map with clusters, users and contexts, not "),
        ({"clusters": []}, "DIR/config: current-context: is required; there are none"),
        (config() | {"current-context": 7}, "DIR/config: current-context: must be text, not "),
        (config() | {"users": {}}, "DIR/config: users: must be a list, not "),
        (config() | {"users": [{"user": {}}]}, "DIR/config: users[0]: must be a map with a name and a user"),
        (
            config(user={"token": 5}),
            "DIR/config: users[0].user.token: does not fit: expected `str`, got `int`",
        ),
        (
            config(cluster={"server": "c:1"}),
            'DIR/config: clusters[0].cluster.server: is "c:1"; allowed is an address',
        ),
        (config(cluster={"proxy-url": "socks5://p"}), "DIR/config: clusters[0].cluster.proxy-url: is "),
        (
            config(cluster={"insecure-skip-tls-verify": True, "certificate-authority": "ca"}),
            "DIR/config: clusters[0].cluster.insecure-skip-tls-verify: is true beside a certificate-authority",
        ),
        (
            config(cluster={"certificate-authority": "ca"}),
            "DIR/config: clusters[0].cluster.certificate-authority: is DIR/ca, which cannot be read: no such file",
        ),
        (config(user={"client-key-data": "?"}), "DIR/config: users[0].user.client-key-data: is not base64"),
        (
            config(user={"client-key-data": encoded("K")}),
            "DIR/config: users[0].user.client-certificate: is required",
        ),
        (
            config(user={"auth-provider": {"name": "gcp"}}),
            "DIR/config: users[0].user.auth-provider: is not supported",
        ),
        (config(user={"exec": {"command": ""}}), "DIR/config: users[0].user.exec.command: does not fit: "),
        (
            config(user={"exec": {"command": "x", "apiVersion": "client.authentication.k8s.io/v1alpha1"}}),
            "DIR/config: users[0].user.exec.apiVersion: is ",
        ),
        (
            config(user={}) | {"users": None},
            'DIR/config: contexts[0].context.user: is "u", and there is no such user',
        ),
        (
            config() | {"clusters": []},
            'DIR/config: contexts[0].context.cluster: is "c", and there is no such cluster',
        ),
    ],
)
def test_what_is_wrong_is_said_with_file_and_field(tmp_path: Path, document: object, expected: str) -> None:
    assert [said for said in problems(tmp_path, document) if said.startswith(expected)] != []


def test_an_unknown_context_is_answered_with_those_there_are(tmp_path: Path) -> None:
    said = problems(tmp_path, config(), context="work")
    assert said == ['DIR/config: contexts: has no context "work"; there are home']


def test_a_file_that_was_asked_for_has_to_be_there(tmp_path: Path) -> None:
    with pytest.raises(Rejected, match="there is no such file"):
        kubeconfig.load(path=str(tmp_path / "absent"), environ={})


def test_a_token_file_is_read_again_after_a_while_and_when_the_server_refuses_it(tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_text("one\n")
    now = 100.0
    source = IdentityFromFiles(token=IdentityFile(file, "tokenFile"), clock=lambda: now)

    def token() -> str:
        return asyncio.run(source.identity()).token

    assert token() == "one"
    file.write_text("two")
    assert token() == "one"
    now += REREAD_SECONDS
    assert token() == "two"
    file.write_text("three")
    source.expire()
    assert token() == "three"
    file.unlink()
    now += REREAD_SECONDS
    assert token() == "three"


def test_a_pod_knows_its_cluster_by_its_service_account(tmp_path: Path) -> None:
    for name, content in {"token": "t", "ca.crt": "CA", "namespace": "mine\n"}.items():
        (tmp_path / name).write_text(content)
    environ = {in_cluster.HOST: "fd00::1", in_cluster.PORT: "443"}
    assert in_cluster.is_here(environ, tmp_path)
    assert not in_cluster.is_here({}, tmp_path)
    access = in_cluster.load(environ, tmp_path)
    assert (access.server, access.namespace, access.ca) == ("https://[fd00::1]:443", "mine", b"CA")
    assert identity(access).token == "t"


class Plugin:
    """A program that answers with what stands in a file, and writes down what it was told."""

    def __init__(self, folder: Path, **fields: Any) -> None:
        self.folder = folder
        script = folder / "plugin"
        script.write_text(
            f"#!{sys.executable}\nimport os, pathlib, sys\nhere = pathlib.Path({str(folder)!r})\n"
            "with (here / 'asked').open('a') as asked:\n    asked.write(os.environ['KUBERNETES_EXEC_INFO'] + '\\n')\n"
            "answer = here / 'answer'\n"
            "sys.exit('no answer today') if not answer.exists() else print(answer.read_text())\n"
        )
        script.chmod(0o755)
        self.version = "client.authentication.k8s.io/v1"
        given = {"command": "./plugin", "api_version": self.version} | fields
        self.now = NOW
        self.source = IdentityFromPlugin(
            ExecPlugin(**given),
            field="users[0].user.exec",
            folder=folder,
            cluster={"server": "https://c"},
            clock=lambda: self.now,
        )

    def answers(self, **status: Any) -> None:
        document = {"apiVersion": self.version, "kind": "ExecCredential", "status": status}
        (self.folder / "answer").write_text(json.dumps(document))

    def identity(self) -> ApiIdentity:
        return asyncio.run(self.source.identity())

    def asked(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in (self.folder / "asked").read_text().splitlines()]


def test_a_plugin_is_asked_again_when_its_token_ends_or_is_refused(tmp_path: Path) -> None:
    plugin = Plugin(tmp_path)
    plugin.answers(token="one", expirationTimestamp="2026-03-01T10:00:00Z")
    assert plugin.identity().token == plugin.identity().token == "one"
    plugin.answers(token="two")
    plugin.now = instants.parse("2026-03-01T09:59:55Z")
    assert plugin.identity().token == "two"
    plugin.now = instants.parse("2027-03-01T09:59:55Z")
    plugin.answers(token="three", clientCertificateData="C", clientKeyData="K")
    assert plugin.identity().token == "two"
    plugin.source.expire()
    assert plugin.identity() == ApiIdentity("three", certificate=ClientCertificate(b"C", b"K"))
    assert len(plugin.asked()) == 3


@pytest.mark.parametrize("is_told", [True, False])
def test_a_plugin_is_told_of_the_cluster_if_it_wants_to_know(tmp_path: Path, is_told: bool) -> None:
    plugin = Plugin(tmp_path, provide_cluster_info=is_told)
    plugin.answers(token="t")
    plugin.identity()
    spec = {"interactive": False} | ({"cluster": {"server": "https://c"}} if is_told else {})
    assert plugin.asked() == [{"apiVersion": plugin.version, "kind": "ExecCredential", "spec": spec}]


def test_a_plugin_that_does_not_answer_well_is_named(tmp_path: Path) -> None:
    def said(plugin: Plugin) -> str:
        with pytest.raises(Rejected) as rejected:
            plugin.identity()
        return str(rejected.value)

    plugin = Plugin(tmp_path)
    assert said(plugin) == 'users[0].user.exec.command: "./plugin" ended with 1: no answer today'
    plugin.answers()
    assert said(plugin).endswith("gives neither a token nor a client certificate")
    plugin.answers(clientKeyData="K")
    assert "without its key" in said(plugin)
    (tmp_path / "answer").write_text("hello")
    assert said(plugin).endswith("did not answer with an ExecCredential")
    absent = Plugin(tmp_path, command="no-such-plugin", install_hint="get it somewhere")
    assert said(absent).endswith('"no-such-plugin" is not there; get it somewhere')
