"""The parts of times and durations.

Source: `common/types` of cel-go 0.29.
"""

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from zoneinfo import ZoneInfo

from dra.cel.errors import EvaluationError
from dra.cel.functions import function
from dra.cel.functions.conversions import EPOCH
from dra.cel.functions.operators import quotient
from dra.cel.values import Timestamp

_SECOND = 10**9


def _zone(name: str) -> tzinfo:
    matched = re.fullmatch(r"([+-]?)(\d\d?):(\d\d?)", name, re.ASCII)
    if matched:
        offset = timedelta(hours=int(matched[2]), minutes=int(matched[3]))
        if offset < timedelta(days=1):
            return timezone(-offset if matched[1] == "-" else offset)
    try:
        return UTC if name in {"", "UTC"} else ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        raise EvaluationError(f"unknown time zone {name}") from None


_FIELDS: dict[str, Callable[[datetime], int]] = {
    "getFullYear": lambda moment: moment.year,
    "getMonth": lambda moment: moment.month - 1,
    "getDayOfYear": lambda moment: moment.timetuple().tm_yday - 1,
    "getDayOfMonth": lambda moment: moment.day - 1,
    "getDate": lambda moment: moment.day,
    "getDayOfWeek": lambda moment: moment.isoweekday() % 7,
    "getHours": lambda moment: moment.hour,
    "getMinutes": lambda moment: moment.minute,
    "getSeconds": lambda moment: moment.second,
}


def _enter_times() -> None:
    for name, read in _FIELDS.items():

        def of_time(value: Timestamp, zone: str = "", read: Callable[[datetime], int] = read) -> int:
            moment = EPOCH + timedelta(seconds=value.nanoseconds // _SECOND)
            try:
                return read(moment.astimezone(_zone(zone)))
            except OverflowError:
                raise EvaluationError("timestamp overflow") from None

        function(f"{name}(timestamp)")(of_time)
        function(f"{name}(timestamp, string)")(of_time)
    function("getMilliseconds(timestamp)")(lambda value: value.nanoseconds // 10**6 % 1000)
    function("getMilliseconds(timestamp, string)")(lambda value, _: value.nanoseconds // 10**6 % 1000)
    for name, unit in (("getHours", 3600 * _SECOND), ("getMinutes", 60 * _SECOND), ("getSeconds", _SECOND)):
        function(f"{name}(duration)")(lambda value, unit=unit: quotient(value.nanoseconds, unit))
    function("getMilliseconds(duration)")(lambda value: quotient(value.nanoseconds, 10**6))


_enter_times()
