"""The stack's configuration as one strict model."""

import json
import os
from collections.abc import Sequence
from typing import Annotated, Any, Self

import pulumi
from pydantic import Field, ValidationError, field_validator, model_validator

from components.cluster import ClusterKind
from components.lessons.completion import TIME_SCALE
from components.lessons.course import COURSE, OF_LAB4, ONE_MORE
from components.lessons.lab4_claims import Claims
from components.operator import OperatorKind
from components.pods import SLEEPS_SECONDS
from dra.model import Model
from dra.pool import GpuPool, Mechanism

NAMESPACE = "lab"
ALL = "all"


class ConfigError(pulumi.RunError):
    """The configuration is wrong; the text names each key, its value and what is allowed."""


class LabConfig(Model):
    """What `lab:*` says. The keys are described in Pulumi.yaml."""

    cluster: Annotated[ClusterKind, Field(strict=False)] = ClusterKind.EMBEDDED
    kubeconfig: str = ""
    context: str = ""
    operator: Annotated[OperatorKind, Field(strict=False)] = OperatorKind.EMBEDDED
    operator_chart: str = ""
    dra_driver: bool = True
    claims: Annotated[Claims, Field(strict=False)] = Claims.CORRECTED
    lessons: Sequence[str] = (ALL,)
    time_scale: Annotated[int, Field(strict=False, ge=1, le=SLEEPS_SECONDS)] = TIME_SCALE
    pools: Annotated[Sequence[GpuPool], Field(min_length=1)]

    @field_validator("pools")
    @classmethod
    def _no_node_in_two_pools(cls, pools: Sequence[GpuPool]) -> Sequence[GpuPool]:
        nodes = [node for pool in pools for node in pool.nodes]
        names = [pool.name for pool in pools]
        for what, values in (("node", nodes), ("pool", names)):
            if twice := sorted({value for value in values if values.count(value) > 1}):
                raise ValueError(f"each {what} can be named once, but {', '.join(twice)} is named again")
        return pools

    @model_validator(mode="after")
    def _one_pool_is_counted(self) -> Self:
        if not any(pool.mechanism is Mechanism.COUNTED for pool in self.pools):
            raise ValueError("Part A of the lesson needs a pool of mechanism `counted`")
        return self

    @model_validator(mode="after")
    def _only_an_existing_cluster_has_a_kubeconfig_of_its_own(self) -> Self:
        # The context would be looked for in the kubeconfig that the lab makes, and nothing be reached.
        own = {"lab:kubeconfig": self.kubeconfig, "lab:context": self.context}
        given = [key for key, value in own.items() if value]
        if given and self.cluster is not ClusterKind.EXISTING:
            raise ValueError(
                f"only where lab:cluster is `existing` can {' and '.join(given)} be set,"
                f" and it is `{self.cluster.value}`; `pulumi config rm` takes back what is too much"
            )
        return self

    @field_validator("lessons")
    @classmethod
    def _lessons_are_known(cls, lessons: Sequence[str]) -> Sequence[str]:
        if unknown := [repr(name) for name in lessons if name not in {ALL, *COURSE}]:
            raise ValueError(
                f"there is no lesson {', '.join(unknown)}; the lessons are {', '.join(COURSE)}, or `{ALL}`"
            )
        return lessons

    @model_validator(mode="after")
    def _lessons_have_what_they_need(self) -> Self:
        further = [name for name in self.lessons if name not in {ALL, *OF_LAB4}]
        if further and not self._has_further_lessons:
            raise ValueError(
                f"the lessons {', '.join(further)} bring simulated nodes with claimable GPUs, so they need"
                f" lab:cluster `embedded` and lab:draDriver `true`; without, lab:lessons can have"
                f" {' and '.join(OF_LAB4)}"
            )
        return self

    @property
    def _has_further_lessons(self) -> bool:
        return self.simulated_nodes and self.dra_driver

    @property
    def course(self) -> Sequence[str]:
        """The lessons of this stack, in the course's order; of `all` those that its cluster can show."""
        if ALL in self.lessons:
            return list(COURSE) if self._has_further_lessons else list(OF_LAB4)
        return [name for name in COURSE if name in self.lessons]

    @property
    def simulated_nodes(self) -> bool:
        """Whether the nodes are KWOK's, made by the lab."""
        return self.cluster is ClusterKind.EMBEDDED

    @property
    def counted(self) -> GpuPool:
        """The pool that Part A of the lesson uses."""
        return next(pool for pool in self.pools if pool.mechanism is Mechanism.COUNTED)


def lab_config() -> LabConfig:
    """Read the stack's configuration.

    Raises:
        ConfigError: A key is missing, unknown or has a value that is not allowed.

    """
    config = pulumi.Config(NAMESPACE)
    prefix = f"{NAMESPACE}:"
    # All keys, not only the known ones: a misspelt key is a mistake that nobody else reports.
    raw: dict[str, Any] = pulumi.runtime.config.CONFIG.get()
    values: dict[str, Any] = {
        key.removeprefix(prefix): _plain(config.get(key.removeprefix(prefix)) or "")
        for key in raw
        if key.startswith(prefix)
    }
    if (more := os.environ.get(ONE_MORE)) and isinstance(values.get("lessons"), list):
        values["lessons"] = [*values["lessons"], more]
    return parse(values)


def parse(values: dict[str, Any]) -> LabConfig:
    """Return the model of plain values; raises ConfigError."""
    try:
        return LabConfig.model_validate(values)
    except ValidationError as error:
        raise ConfigError("the stack's configuration is wrong:\n" + "\n".join(sentences(error))) from None


def sentences(error: ValidationError) -> list[str]:
    """Return one line a mistake: the key, what is allowed, the value."""
    lines: list[str] = []
    for mistake in error.errors():
        key = ".".join(str(part) for part in mistake["loc"])
        message = mistake["msg"].removeprefix("Value error, ")
        if mistake["type"] == "extra_forbidden":
            known = ", ".join(sorted(field.alias or name for name, field in LabConfig.model_fields.items()))
            message = "there is no such key" + (f"; the keys are {known}" if len(mistake["loc"]) == 1 else "")
        # Of what several keys together have wrong, the message says the values: the input is all of it.
        value = "" if isinstance(mistake["input"], dict) else f" (it is {mistake['input']!r:.200})"
        lines.append(f"  {f'lab:{key}' if key else 'lab'}: {message}{value}.")
    return lines


def _plain(text: str) -> Any:  # noqa: ANN401 - whatever JSON holds; the model checks it
    """Return what Pulumi handed on as text: JSON for lists, objects, numbers and booleans."""
    if not text.startswith(("[", "{")) and text not in {"true", "false"}:
        return text
    try:
        return json.loads(text)
    except ValueError:
        return text
