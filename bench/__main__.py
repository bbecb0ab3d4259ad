"""`python -m bench COMMAND`: each command is a module with `add_arguments` and `run`."""

from __future__ import annotations

import argparse

from bench import block, learning, retrieval, robustness, speed

COMMANDS = {
    "retrieval": retrieval,
    "block": block,
    "learning": learning,
    "speed": speed,
    "robustness": robustness,
}


def main(arguments: list[str] | None = None) -> None:
    """Parse the arguments and run the command they name."""
    parser = argparse.ArgumentParser(prog="python -m bench")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for name, module in COMMANDS.items():
        about = (module.__doc__ or "").splitlines()[0]
        command = commands.add_parser(name, help=about, description=about)
        module.add_arguments(command)
        command.set_defaults(run=module.run)
    options = parser.parse_args(arguments)
    options.run(options)


if __name__ == "__main__":
    main()
