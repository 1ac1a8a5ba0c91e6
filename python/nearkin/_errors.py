"""What can go wrong. Every message is one line that ends with what to do."""


class NearkinError(Exception):
    """Any error of this package."""


class ParameterError(NearkinError, ValueError):
    """An argument outside its range, or arguments that do not go together."""


class InputError(NearkinError, ValueError):
    """A record that cannot be used; the message names where it stands."""


class FileError(NearkinError, OSError):
    """A file, folder or table that cannot be used as a whole."""


class NearkinWarning(UserWarning):
    """Something that should be looked at: records left out, a group with an implausible share."""
