"""From a rule to a policy: settings, unknown values, intended violations, and the words of a violation."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic

from pulumi_policy import (
    EnforcementLevel,
    ReportViolation,
    ResourceValidationArgs,
    ResourceValidationPolicy,
    StackValidationArgs,
    StackValidationPolicy,
)
from pulumi_policy.policy import Policy
from pulumi_policy.proxy import UNKNOWN_STRING_VALUE, UnknownValueError

from dra.finding import Finding
from dra.validation import Problem
from policies.kinds import claims_and_workloads
from policies.objects import KubernetesObject, objects_of
from policies.settings import AnySettings, SettingsError, UnknownValues, read, schema_of
from policies.stack import Session, Stack


@dataclass(frozen=True, kw_only=True)
class Violation:
    """What is wrong with an object. `code` is the checker's, where the sentence is the checker's."""

    path: str
    message: str
    remedy: str
    code: str = ""

    @classmethod
    def of(cls, found: Problem | Finding) -> "Violation":
        """Return what the checker found."""
        return cls(path=found.path, message=found.message, remedy=found.remedy, code=found.code)


def _any(_item: KubernetesObject, _settings: object) -> bool:
    return True


Judged = Callable[[KubernetesObject], Sequence[str] | None]
"""The paths that a policy looks at in an object, without indices; None if it does not look at it."""


@dataclass(frozen=True, kw_only=True)
class ResourceRule(Generic[AnySettings]):
    """A question that each object answers alone, whatever else is in the stack."""

    name: str
    description: str
    settings: type[AnySettings]
    judged: Judged
    judge: Callable[[KubernetesObject, AnySettings], Iterable[Violation]]
    concerns: Callable[[KubernetesObject, AnySettings], bool] = _any
    """Whether the settings ask anything of an object; if not, it may as well be unknown."""
    remediate: Callable[[ResourceValidationArgs, AnySettings], Any] | None = None

    def policy(self, session: Session) -> ResourceValidationPolicy:
        """Return the policy. Its inputs are kept for the stack's policies, which are not shown them."""
        once = _Once()

        def validate(args: ResourceValidationArgs, report: ReportViolation) -> None:
            session.record(args)
            settings = once.settings(self.settings, args.get_config(), report)
            if settings is None:
                return
            verdicts = _Verdicts(report, settings)
            for item in objects_of(
                args.resource_type,
                args.props,
                args.urn,
                delete_before_replace=args.opts.delete_before_replace,
            ):
                judged = self.judged(item)
                if judged is None or not self.concerns(item, settings):
                    continue
                unknown = unknown_in(item, judged)
                verdicts.give(item, unknown, () if unknown else self.judge(item, settings))
            verdicts.end()

        def remediate(args: ResourceValidationArgs) -> Any:  # noqa: ANN401 - the SDK's own type is too narrow
            try:
                settings = read(self.settings, args.get_config())
            except SettingsError:  # `validate` says so
                return None
            return self.remediate(args, settings) if self.remediate else None

        return ResourceValidationPolicy(
            self.name,
            self.description,
            validate,
            config_schema=schema_of(self.settings),
            remediate=remediate if self.remediate else None,
        )


@dataclass(frozen=True, kw_only=True)
class StackRule(Generic[AnySettings]):
    """A question about the objects of a stack together."""

    name: str
    description: str
    settings: type[AnySettings]
    judged: Judged
    judge: Callable[[Stack, AnySettings], Iterable[tuple[KubernetesObject | None, Violation]]]
    concerns: Callable[[KubernetesObject, AnySettings], bool] = _any
    """As in a ResourceRule."""
    level: EnforcementLevel | None = None
    """Where it is another than the pack's."""

    def policy(self, session: Session) -> StackValidationPolicy:
        """Return the policy."""
        once = _Once()

        def validate(args: StackValidationArgs, report: ReportViolation) -> None:
            settings = once.settings(self.settings, args.get_config(), report)
            if settings is None:
                return
            verdicts = _Verdicts(report, settings)
            stack = session.stack(args)
            unknown = {
                item: paths
                for item in stack.objects
                if (judged := self.judged(item)) is not None
                and self.concerns(item, settings)
                and (paths := unknown_in(item, judged))
            }
            for item, paths in unknown.items():
                verdicts.give(item, paths, ())
            # With devices or classes unknown, whatever is said of the claims would be guessed.
            if all(claims_and_workloads(item) for item in unknown):
                try:
                    for item, violation in self.judge(stack.without(unknown), settings):
                        verdicts.give(item, (), [violation])
                except SettingsError as error:
                    once.tell(report, error)
                    return
            verdicts.end(whole_stack=not unknown)

        return StackValidationPolicy(
            self.name,
            self.description,
            validate,
            enforcement_level=self.level,
            config_schema=schema_of(self.settings),
        )


