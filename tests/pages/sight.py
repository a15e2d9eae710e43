"""The visible picture of a page: its own source as text, and empty stretches."""

from typing import Any

from .browser import Page

UNSEEN = ("script", "style", "template", "title", "[hidden]")
"""Text that no page shows, whatever its styles say."""
FIND_UNSEEN = """
    const shown = [...document.querySelectorAll(arguments[0])].filter((part) => {
        const range = document.createRange();
        range.selectNodeContents(part);
        return range.getClientRects().length || part.getClientRects().length;
    });
    return shown.map((part) => `${part.tagName}: ${part.textContent.trim().slice(0, 60)}`);
"""
FIND_SOURCE = r"""
    let text = document.body.innerText;
    for (const known of arguments[0]) text = text.replaceAll(known, "");
    return text.match(/<\/?[a-z][^>]{0,80}|\{[{%#].{0,40}|&(lt|gt|amp|quot|#\d+);|=> ?\{|:\s*var\(--/gi) ?? [];
"""
MEASURE = """
    const heightOf = () => document.documentElement.scrollHeight;
    const before = heightOf();
    const style = new CSSStyleSheet();
    style.replaceSync(`${arguments[0]} { display: none !important; }`);
    document.adoptedStyleSheets = [style];
    const without = heightOf();
    document.adoptedStyleSheets = [];
    return [before, without];
"""
FIND_BLANKS = """
    const [png, done] = arguments;
    const image = new Image();
    image.onload = () => {
        const canvas = document.createElement("canvas");
        [canvas.width, canvas.height] = [image.width, image.height];
        const context = canvas.getContext("2d");
        context.drawImage(image, 0, 0);
        const pixels = new Uint32Array(context.getImageData(0, 0, image.width, image.height).data.buffer);
        let longest = 0, run = 0;
        for (let row = 1; row < image.height; row += 1) {
            let column = 0;
            const at = row * image.width;
            while (column < image.width && pixels[at + column] === pixels[at + column - image.width]) column += 1;
            run = column === image.width ? run + 1 : 0;
            longest = Math.max(longest, run);
        }
        done([image.height, longest, run]);
    };
    image.src = `data:image/png;base64,${png}`;
"""


def find_source(page: Page, known: tuple[str, ...] = (), *, runs_scripts: bool = True) -> list[Any]:
    """Return what an open page shows of its own source.

    Args:
        page: that is open.
        known: texts with markup that it shows on purpose.
        runs_scripts: whether its scripts run: what is for browsers without them is not to be seen then.
    """
    unseen = ", ".join((*UNSEEN, "noscript") if runs_scripts else UNSEEN)
    before, without = page.run(MEASURE, unseen)
    height = [f"{before - without} pixels for what is not shown"] if before != without else []
    return [*page.run(FIND_UNSEEN, unseen), *page.run(FIND_SOURCE, known), *height]


def find_blanks(page: Page, picture: str) -> tuple[int, int, int]:
    """Return the height of a picture, its longest empty stretch, and the empty stretch at its end, in pixels.

    A row shows nothing if it looks as the one above it.

    Args:
        page: any that is open, to look at the picture row by row.
        picture: as `Page.take_picture` returns it.
    """
    height, longest, last = page.run_later(FIND_BLANKS, picture)
    return height, longest, last
