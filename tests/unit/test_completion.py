"""How long the pods of the lesson `completion` run."""

import pytest
from recording import record

from components.lessons.completion import Completion


@pytest.mark.parametrize(("time_scale", "seconds"), [(1, "300"), (7, "43"), (150, "2"), (300, "1")])
def test_pods_run_for_their_sleep_divided_by_the_time_scale(time_scale: int, seconds: str) -> None:
    recording = record(lambda: Completion("completion", time_scale=time_scale))
    jobs = [one for one in recording.registered if one.type == "kubernetes:batch/v1:Job"]
    assert len(jobs) == 2
    for job in jobs:
        metadata = job.inputs["spec"]["template"]["metadata"]
        assert metadata["annotations"] == {"gpulab.dev/run-seconds": seconds}
