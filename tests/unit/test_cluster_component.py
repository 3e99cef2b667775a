"""The cluster: made by a command or there already, and the provider for what is in it."""

from collections.abc import Callable
from pathlib import Path

import pytest
from recording import Recording, is_secret, record

from components.cluster import (
    MADE_BY,
    Cluster,
    ClusterArgs,
    ClusterKind,
    ClusterUnusableError,
    check_existing,
    check_nodes,
)
from control_plane.incarnation import Incarnation, StackFolder, stack_folder

TOKEN = "gpulab:cluster:Cluster"  # noqa: S105 - a type token
COMMAND = "command:local:Command"
PROVIDER = "pulumi:providers:kubernetes"
Kubectl = Callable[[str], Path]


def recorded(**args: str) -> Recording:
    def program() -> None:
        Cluster("lab", ClusterArgs(**args))  # pyright: ignore[reportArgumentType] - the kind is a StrEnum's

    return record(program)


def made(repo: Path, identity: str, generation: int) -> StackFolder:
    folder = stack_folder(repo, "test")
    (folder.cluster / "etcd").mkdir(parents=True)
    folder.record(Incarnation(identity=identity, generation=generation))
    return folder


def version(minor: str) -> str:
    return f'echo \'{{"major": "1", "minor": "{minor}", "gitVersion": "v1.{minor}.0"}}\''


@pytest.fixture
def kubeconfig(tmp_path: Path) -> str:
    path = tmp_path / "config"
    path.write_text("text of the kubeconfig", encoding="utf-8")
    return str(path)


@pytest.mark.usefixtures("repo")
def test_the_embedded_cluster_is_made_by_a_command() -> None:
    recording = recorded(kind=ClusterKind.EMBEDDED)
    command = recording.one(COMMAND, "lab-control-plane")
    run = ".venv/bin/python -m control_plane"
    assert command.inputs["create"] == (
        f'{run} create test --identity "$IDENTITY" --generation "$GENERATION"'
    )
    assert command.inputs["delete"] == f"{run} delete test"
    assert command.inputs["logging"] == "none"
    assert command.inputs["environment"]["GENERATION"] == "0"
    identity = command.inputs["environment"]["IDENTITY"]
    assert command.inputs["triggers"][0] == identity
    assert recording.one(PROVIDER).inputs["clusterIdentifier"] == identity


def test_a_cluster_that_died_keeps_its_identity_and_gets_a_generation(repo: Path) -> None:
    made(repo, "same", 3)
    recording = recorded(kind=ClusterKind.EMBEDDED)
    command = recording.one(COMMAND)
    assert command.inputs["environment"] == {"IDENTITY": "same", "GENERATION": "4"}
    assert command.inputs["triggers"][0] == "same"
    assert "4" not in command.inputs["triggers"]
    assert recording.one(PROVIDER).inputs["clusterIdentifier"] == "same"


@pytest.mark.usefixtures("repo")
def test_a_lost_cluster_is_another_cluster() -> None:
    first, second = (
        recorded(kind=ClusterKind.EMBEDDED).one(PROVIDER).inputs["clusterIdentifier"] for _ in range(2)
    )
    assert first != second


@pytest.mark.parametrize("file", MADE_BY)
def test_another_way_to_make_it_replaces_the_embedded_cluster(repo: Path, file: str) -> None:
    made(repo, "same", 0)
    before = recorded(kind=ClusterKind.EMBEDDED).one(COMMAND).inputs["triggers"]
    assert recorded(kind=ClusterKind.EMBEDDED).one(COMMAND).inputs["triggers"] == before
    with (repo / file).open("a", encoding="utf-8") as appended:
        appended.write("# changed\n")
    after = recorded(kind=ClusterKind.EMBEDDED).one(COMMAND).inputs["triggers"]
    assert after[0] == before[0]
    assert after[1] != before[1]


def test_kind_is_made_by_a_command() -> None:
    recording = recorded(kind=ClusterKind.KIND)
    command = recording.one(COMMAND, "lab-kind")
    assert "kind create cluster --name gpulab-test --wait 120s" in command.inputs["create"]
    assert command.inputs["create"].endswith("kind get kubeconfig --name gpulab-test")
    assert command.inputs["delete"] == "kind delete cluster --name gpulab-test"
    assert command.inputs["logging"] == "none"
    assert recording.one(PROVIDER).inputs["clusterIdentifier"] == "kind"


