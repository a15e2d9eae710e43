"""Makes the pages of a contest's site for those who are signed in, and for those who sign in or up."""

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
        """Return a page.

        Args:
            name: of its template, without the ending.
            person: who sees it; empty: somebody who is not signed in.
            form_token: that its forms bring.
            values: what it shows.
        """
        return page(
            name,
            None,
            looks="desk",
            styles=("contest",),
            scripts=("sorting",),
            may_ask=True,
            may_send=True,
            title=self._title,
            person=person,
            form_token=form_token,
            **values,
        )
