"""`python -m fracas.dataset make | show`."""

from __future__ import annotations

import argparse
import sys

from .run import make
from .show import SHOWN, show


def main(arguments: list[str] | None = None) -> int:
    """Runs the command; returns its exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m fracas.dataset", description="Data sets of broken things."
    )
    commands = parser.add_subparsers(dest="command", required=True)
    making = commands.add_parser(
        "make", help="make samples; what is there already is kept, so a killed run goes on"
    )
    making.add_argument(
        "--shapes", required=True, metavar="DIR", help="a folder of mesh files, or: builtin"
    )
    making.add_argument("--count", required=True, type=int, metavar="N", help="how many samples")
    making.add_argument(
        "--out", required=True, metavar="DIR", help="where they go: a folder, or a URL of fsspec"
    )
    making.add_argument(
        "--settings", metavar="TOML", help="what is drawn for each sample (see default.toml)"
    )
    making.add_argument("--first", type=int, default=0, metavar="ID", help="the first number")
    where = making.add_mutually_exclusive_group()
    where.add_argument(
        "--processes", type=int, metavar="P", help="by default one for each processor"
    )
    where.add_argument(
        "--ray", metavar="ADDRESS", help="a Ray cluster: its address, auto, or local"
    )
    showing = commands.add_parser("show", help="write a contact sheet and a page of statistics")
    showing.add_argument("out", metavar="DIR", help="the data set: a folder, or a URL")
    showing.add_argument("--most", type=int, default=SHOWN, metavar="N", help="samples to draw")
    options = parser.parse_args(arguments)
    try:
        if options.command == "show":
            for path in show(options.out, max(1, options.most)):
                print(f"wrote {path}")
            return 0
        if options.processes is not None and options.processes < 1:
            parser.error("--processes: must be at least 1")
        counts = make(
            options.shapes,
            options.count,
            options.out,
            options.settings,
            processes=options.processes,
            ray=options.ray,
            first=options.first,
        )
    except KeyboardInterrupt:
        print("interrupted: the same command goes on from here", file=sys.stderr)
        return 130
    except (ValueError, OSError, ModuleNotFoundError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    print(f"{options.out}: {counts['samples']} samples, {counts['failed']} failed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
