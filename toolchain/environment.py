"""The environment of every command of the lab: what `. .lab/env` sets, and the same for a subprocess."""

import os
import shlex
from pathlib import Path

DEFAULT_STACK = "dev"


def lab_folder(repo: Path) -> Path:
    """Return the folder of all that the lab makes in a checkout."""
    return repo.absolute() / ".lab"


def lab_variables(repo: Path) -> dict[str, str]:
    """Return what is set beside PATH and KUBECONFIG."""
    lab = lab_folder(repo)
    return {
        # A home of the lab's own: ~/.pulumi with its plugins and logins is not touched.
        "PULUMI_HOME": str(lab / "pulumi"),
        # State in files: no account, no service.
        "PULUMI_BACKEND_URL": f"file://{lab / 'state'}",
        # No prompt. Not a secret: it goes with the salts in Pulumi.*.yaml (docs/adr/0003-passphrase.md).
        "PULUMI_CONFIG_PASSPHRASE": "gpulab",
        # No look on the network for a newer CLI.
        "PULUMI_SKIP_UPDATE_CHECK": "true",
        # str() of an Output is an error, not a warning text in a resource's name.
        "PULUMI_ERROR_OUTPUT_STRING": "true",
    }


def kubeconfig(repo: Path, stack: str) -> Path:
    """Return where a stack's kubeconfig is."""
    return lab_folder(repo) / stack / "kubeconfig"


def path_folders(repo: Path) -> list[str]:
    """Return what comes first on PATH. The venv is among it: Pulumi then runs its python."""
    return [str(lab_folder(repo) / "bin"), str(repo.absolute() / ".venv" / "bin")]


def lab_environment(repo: Path, stack: str | None = None) -> dict[str, str]:
    """Return the environment for a subprocess of the lab; the stack is by default $LAB_STACK's or `dev`.

    Raises:
        OSError: The lab's folder cannot be written.

    """
    prepare(repo)
    chosen = stack or os.environ.get("LAB_STACK") or DEFAULT_STACK
    old = [folder for folder in os.environ.get("PATH", os.defpath).split(os.pathsep) if folder]
    first = path_folders(repo)
    return (
        os.environ
        | lab_variables(repo)
        | {
            "PATH": os.pathsep.join(first + [folder for folder in old if folder not in first]),
            "KUBECONFIG": str(kubeconfig(repo, chosen)),
            # In a shell of a stack, `make` and `python -m lab` are at the stack that kubectl is at.
            "LAB_STACK": chosen,
        }
    )


def env_text(repo: Path) -> str:
    """Return the text of .lab/env, for any POSIX shell in any folder."""
    lab = lab_folder(repo)
    first = shlex.quote(os.pathsep.join(path_folders(repo)))
    lines = [f"export {name}={shlex.quote(value)}" for name, value in lab_variables(repo).items()]
    return "\n".join(
        [
            "# Made by `python -m toolchain tools`; toolchain/environment.py says why each is set.",
            # Read twice, it does not make PATH longer.
            f'case ":$PATH:" in *:{first}:*) ;; *) export PATH={first}:"$PATH" ;; esac',
            *lines,
            f'export KUBECONFIG={shlex.quote(str(lab))}"/${{LAB_STACK:-{DEFAULT_STACK}}}/kubeconfig"',
            "",
        ]
    )


def prepare(repo: Path) -> None:
    """Make the folders that the environment names, for this user only.

    Raises:
        OSError: The lab's folder cannot be written.

    """
    lab = lab_folder(repo)
    for folder in ("bin", "pulumi", "state"):
        (lab / folder).mkdir(parents=True, exist_ok=True)
    lab.chmod(0o700)