@pytest.mark.usefixtures("repo")
@pytest.mark.parametrize("kind", [ClusterKind.EMBEDDED, ClusterKind.KIND])
def test_what_a_command_prints_is_a_secret_and_becomes_the_kubeconfig(kind: ClusterKind) -> None:
    recording = recorded(kind=kind)
    component = recording.one(TOKEN)
    command, provider = recording.one(COMMAND), recording.one(PROVIDER, "lab-provider")
    assert command.request.parent == provider.request.parent == component.urn
    assert set(command.request.additionalSecretOutputs) == {"stdout", "stderr"}
    assert command.request.deleteBeforeReplace
    assert command.request.customTimeouts.create == "5m"
    outputs = recording.outputs_of(component.urn)
    assert list(outputs) == ["kubeconfig"]
    for kubeconfig in (outputs["kubeconfig"], provider.inputs["kubeconfig"]):
        assert is_secret(kubeconfig)
        assert kubeconfig["value"] == f"stdout of {command.name}"


def test_an_existing_cluster_is_asked_and_used(kubectl: Kubectl, kubeconfig: str) -> None:
    asked = kubectl(version("37"))
    recording = recorded(kind=ClusterKind.EXISTING, kubeconfig=kubeconfig, context="there")
    arguments = asked.read_text(encoding="utf-8")
    assert f"--kubeconfig {kubeconfig} --context there" in arguments
    assert sorted(resource.type for resource in recording.registered) == [TOKEN, PROVIDER]
    provider = recording.one(PROVIDER)
    assert provider.inputs["context"] == "there"
    assert provider.inputs["clusterIdentifier"] == "existing"
    outputs = recording.outputs_of(recording.one(TOKEN).urn)
    for text in (provider.inputs["kubeconfig"], outputs["kubeconfig"]):
        assert is_secret(text)
        assert text["value"] == "text of the kubeconfig"


@pytest.mark.parametrize("minor", ["34", "34+", "37"])
def test_a_new_enough_cluster_will_do(kubectl: Kubectl, kubeconfig: str, minor: str) -> None:
    asked = kubectl(version(minor))
    check_existing(kubeconfig, "there")
    assert "/version" in asked.read_text(encoding="utf-8")


@pytest.mark.parametrize("minor", ["33", "33+"])
def test_an_old_cluster_is_refused(kubectl: Kubectl, kubeconfig: str, minor: str) -> None:
    kubectl(version(minor))
    with pytest.raises(ClusterUnusableError) as caught:
        check_existing(kubeconfig, "there")
    said = str(caught.value)
    assert f"context 'there' in {kubeconfig} is Kubernetes v1.{minor}.0" in said
    assert "needs 1.34 or newer" in said


@pytest.mark.parametrize(
    ("script", "reason"),
    [("echo 'no route to it' >&2; exit 1", "no route to it"), ("echo no", "Expecting")],
)
def test_a_cluster_that_does_not_answer_is_named(
    kubectl: Kubectl, kubeconfig: str, script: str, reason: str
) -> None:
    kubectl(script)
    with pytest.raises(ClusterUnusableError) as caught:
        recorded(kind=ClusterKind.EXISTING, kubeconfig=kubeconfig, context="there")
    said = str(caught.value)
    assert reason in said
    assert f"the cluster of context 'there' in {kubeconfig} does not answer" in said
    assert f"`kubectl --kubeconfig {kubeconfig} --context there version`" in said


@pytest.mark.parametrize(("kubeconfig", "context"), [(None, None), ("config", ""), ("", "there")])
def test_an_existing_cluster_needs_both_settings(kubeconfig: str | None, context: str | None) -> None:
    with pytest.raises(ClusterUnusableError, match=r"lab:kubeconfig and lab:context .* `pulumi config set`"):
        check_existing(kubeconfig, context)


def test_the_nodes_of_the_pools_must_be_there() -> None:
    check_nodes(["a"], ["b", "a"], "the cluster")
    with pytest.raises(ClusterUnusableError, match=r"no node c, which lab:pools names; its nodes are a, b"):
        check_nodes(["a", "c"], ["b", "a"], "the cluster")
