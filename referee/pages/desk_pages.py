"""Makes the pages of a contest's site for those who are signed in, and the one where they sign in."""

from typing import Any

from .rendering import page


class DeskPages:
    """Makes pages.

    Args:
        title: of the contest.
    """

    def __init__(self, title: str) -> None:
        self._title = title

    def page(self, name: str, person: str, form_token: str, **values: Any) -> str:
        """Return a page for somebody who is signed in.

        Args:
            name: of its template, without the ending.
            person: who sees it.
            form_token: that its forms bring.
            values: what it shows.
        """
        return _desk_page(name, title=self._title, person=person, form_token=form_token, **values)

    def sign_in(self, form_token: str, trouble: str) -> str:
        """Return the page where somebody signs in.

        Args:
            form_token: that its form brings.
            trouble: why it is shown again; empty if it is not.
        """
        return _desk_page("sign_in", title=self._title, person="", form_token=form_token, trouble=trouble)


def _desk_page(name: str, **values: Any) -> str:
    return page(name, None, looks="desk", styles=("contest",), may_ask=True, may_send=True, **values)
