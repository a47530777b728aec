"""What keeps our own web server from listening."""


class AddressInUseError(Exception):
    """The web server could not listen; the text is the address."""
