"""The one exception that the command line shows without a traceback."""


class UserError(Exception):
    """Something that the person at the keyboard can put right; the message says how."""
