"""Kubernetes objects as a Pulumi program states them: typed resources, CustomResources and Lists alike."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from pulumi_policy.proxy import UnknownValueError

TYPE_PREFIX = "kubernetes:"
CLAIM_REFERENCE = re.compile(
    r".*\bresourceClaims\[\d+\]\.(?P<field>resourceClaimName|resourceClaimTemplateName)"
)
"""The path of a pod's reference to a claim or template."""

Document = Mapping[str, Any]


@dataclass(frozen=True, kw_only=True, eq=False)
class KubernetesObject:
    """One object. What is not known yet is left out of `document`, and `unknown` has its paths.

    `at` is where it stands in its resource, such as `items[2].` in a List.
    """

    urn: str
    document: Document
    unknown: Sequence[str] = ()
    references: Sequence[str] = ()
    """Paths of names of claims that are not known yet, where `document` has a name that stands for it.

    They are other objects' names: a stack policy looks them up, and alone an object can be judged without.
    """
    at: str = ""
    delete_before_replace: bool | None = None
    made_up_name: bool = False
    """Whether the program leaves the name to Pulumi, and the document has one that stands for it."""

    @property
    def kind(self) -> str:
        """Return the kind, such as ResourceClaim."""
        return str(self.document.get("kind", ""))

    @property
    def metadata(self) -> Document:
        """Return the metadata, empty where there is none."""
        return mapping(self.document.get("metadata"))

    @property
    def name(self) -> str:
        """Return the name."""
        return str(self.metadata.get("name") or self.metadata.get("generateName") or "")

    @property
    def key(self) -> str:
        """Return `namespace/name`, or the name alone where no namespace is known."""
        namespace = self.metadata.get("namespace")
        return f"{namespace}/{self.name}" if namespace else self.name

    @property
    def group(self) -> str:
        """Return the API group, empty for core."""
        group, slash, _version = str(self.document.get("apiVersion", "")).partition("/")
        return group if slash else ""


def mapping(value: object) -> Document:
    """Return the value if it is a mapping, else an empty one: a program may put anything anywhere."""
    return cast("Document", value) if isinstance(value, Mapping) else {}


def objects_of(
    resource_type: str, props: Mapping[str, Any], urn: str, *, delete_before_replace: bool | None = None
) -> Iterator[KubernetesObject]:
    """Yield the objects of a resource: itself, or a List's items. A `…Patch` is no whole object.

    The token stands in for an `apiVersion` and `kind` that the program left out.
    """
    version, _, kind = resource_type.removeprefix(TYPE_PREFIX).rpartition(":")
    if not resource_type.startswith(TYPE_PREFIX) or not version or kind.endswith("Patch"):
        return
    value, unknown = plain(props)
    document = {"apiVersion": version.removeprefix("core/"), "kind": kind} | value
    if not (kind.endswith("List") and isinstance(document.get("items"), list)):
        named = _named(document, urn.rpartition("::")[2])
        references = [path for path in unknown if CLAIM_REFERENCE.fullmatch(path)]
        for path in references:
            put(named, path, "unknown")
        yield KubernetesObject(
            urn=urn,
            document=named,
            made_up_name=named is not document,
            unknown=[path for path in unknown if path not in references],
            references=references,
            delete_before_replace=delete_before_replace,
        )
        return
    same = {} if kind == "List" else {"apiVersion": document["apiVersion"], "kind": kind.removesuffix("List")}
    for index, item in enumerate(cast("list[Any]", document["items"])):
        at = f"items[{index}]."
        yield KubernetesObject(
            urn=urn,
            document=same | dict(mapping(item)),
            unknown=[path.removeprefix(at) for path in unknown if path.startswith(at)],
            at=at,
            delete_before_replace=delete_before_replace,
        )


def _named(document: Document, resource_name: str) -> Document:
    """Return the document with the name that it will have, or one that stands for it.

    Pulumi makes a name of the resource's; before the provider can be configured it is not there yet.
    """
    metadata = document.get("metadata", {})
    if not isinstance(metadata, Mapping) or {"name", "generateName"} & cast("Document", metadata).keys():
        return document
    return {**document, "metadata": {**cast("Document", metadata), "name": resource_name}}


def put(document: Document, path: str, value: str) -> None:
    """Put a value in its place in a document, where all but the last step is there."""
    *steps, last = [int(step) if step.isdigit() else step for step in re.findall(r"[^.\[\]]+", path)]
    at: Any = document
    for step in steps:
        at = at[step]
    at[last] = value


def plain(props: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """Return the properties as JSON has them, and the paths of those that are not known yet.

    On the wire every number is a float; whole ones are integers again here.
    """
    unknown: list[str] = []
    return _plain_mapping(props, "", unknown), unknown


def _plain_mapping(value: Mapping[str, Any], path: str, unknown: list[str]) -> dict[str, Any]:
    result: dict[str, Any] = {}
    for key in value:
        at = f"{path}.{key}" if path else str(key)
        try:
            result[key] = _plain(value[key], at, unknown)
        except UnknownValueError:
            unknown.append(at)
    return result


def _plain_list(value: Sequence[Any], path: str, unknown: list[str]) -> list[Any]:
    result: list[Any] = []
    for index in range(len(value)):
        at = f"{path}[{index}]"
        try:
            result.append(_plain(value[index], at, unknown))
        except UnknownValueError:
            unknown.append(at)
            result.append(None)  # so that the next ones keep their places
    return result


def _plain(value: Any, path: str, unknown: list[str]) -> Any:  # noqa: ANN401 - any JSON value
    if isinstance(value, Mapping):
        return _plain_mapping(cast("Mapping[str, Any]", value), path, unknown)
    if isinstance(value, Sequence) and not isinstance(value, str):
        return _plain_list(cast("Sequence[Any]", value), path, unknown)
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value
