from scenes import (
    DRIVER,
    alternatives,
    claim,
    class_of,
    device,
    devices_of,
    gpus,
    held,
    message,
    outcome,
    request,
    slice_of,
    why,
)

from dra.allocation import Allocated, Unsatisfied

MODELS = slice_of(
    "node", [device(f"gpu-{i}", {"model": "A100" if i < 3 else "H100", "index": i}) for i in range(8)]
)
MODEL = f'device.attributes["{DRIVER}"].model'
INDEX = f'device.attributes["{DRIVER}"].index'


def test_the_class_and_the_request_both_select() -> None:
    gpu = class_of("gpu", f'{MODEL} == "H100"')
    result = outcome(claim(request(cls="gpu", cel=[f"{INDEX} > 4"])), MODELS, gpu)
    assert devices_of(result) == ["gpu-5"]


def test_a_class_without_devices_is_told_from_a_selector_without_a_match() -> None:
    result = outcome(claim(request(cls="nic")), MODELS, class_of("nic", 'device.driver == "nic.example.com"'))
    assert why(result) == "0 of 8 devices on the only node are of class nic, 1 was asked"
    assert isinstance(result, Unsatisfied)
    assert result.path == "spec.devices.requests[0].exactly.deviceClassName"


def test_a_selector_that_matches_nothing_is_shown_with_the_values_that_there_are() -> None:
    more = slice_of("other", [device("gpu-0", {"model": "T4"})])
    result = outcome(claim(request(cel=[f"{INDEX} >= 0", f'{MODEL} == "B200"'])), MODELS)
    assert why(result) == (
        "0 of 8 devices of class any that match the selector before it "
        f'match the selector `{MODEL} == "B200"`; '
        "the values of model are 'A100', 'H100', 1 was asked"
    )
    assert isinstance(result, Unsatisfied)
    assert result.path == "spec.devices.requests[0].exactly.selectors[1]"
    everywhere = outcome(claim(request(cel=[f'{MODEL} == "B200"'])), MODELS, more)
    assert "0 of 9 devices" in why(everywhere)
    assert "'A100', 'H100', 'T4'" in why(everywhere)


def test_a_guarded_key_that_no_device_has_is_named() -> None:
    guarded = f'device.attributes["{DRIVER}"].?speed.orValue(0) > 1'
    assert f"; none of them has the attribute {DRIVER}/speed" in why(
        outcome(claim(request(cel=[guarded])), MODELS)
    )


def test_too_few_matches_say_which_selector_leaves_how_many() -> None:
    result = outcome(claim(request(count=6, cel=[f"{INDEX} >= 0", f'{MODEL} == "H100"'])), MODELS)
    assert why(result) == (
        "node: 8 devices are of class any, 8 match the selector before it, "
        f'5 match the selector `{MODEL} == "H100"`, 6 were asked'
    )


def test_matches_that_are_in_use_are_told_from_none() -> None:
    other = claim(name="other", held=held("gpu-0", "gpu-1"))
    result = outcome(claim(request(count=2, cel=[f'{MODEL} == "A100"'])), MODELS, other)
    assert why(result) == (
        "node: 8 devices are of class any, 3 match the selector, "
        "1 is free (not gpu-0, gpu-1 held by team/other), 2 were asked"
    )


def test_a_selector_that_fails_on_a_device_fails_the_pod() -> None:
    result = outcome(
        claim(request(cel=[f'{INDEX} == 0 || device.attributes["{DRIVER}"].speed > 1'], count=2)), MODELS
    )
    assert message(result).startswith(
        f"claim team/claim: selector #0 on device {DRIVER}/node/gpu-1: CEL runtime error: no such key: speed."
    )


def test_a_class_selector_that_fails_names_the_class() -> None:
    sloppy = class_of("sloppy", "device.driver != ''", f'{MODEL} == "A100"')
    result = outcome(claim(request(cls="sloppy")), slice_of("node", gpus(1)), sloppy)
    assert message(result).startswith(
        f"class sloppy: selector #1 on device {DRIVER}/node/gpu-0: CEL runtime error:"
    )


def test_a_device_that_is_not_come_to_fails_nothing() -> None:
    odd = slice_of("node", [device("gpu-0", {"model": "A100"}), device("gpu-1")])
    assert isinstance(outcome(claim(request(cel=[f'{MODEL} == "A100"'])), odd), Allocated)
    assert "no such key" in message(outcome(claim(request(cel=[f'{MODEL} == "A100"'], count=2)), odd))


def test_a_device_in_use_is_not_asked() -> None:
    odd = slice_of("node", [device("gpu-0"), device("gpu-1", {"model": "A100"})])
    asked = claim(request(cel=[f'{MODEL} == "A100"']))
    assert "no such key" in message(outcome(asked, odd))
    assert devices_of(outcome(asked, odd, claim(name="other", held=held("gpu-0")))) == ["gpu-1"]


def test_all_asks_devices_in_use_too() -> None:
    odd = slice_of("node", [device("gpu-0"), device("gpu-1", {"model": "A100"})])
    every = claim(request(cel=[f'{MODEL} == "A100"'], allocationMode="All"))
    assert "no such key" in message(outcome(every, odd, claim(name="other", held=held("gpu-0"))))


def test_an_error_in_an_alternative_that_is_not_needed_fails_nothing() -> None:
    selectors = [{"cel": {"expression": f'device.attributes["{DRIVER}"].speed > 1'}}]
    choice = alternatives("gpu", {"name": "a"}, {"name": "b", "selectors": selectors})
    assert isinstance(outcome(claim(choice), MODELS), Allocated)
    swapped = alternatives("gpu", {"name": "b", "selectors": selectors}, {"name": "a"})
    assert "no such key" in message(outcome(claim(swapped), MODELS))


def test_nodes_whose_devices_differ_in_what_is_not_read_get_one_verdict() -> None:
    nodes = [slice_of(f"n-{i}", [device("gpu-0", {"model": "A100", "uuid": f"GPU-{i}"})]) for i in range(20)]
    assert isinstance(outcome(claim(request(cel=[f'{MODEL} == "A100"'])), *nodes), Allocated)
    uuid = f'device.attributes["{DRIVER}"].uuid == "GPU-17"'
    result = outcome(claim(request(cel=[uuid])), *nodes)
    assert isinstance(result, Allocated)
    assert result.node == "n-17"


def test_a_selector_that_reads_everything_is_asked_of_every_device() -> None:
    nodes = [slice_of(f"n-{i}", [device("gpu-0", {"uuid": f"GPU-{i}"})]) for i in range(20)]
    own = f'device.attributes["{DRIVER}"]'
    anywhere = f'{own}.exists(key, key == "uuid" && {own}[key] == "GPU-9")'
    result = outcome(claim(request(cel=[anywhere])), *nodes)
    assert isinstance(result, Allocated)
    assert result.node == "n-9"


def test_the_error_names_the_device_that_it_was_met_on() -> None:
    # The first device is taken by the first claim, so that the second comes to the next one.
    claims = [claim(request(), name="a"), claim(request(cel=[f'{MODEL} == "A100"']), name="b")]
    assert f"on device {DRIVER}/node/gpu-1:" in message(outcome(claims, slice_of("node", gpus(2))))


def test_selectors_that_only_match_apart_are_not_told_to_match_nothing() -> None:
    result = outcome(claim(request(cel=[f'{MODEL} == "A100"', f"{INDEX} > 4"])), MODELS)
    assert why(result) == (
        f"0 of 3 devices of class any that match the selector before it match the selector `{INDEX} > 4`; "
        "the values of index are 0, 1, 2, 1 was asked"
    )
