"""Which lessons a stack has, and what the lab should see of it."""

from collections.abc import Mapping, Sequence

import pulumi

from components.expectation import Expectation
from components.lesson import Lesson
from components.lessons.course import OF_LAB4, lesson
from components.lessons.greedy import Greedy, GreedyArgs
from components.lessons.lab4_claims import Lab4Claims, Lab4ClaimsArgs
from lab.config import LabConfig
from lab.steps import dra_api, gpus_of_nodes

BEGUN_FIRST = ("binding-conditions", "queue")
"""What is waited for longest there takes its time beside the other lessons: the scheduler looks at binding
conditions every 5 s, and one Job of the queue has to end before the next begins."""

AnyLesson = Greedy | Lab4Claims | Lesson


def lessons_of(config: LabConfig, opts: pulumi.ResourceOptions) -> dict[str, AnyLesson]:
    """Make the lessons that the configuration names, and return them in the course's order."""
    made: dict[str, AnyLesson] = {}
    for name in sorted(config.course, key=lambda name: name not in BEGUN_FIRST):
        match name:
            case "greedy":
                made[name] = Greedy(name, GreedyArgs(pool=config.counted), opts)
            case "lab4":
                args = Lab4ClaimsArgs(
                    claims=config.claims,
                    device_class=config.dra_driver,
                    pools=config.pools,
                    other_slices=set(config.course) > set(OF_LAB4),
                )
                made[name] = Lab4Claims(name, args, opts)
            case "completion" | "queue":
                made[name] = lesson(name)(name, opts, time_scale=config.time_scale)
            case _:
                made[name] = lesson(name)(name, opts)
    return {name: made[name] for name in config.course}


def expectations(
    config: LabConfig, lessons: Mapping[str, AnyLesson]
) -> dict[str | None, Sequence[Expectation]]:
    """Return the steps of Lab 4, in the order of their numbers, under None, and each lesson's by its name."""
    of_lab4 = [*gpus_of_nodes(config.pools, dra_driver=config.dra_driver), dra_api()]
    for name in OF_LAB4:
        of_lab4 += lessons[name].expectations if name in lessons else ()
    further = {name: lesson.expectations for name, lesson in lessons.items() if name not in OF_LAB4}
    return {None: sorted(of_lab4, key=lambda step: int(step.step.split()[0]))} | further
