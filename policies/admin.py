"""Admin access: devices that others have, for those who look after them."""

from collections.abc import Iterator, Mapping, Sequence

from dra import codes
from dra.demand import asks_for_admin_access
from dra.objects import ResourceClaim, ResourceClaimTemplate
from dra.validation import admit
from dra.validation.claim import ADMIN_LABEL
from policies.admitted import object_of
from policies.judge import StackRule, Violation
from policies.kinds import claims
from policies.objects import KubernetesObject, mapping
from policies.stack import Stack
from policies.together import InventorySettings, cluster


class AdminSettings(InventorySettings):
    """`namespaces`: where admin access is allowed."""

    namespaces: Sequence[str] = ()


def admin_access(stack: Stack, settings: AdminSettings) -> Iterator[tuple[KubernetesObject, Violation]]:
    """Yield the claims with admin access in a namespace that is not allowed to have it, or not labelled."""
    labels = {**cluster(stack, settings).namespaces, **_labels_of_namespaces(stack)}
    for item in stack.objects:
        claim = object_of(item, settings.target) if claims(item) else None
        if not isinstance(claim, ResourceClaim | ResourceClaimTemplate):
            continue
        if not asks_for_admin_access(claim.spec):
            continue
        namespace = claim.metadata.namespace
        if namespace not in settings.namespaces:
            allowed = ", ".join(settings.namespaces) or "none"
            yield (
                item,
                Violation(
                    path="metadata.namespace",
                    message=f"admin access is not allowed in namespace {namespace}; where it is: {allowed}",
                    remedy="Take adminAccess out, or have the namespace added to `namespaces` of this policy",
                ),
            )
        elif namespace not in labels:
            yield (
                item,
                Violation(
                    path="metadata.namespace",
                    message=f"namespace {namespace} is not in the stack, which hides its label {ADMIN_LABEL}",
                    remedy="Make it in the stack, or write it into the file of the setting `inventory`",
                ),
            )
        else:
            answer = admit(item.document, settings.target, labels[namespace])
            for problem in answer.problems if answer else ():
                if problem.code == codes.ADMIN_NAMESPACE.code:
                    yield item, Violation.of(problem)


def _labels_of_namespaces(stack: Stack) -> dict[str, Mapping[str, str]]:
    return {
        item.name: mapping(item.metadata.get("labels"))
        for item in stack.objects
        if item.kind == "Namespace" and not item.group
    }


def _claims_in_namespaces(item: KubernetesObject) -> Sequence[str] | None:
    if item.kind == "Namespace" and not item.group:
        return ["metadata.labels"]
    return ["metadata.namespace", "spec"] if claims(item) else None


ADMIN_ACCESS = StackRule(
    name="admin-access",
    description="Admin access is asked for only where it is allowed.",
    settings=AdminSettings,
    judged=_claims_in_namespaces,
    judge=admin_access,
)
