"""The rules for `metadata`.

Source: `k8s.io/apimachinery/pkg/api/validation/objectmeta.go` and `pkg/apis/core/validation`, Kubernetes
1.37.2.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence

from dra import codes
from dra.validation import names, wire
from dra.validation.problem import Problem, forbidden, invalid, invalid_each, required, too_long

_MAX_ANNOTATIONS = 256 * 1024
_NAME_REMEDY = "Give the object a name under metadata.name."

_STANDARD_FINALIZERS = ("kubernetes", "orphan", "foregroundDeletion")
_FINALIZER_REMEDY = "Write the domain of whoever takes it away in front: example.com/name."
_OWNER_REMEDY = "Write the owner's apiVersion, kind, name and uid, or leave ownerReferences out."

_ONLY_LABELS = "Take it out: a template's metadata has labels and annotations, nothing else."


def metadata(
    meta: wire.ObjectMeta,
    *,
    namespaced: bool,
    faults: Callable[[str], list[str]] = names.subdomain_faults,
    path: str = "metadata",
) -> Iterator[Problem]:
    """Yield what is wrong with an object's metadata; `faults` are those of its name."""
    remedy = names.LABEL_REMEDY if faults is names.label_faults else names.SUBDOMAIN_REMEDY
    if meta.generate_name:
        wrong = faults(_masked(meta.generate_name))
        yield from invalid_each(f"{path}.generateName", meta.generate_name, wrong, remedy)
    if meta.name:
        yield from invalid_each(f"{path}.name", meta.name, faults(meta.name), remedy)
    elif not meta.generate_name:
        yield required(f"{path}.name", _NAME_REMEDY, "name or generateName is required")
    if namespaced and meta.namespace:
        wrong = names.label_faults(meta.namespace)
        yield from invalid_each(f"{path}.namespace", meta.namespace, wrong, names.LABEL_REMEDY)
    yield from _labels(meta.labels, f"{path}.labels")
    yield from _annotations(meta.annotations, f"{path}.annotations")
    yield from _owners(meta.owner_references or (), f"{path}.ownerReferences")
    for finalizer in meta.finalizers:
        yield from names.key(f"{path}.finalizers", finalizer)
    for index, finalizer in enumerate(meta.finalizers):
        if "/" not in finalizer and finalizer not in _STANDARD_FINALIZERS:
            detail = "name is neither a standard finalizer name nor is it fully qualified"
            yield invalid(f"{path}.finalizers[{index}]", finalizer, detail, _FINALIZER_REMEDY, codes.NAME)


def template_metadata(meta: wire.ObjectMeta, path: str) -> Iterator[Problem]:
    """Yield what is wrong with the metadata that a template gives to what it makes."""
    yield from _annotations(meta.annotations, f"{path}.annotations")
    yield from _labels(meta.labels, f"{path}.labels")
    for field, given in (
        ("name", meta.name),
        ("generateName", meta.generate_name),
        ("namespace", meta.namespace),
        ("selfLink", meta.self_link),
        ("uID", meta.uid),
        ("resourceVersion", meta.resource_version),
        ("generation", meta.generation),
        ("creationTimestamp", meta.creation_timestamp),
        ("deletionTimestamp", meta.deletion_timestamp),
        ("deletionGracePeriodSeconds", meta.deletion_grace_period_seconds is not None),
        ("ownerReferences", meta.owner_references is not None),
        ("finalizers", meta.finalizers),
    ):
        if given:
            yield forbidden(f"{path}.{field}", "cannot be set", _ONLY_LABELS)


def _owners(owners: Sequence[wire.OwnerReference], path: str) -> Iterator[Problem]:
    for index, owner in enumerate(owners):
        at, version = f"{path}[{index}]", owner.api_version
        given = {"apiVersion": version, "kind": owner.kind, "name": owner.name, "uid": owner.uid}
        for field, value in given.items():
            if not value:
                yield required(f"{at}.{field}", _OWNER_REMEDY, "must not be empty")
        if version.count("/") > 1 or version.endswith("/"):
            detail = "must be <group>/<version> or <version>"
            yield invalid(f"{at}.apiVersion", version, detail, _OWNER_REMEDY)
        if version == "v1" and owner.kind == "Event":
            detail = "/v1, Kind=Event is disallowed from being an owner"
            yield invalid(at, given, detail, "Name another owner, or leave ownerReferences out.")
    controllers = [f"{owner.kind}/{owner.name}" for owner in owners if owner.controller]
    for other in controllers[1:]:
        detail = (
            'Only one reference can have Controller set to true. Found "true" in references for '
            f"{controllers[0]} and {other}"
        )
        yield invalid(path, controllers, detail, "Set controller: true for one owner only.")


def _labels(labels: Mapping[str, str], path: str) -> Iterator[Problem]:
    for key, value in labels.items():
        yield from names.key(path, key)
        yield from names.value(path, value)


def _annotations(annotations: Mapping[str, str], path: str) -> Iterator[Problem]:
    for key in annotations:
        yield from invalid_each(path, key, names.key_faults(key.lower()), names.KEY_REMEDY)
    size = sum(names.byte_length(key) + names.byte_length(value) for key, value in annotations.items())
    if size > _MAX_ANNOTATIONS:
        yield too_long(path, _MAX_ANNOTATIONS, "Keep large data elsewhere, in a ConfigMap for instance.")


def _masked(prefix: str) -> str:
    """Return a prefix as if a name had been made of it already: a '-' at its end is then within the name."""
    return f"{prefix[:-2]}a" if len(prefix) > 1 and prefix.endswith("-") else prefix
