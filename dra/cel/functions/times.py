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
from dra.cel.values import Duration, Timestamp

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


def _of_times(read: Callable[[datetime], int]) -> Callable[..., int]:
    def of_time(value: Timestamp, zone: str = "") -> int:
        moment = EPOCH + timedelta(seconds=value.nanoseconds // _SECOND)
        try:
            return read(moment.astimezone(_zone(zone)))
        except OverflowError:
            raise EvaluationError("timestamp overflow") from None

    return of_time


def _of_durations(unit: int) -> Callable[[Duration], int]:
    return lambda value: quotient(value.nanoseconds, unit)


@function("getMilliseconds(timestamp)")
@function("getMilliseconds(timestamp, string)")
def _milliseconds(value: Timestamp, _zone: str = "") -> int:
    return value.nanoseconds // 10**6 % 1000


for _name, _read in _FIELDS.items():
    function(f"{_name}(timestamp)")(_of_times(_read))
    function(f"{_name}(timestamp, string)")(_of_times(_read))

for _name, _unit in (
    ("getHours", 3600 * _SECOND),
    ("getMinutes", 60 * _SECOND),
    ("getSeconds", _SECOND),
    ("getMilliseconds", 10**6),
):
    function(f"{_name}(duration)")(_of_durations(_unit))
