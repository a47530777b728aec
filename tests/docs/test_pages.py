"""Pages that are rendered from the code say what the code says."""

import pytest

from bot.config import Settings
from bot.config_keys import env_name, leaves
from tests.docs.render import DOCS, PAGES


@pytest.mark.parametrize("name", PAGES)
def test_the_page_is_the_one_the_code_renders(name: str) -> None:
    assert (DOCS / name).read_text(encoding="utf-8") == PAGES[name](), "run: make docs"


def test_every_key_has_a_line_with_its_variable_and_a_description() -> None:
    page = PAGES["configuration.md"]()
    for _, key, field in leaves(Settings):
        assert f"| `{key}` | `{env_name(key)}` |" in page
        assert field.description, key
