"""The command: ``python -m nearkin`` is ``nearkin``."""

import sys

from nearkin import _nearkin


def main() -> None:
    """Run the command with the arguments of this process."""
    sys.exit(_nearkin.main(["nearkin", *sys.argv[1:]]))


if __name__ == "__main__":
    main()
