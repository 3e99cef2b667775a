"""The table of tools: which versions fit the lab, and how each is built where none is found.

Sources of the recipes: each project's own go.mod, and the flags that its release build stamps versions with.
"""

import platform
import re
import sys
from dataclasses import dataclass
from pathlib import Path

MODULES = Path(__file__).parent / "modules"


@dataclass(frozen=True)
class Copied:
    """A file that a published Go module holds and a build needs."""

    module: str
    path: str
    to_bin: bool = False  # else it goes beside main.go, before the build


@dataclass(frozen=True)
class Recipe:
    """How one of our pinned Go modules becomes executables."""

    name: str
    module: str  # the folder under toolchain/modules
    pin: str  # the Go module whose version is the tools' version
    packages: tuple[str, ...] = ()
    renames: tuple[tuple[str, str], ...] = ()  # Go names a binary after its package's folder
    ldflags: str = ""  # with {version}, {major} and {minor} of the tools
    copied: tuple[Copied, ...] = ()
    version: str = ""  # where the pin's own version says nothing

    @property
    def folder(self) -> Path:
        """The folder of go.mod and go.sum."""
        return MODULES / self.module

    def pinned_version(self) -> str:
        """Return the version that a build of this recipe has, without the leading v."""
        if self.version:
            return self.version
        found = re.search(rf"^(?:require)?\s*{re.escape(self.pin)} v(\S+)", self.go_mod(), re.MULTILINE)
        if found is None:
            msg = f"{self.folder / 'go.mod'} does not require {self.pin}"
            raise ValueError(msg)
        return found[1]

    def go_mod(self) -> str:
        """Return the text of the module's go.mod."""
        return (self.folder / "go.mod").read_text(encoding="utf-8")


@dataclass(frozen=True)
class Tool:
    """A program that the lab needs, with the versions that fit: at_least <= version < below."""

    name: str
    at_least: str
    below: str
    version_args: tuple[str, ...] = ()  # none: a Pulumi plugin, which is asked over gRPC
    recipe: Recipe | None = None
    in_venv: bool = False  # a wheel of the development environment holds it
    standin: str = ""  # the module to run where the official one cannot be had
    plugin_folders: bool = False  # Pulumi's own plugin folders are looked into as well


ETCD = Recipe(
    "etcd",
    "etcd",
    pin="go.etcd.io/etcd/server/v3",
    packages=("go.etcd.io/etcd/server/v3",),
    renames=(("server", "etcd"),),
)

_KUBE_VERSION = "k8s.io/component-base/version"

KUBERNETES = Recipe(
    "kubernetes",
    "kubernetes",
    pin="k8s.io/kubernetes",
    packages=(
        "k8s.io/kubernetes/cmd/kube-apiserver",
        "k8s.io/kubernetes/cmd/kube-controller-manager",
        "k8s.io/kubernetes/cmd/kube-scheduler",
    ),
    # Kubernetes stamps these at its release; without them the API server calls itself v0.0.0-master.
    ldflags=f"-X {_KUBE_VERSION}.gitVersion=v{{version}} -X {_KUBE_VERSION}.gitMajor={{major}}"
    f" -X {_KUBE_VERSION}.gitMinor={{minor}} -X {_KUBE_VERSION}.gitTreeState=clean",
)

KWOK = Recipe(
    "kwok",
    "kwok",
    pin="sigs.k8s.io/kwok",
    packages=("sigs.k8s.io/kwok/cmd/kwok", "sigs.k8s.io/kwok/cmd/kwokctl"),
)

_KUEUE = "sigs.k8s.io/kueue"

KUEUE = Recipe(
    "kueue",
    "kueue",
    pin=_KUEUE,
    packages=(".",),
    ldflags="-X main.version={version}",
    copied=tuple(
        Copied(_KUEUE, f"config/components/crd/bases/kueue.x-k8s.io_{kind}.yaml")
        for kind in (
            "admissionchecks",
            "clusterqueues",
            "cohorts",
            "localqueues",
            "multikueueclusters",
            "multikueueconfigs",
            "provisioningrequestconfigs",
            "resourceflavors",
            "topologies",
            "workloadpriorityclasses",
            "workloads",
        )
    ),
)

PULUMI = Recipe(
    "pulumi",
    "pulumi",
    pin="github.com/pulumi/pulumi/pkg/v3",
    packages=("github.com/pulumi/pulumi/pkg/v3/cmd/pulumi",),
    ldflags="-X github.com/pulumi/pulumi/sdk/v3/go/common/version.Version={version}",
)

_KUBERNETES_PROVIDER = "github.com/pulumi/pulumi-kubernetes/provider/v4"

PULUMI_KUBERNETES = Recipe(
    "pulumi-resource-kubernetes",
    "pulumi-resource-kubernetes",
    pin=_KUBERNETES_PROVIDER,
    packages=(".",),
    ldflags=f"-X {_KUBERNETES_PROVIDER}/pkg/version.Version={{version}}",
    copied=tuple(
        Copied(_KUBERNETES_PROVIDER, f"cmd/pulumi-resource-kubernetes/{name}.json")
        for name in ("schema", "terraform-mapping")
    ),
    version="4.25.0",  # what the pinned commit was released as; its module version has no tag
)

# The program that runs a Pulumi program, which the stand-in for the language host starts.
PYTHON_EXEC = Recipe(
    "pulumi-language-python-exec",
    "pulumi",
    pin="github.com/pulumi/pulumi/sdk/v3",
    copied=(
        Copied("github.com/pulumi/pulumi/sdk/v3", "python/cmd/pulumi-language-python-exec", to_bin=True),
    ),
)

TOOLS: tuple[Tool, ...] = (
    Tool("etcd", "3.6.0", "3.7.0", ("--version",), ETCD),
    Tool("kwok", "0.8.0", "0.9.0", ("--version",), KWOK),
    Tool("kwokctl", "0.8.0", "0.9.0", ("--version",), KWOK),
    Tool("kube-apiserver", "1.37.0", "1.38.0", ("--version",), KUBERNETES),
    Tool("kube-controller-manager", "1.37.0", "1.38.0", ("--version",), KUBERNETES),
    Tool("kube-scheduler", "1.37.0", "1.38.0", ("--version",), KUBERNETES),
    Tool("kueue", "0.17.0", "0.18.0", ("--version",), KUEUE),
    # kubectl may be one minor version from the server's on either side (the Kubernetes version skew policy).
    Tool("kubectl", "1.36.0", "1.39.0", ("version", "--client"), in_venv=True),
    Tool("pulumi", "3.272.0", "4.0.0", ("version",), PULUMI),
    Tool("pulumi-resource-kubernetes", "4.25.0", "5.0.0", recipe=PULUMI_KUBERNETES),
    # The engine and the language host are released together.
    Tool("pulumi-language-python", "3.272.0", "4.0.0", ("--version",), standin="language_python"),
    Tool("pulumi-resource-command", "1.2.0", "2.0.0", standin="command", plugin_folders=True),
)


def target() -> str:
    """Return this machine as Go names it, e.g. linux/amd64; part of what a build is cached under."""
    machine = platform.machine().lower()
    arch = {"x86_64": "amd64", "aarch64": "arm64"}.get(machine, machine)
    return f"{sys.platform}/{arch}"
