"""Makes the pages of a contest's site for those who are signed in, and for those who sign in or up."""

from typing import Any

from .rendering import page


class DeskPages:
    """Makes pages."""

    def __init__(self, title: str) -> None:
        self._title = title

    def page(self, name: str, person: str, form_token: str, **values: Any) -> str:
        """Return a page."""
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