def unknown_in(item: KubernetesObject, judged: Sequence[str]) -> list[str]:
    """Return the unknown paths that are in, or above, the judged ones."""
    return [path for path in item.unknown if any(_related(_without_indices(path), each) for each in judged)]


def _related(path: str, other: str) -> bool:
    path, other = f"{path}.", f"{other}."
    return path.startswith(other) or other.startswith(path)


def _without_indices(path: str) -> str:
    return ".".join(part.partition("[")[0] for part in path.split("."))


@dataclass
class _Once:
    """Wrong settings are told once, not for each resource."""

    told: bool = False

    def settings(
        self,
        model: type[AnySettings],
        config: Mapping[str, Any] | None,
        report: ReportViolation,
    ) -> AnySettings | None:
        try:
            return read(model, config or {})
        except SettingsError as error:
            self.tell(report, error)
            return None

    def tell(self, report: ReportViolation, error: SettingsError) -> None:
        if not self.told:
            report(f"The settings of this policy are wrong, so nothing is judged. {error}", None)
        self.told = True


@dataclass
class _Verdicts(Generic[AnySettings]):
    """Reports violations, unless they are intended; and intentions that nothing came of."""

    report: ReportViolation
    settings: AnySettings
    judged: set[str] = field(default_factory=set[str])
    violating: set[str] = field(default_factory=set[str])
    unknown: str | None = None

    def give(
        self, item: KubernetesObject | None, unknown: Sequence[str], violations: Iterable[Violation]
    ) -> None:
        """Report what is wrong with an object, or that it cannot be judged."""
        key = item.key if item else ""
        if not unknown:
            self.judged.add(key)
        elif item:
            if self.settings.unknown_values is UnknownValues.WARN:
                self.unknown = self.unknown or f"{item.at}{unknown[0]}"
            else:
                self._say(item, _cannot_be_judged([f"{item.at}{path}" for path in unknown]))
        for violation in violations:
            if key in self.settings.intended:
                self.violating.add(key)
            else:
                self._say(item, violation)

    def end(self, *, whole_stack: bool = False) -> None:
        """Say what was intended and did not happen, of the objects judged or of all, if all were judged.

        Raises:
            UnknownValueError: By which the SDK gives its advisory note, if that is what was asked for.

        """
        if self.unknown is not None:
            raise UnknownValueError(UNKNOWN_STRING_VALUE, self.unknown.split("."))
        seen = set(self.settings.intended) if whole_stack else self.judged & set(self.settings.intended)
        for key in sorted(seen - self.violating):
            self.report(
                f"`intended` says that {key} is to violate this policy, and it does not. "
                "Take it out of the settings.",
                None,
            )

    def _say(self, item: KubernetesObject | None, violation: Violation) -> None:
        path = f"{item.at}{violation.path}" if item and violation.path else violation.path
        where = f"{item.kind} {item.key}: " if item else ""
        text = f"{where}{path}: {violation.message}" if path else f"{where}{violation.message}"
        code = f" ({violation.code}, docs/findings/{violation.code}.md)" if violation.code else ""
        # The API server draws a selector's mistake over several lines.
        text = f"{text}\n" if "\n" in text else f"{_ended(text)} "
        self.report(f"{text}{_ended(violation.remedy)}{code}", item.urn if item else None)


def _cannot_be_judged(unknown: Sequence[str]) -> Violation:
    verb = "is" if len(unknown) == 1 else "are"
    return Violation(
        path="",
        message=f"cannot be judged at preview: {' and '.join(unknown)} {verb} not known before the update",
        remedy="Write a plain value there, or set `unknownValues` of this policy to `warn`, "
        "and the update judges it",
    )


def _ended(sentence: str) -> str:
    return sentence if sentence.endswith((".", "?", "!")) else f"{sentence}."


AnyRule = ResourceRule[Any] | StackRule[Any]


def policies_of(rules: Iterable[AnyRule]) -> list[Policy]:
    """Return the policies of some rules, which share what was seen of the stack."""
    session = Session()
    return [rule.policy(session) for rule in rules]
