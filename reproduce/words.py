"""Numbers as people write them."""


def counted(number: int, noun: str, several: str | None = None) -> str:
    """`1 trial`, `3 trials`."""
    return f"{number} {noun}" if number == 1 else f"{number} {several or noun + 's'}"
