"""What a live cluster has, as documents: the checker reads them like an inventory file."""

# lightkube writes dict without its parts in many signatures.
# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false, reportUnknownVariableType=false
import os
from collections.abc import Iterator
from typing import Any, cast

import httpx2
import yaml
from lightkube import ALL_NS, ApiError, Client, ConfigError, KubeConfig
from lightkube.resources.core_v1 import Namespace, Node
from lightkube.resources.resource_v1 import DeviceClass, DeviceTaintRule, ResourceClaim, ResourceSlice

from dra.document import Document

_KINDS = (Node, Namespace, DeviceClass, ResourceSlice, DeviceTaintRule, ResourceClaim)
_NOT_FOUND = 404


class ClusterError(Exception):
    """The cluster cannot be read; the text says why, in a sentence."""


def read_cluster(kubeconfig: str | None, context: str | None) -> list[Document]:
    """Return the nodes, namespaces, classes, slices, taint rules and claims of the cluster in use.

    Raises:
        ClusterError: There is no kubeconfig or context, or the cluster does not answer.

    """
    path = kubeconfig or os.environ.get("KUBECONFIG") or "~/.kube/config"
    try:
        config = KubeConfig.from_file(path.split(os.pathsep)[0]).get(context_name=context)
        client = Client(config, trust_env=False)
        return [document for kind in _KINDS for document in _list(client, kind)]
    except (ConfigError, yaml.YAMLError, OSError, KeyError, AttributeError, TypeError, ValueError) as error:
        # lightkube takes a file for a kubeconfig without looking.
        is_none = isinstance(error, KeyError | AttributeError | TypeError)
        why = "it is none, or a part of one is missing" if is_none else " ".join(str(error).split())
        raise ClusterError(f"The kubeconfig {path} cannot be used: {why.rstrip('.')}.") from None
    except ApiError as error:
        raise ClusterError(f"The API server refuses to list: {error.status.message}.") from None
    except httpx2.HTTPError as error:
        raise ClusterError(f"The API server does not answer: {error}.") from None


def _list(client: Client, kind: Any) -> Iterator[Document]:  # noqa: ANN401 - lightkube's kinds have no common type
    namespace = ALL_NS if kind is ResourceClaim else None
    try:
        for index, found in enumerate(client.list(kind, namespace=namespace)):
            value = cast("dict[str, Any]", found.to_dict())
            yield Document(file=f"cluster/{kind.__name__}/{index}", line=1, value=value)
    except ApiError as error:
        # DeviceTaintRule has a v1 since 1.37 only.
        if error.status.code != _NOT_FOUND or kind is not DeviceTaintRule:
            raise
