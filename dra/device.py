"""Devices as a ResourceSlice of resource.k8s.io/v1 publishes them."""

from collections.abc import Mapping
from typing import Annotated, Self

from pydantic import Field, model_validator

from dra.model import Model


class DeviceAttribute(Model):
    """A value of exactly one type, as the API has it."""

    int_: Annotated[int | None, Field(alias="int")] = None
    bool_: Annotated[bool | None, Field(alias="bool")] = None
    string: Annotated[str | None, Field(max_length=64)] = None
    version: Annotated[str | None, Field(max_length=64)] = None

    @model_validator(mode="after")
    def _one_type(self) -> Self:
        if len(self.model_dump(exclude_none=True)) != 1:
            raise ValueError("an attribute has exactly one of int, bool, string and version")
        return self


class DeviceCapacity(Model):
    """A quantity that the device has."""

    value: str


class Device(Model):
    """One device of a slice; bare attribute names belong to the driver's domain."""

    name: str
    attributes: Mapping[str, DeviceAttribute]
    capacity: Mapping[str, DeviceCapacity]
