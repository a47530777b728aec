"""What ends a command with one line and status 2, instead of a trace."""


class CommandError(Exception):
    """The command cannot do what was asked; the text says why and what to do."""


def told() -> tuple[type[Exception], ...]:
    """Errors whose text is enough; imported only once something went wrong."""
    from bot.config import ConfigError
    from bot.http.address import AddressInUseError
    from engine.errors import StoreUnavailableError
    from storage.people import PeopleError
    from storage.postgres.errors import EmbeddedPostgresError
    from storage.tokens import TokenError

    return (
        CommandError,
        ConfigError,
        AddressInUseError,
        EmbeddedPostgresError,
        PeopleError,
        StoreUnavailableError,
        TokenError,
    )


def line_of(error: Exception) -> str:
    """What is printed of such an error."""
    from bot.http.address import AddressInUseError
    from engine.errors import StoreUnavailableError

    match error:
        case AddressInUseError():
            return f"cannot listen on {error}: it is taken; set another http.port in caveat.yaml"
        case StoreUnavailableError():
            return (
                f"the database cannot be used: {error}\n"
                "check CAVEAT_DATABASE_URL, and that the server runs and knows this user"
            )
        case _:
            return str(error)
