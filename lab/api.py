"""The API server, spoken to in plain documents.

lightkube's models leave out the fields that they do not know, and just those the API server has to refuse.
"""

# lightkube writes dict without its parts in its signatures.
# pyright: reportUnknownMemberType=false
import contextlib
import json
from collections.abc import Callable, Generator, Mapping
from http import HTTPStatus
from typing import Any, TypeVar, cast
from urllib.parse import quote

import httpx2
import yaml
from lightkube import KubeConfig
from lightkube.config.client_adapter import Client, ConnectionParams

from control_plane.tools import ControlPlaneError

Json = dict[str, Any]
_T = TypeVar("_T")

SILENCE_SECONDS = 60
"""How long nothing at all may happen where something must. No answer is read from it: something is broken."""


_NOT_SERVED = "the server could not find the requested resource"
"""For a kind or a version that there is not; what kubectl makes of it says more."""


class RefusedError(Exception):
    """The API server does not take a document; `field` is the first that it complains about."""

    def __init__(self, message: str, field: str = "", code: int = 0) -> None:
        super().__init__(message)
        self.message, self.field, self.code = message, field, code


class Api:
    """Requests to one API server. Namespaces, where not given, are a document's own.

    All of them raise RefusedError for an answer that is a refusal, and ControlPlaneError for none.
    """

    def __init__(self, kubeconfig: str) -> None:
        config = KubeConfig.from_dict(yaml.safe_load(kubeconfig)).get()
        assert config is not None  # noqa: S101 - for the types; without a name, it is the current context
        timeout = httpx2.Timeout(SILENCE_SECONDS)
        self._http = Client(config, ConnectionParams(trust_env=False, timeout=timeout))

    def create(self, document: Mapping[str, Any], namespace: str | None = None, *, dry: bool = False) -> Json:
        """Create an object, strictly: unknown fields are refused; return it as it is stored."""
        query = {"fieldValidation": "Strict"} | ({"dryRun": "All"} if dry else {})
        try:
            return self._send("POST", collection(document, namespace), query, document)
        except RefusedError as refused:
            if refused.message != _NOT_SERVED:
                raise
            kind, version = document["kind"], document["apiVersion"]
            raise RefusedError(f'no matches for kind "{kind}" in version "{version}"') from None

    def create_unless_there(self, document: Mapping[str, Any], namespace: str | None = None) -> bool:
        """Create an object; tell whether it was not there before."""
        try:
            self.create(document, namespace)
        except RefusedError as refused:
            if refused.code != HTTPStatus.CONFLICT:
                raise
            return False
        return True

    def change(self, document: Mapping[str, Any], part: Json, subresource: str = "") -> Json:
        """Merge a part into an object that is there."""
        return self._send("PATCH", f"{item(document)}{subresource}", {}, part)

    def delete(self, document: Mapping[str, Any]) -> None:
        """Delete an object at once; fine if there is none."""
        try:
            self._send("DELETE", item(document), {"gracePeriodSeconds": "0"}, None)
        except RefusedError as refused:
            if refused.code != HTTPStatus.NOT_FOUND:
                raise

    def close(self) -> None:
        """End the connections."""
        self._http.close()

    def list(self, path: str) -> Json:
        """Return a list of objects."""
        return self._send("GET", path, {}, None)

    def watch(self, path: str, version: str) -> Generator[Json]:
        """Yield the changes since a version, until the API server ends it (it does, after some minutes)."""
        query = {"watch": "1", "resourceVersion": version}
        with _connected(), self._http.stream("GET", path, params=query) as answer:
            answer.raise_for_status()
            for line in answer.iter_lines():
                yield json.loads(line)

    def _send(self, verb: str, path: str, query: Mapping[str, str], body: Mapping[str, Any] | None) -> Json:
        kind = "application/merge-patch+json" if verb == "PATCH" else "application/json"
        content = None if body is None else json.dumps(body)
        with _connected():
            answer = self._http.request(
                verb, path, params=query, content=content, headers={"Content-Type": kind}
            )
        if answer.is_success:
            return answer.json()
        try:
            status: Json = answer.json()
        except ValueError:
            raise RefusedError(
                f"the API server does not serve {path}: {answer.text.strip()[:200]}", code=answer.status_code
            ) from None
        causes: list[Json] = status.get("details", {}).get("causes") or [{}]
        raise RefusedError(status["message"], causes[0].get("field", ""), answer.status_code)


class Mirror:
    """The objects of one kind by uid, as their stream has told so far."""

    def __init__(self, api: Api, path: str) -> None:
        self._api, self._path = api, path
        self.objects: dict[str, Json] = {}
        self._events = self._begin()

    def until(self, look: Callable[[Mapping[str, Json]], _T | None]) -> _T:
        """Look after each event until there is something to see.

        Raises:
            ControlPlaneError: Nothing happened for so long that something must be broken.

        """
        while (seen := look(self.objects)) is None:
            event = next(self._events, None)
            if event is None or event["type"] == "ERROR":
                self._events = self._begin()
                continue
            known = event["object"]
            self.objects[known["metadata"]["uid"]] = known
            if event["type"] == "DELETED":
                del self.objects[known["metadata"]["uid"]]
        return seen

    def close(self) -> None:
        """End the stream."""
        self._events.close()

    def _begin(self) -> Generator[Json]:
        listed = self._api.list(self._path)
        self.objects = {known["metadata"]["uid"]: known for known in listed["items"]}
        return self._api.watch(self._path, listed["metadata"]["resourceVersion"])


@contextlib.contextmanager
def _connected() -> Generator[None]:
    try:
        yield
    except httpx2.TimeoutException:
        raise ControlPlaneError(
            f"the control plane has said nothing for {SILENCE_SECONDS} seconds;"
            " try again when the machine is less busy"
        ) from None
    except httpx2.HTTPError as error:
        raise ControlPlaneError(f"the control plane has gone away: {error}; try again") from None


def collection(document: Mapping[str, Any], namespace: str | None = None) -> str:
    """Return the path of a document's kind of objects."""
    version, kind = str(document["apiVersion"]), str(document["kind"])
    root = f"/apis/{version}" if "/" in version else f"/api/{version}"
    plural = f"{kind.lower()}es" if kind.endswith("s") else f"{kind.lower()}s"
    if kind in CLUSTER_WIDE:
        return f"{root}/{plural}"
    return f"{root}/namespaces/{quote(namespace or namespace_of(document), safe='')}/{plural}"


def item(document: Mapping[str, Any]) -> str:
    """Return the path of a document's object."""
    return f"{collection(document)}/{quote(name_of(document), safe='')}"


def name_of(document: Mapping[str, Any]) -> str:
    """Return an object's name; empty where the API server has to make one up, or to refuse."""
    return str(part_of(document, "metadata").get("name") or "")


def namespace_of(document: Mapping[str, Any]) -> str:
    """Return the namespace that a document's object belongs to."""
    return str(part_of(document, "metadata").get("namespace") or "default")


def part_of(document: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    """Return a part of a document, empty where it is none, or no object: the API server will say so."""
    part: object = document.get(key)
    return cast("Mapping[str, Any]", part) if isinstance(part, Mapping) else {}


CLUSTER_WIDE = ("Namespace", "Node", "DeviceClass", "ResourceSlice", "DeviceTaintRule")
