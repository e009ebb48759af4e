"""The pages that workers see, as sheets of pictures for docs/pages.md.

PREFCAL_SCREENSHOTS=1 python -m pytest tests/browser/test_accessibility.py tests/browser/test_pictures.py && python benchmarks/page_pictures.py
"""

from pathlib import Path

from PIL import Image

ROOT = Path(__file__).resolve().parent.parent
TAKEN, DRAWN = ROOT / "test-artifacts", ROOT / "docs" / "pages"
SCALE, TALLEST, GAP, COLOURS = 0.45, 2_000, 16, 128
GROUND = "#8a8f98"
SHEETS = {
    "phone-begin": [
        "phone-light-" + name
        for name in ("consent", "1-intro", "1-1-questions", "2-choose", "2-1-vote", "3-1-rate-1")
    ],
    "phone-judge": [
        "phone-light-" + name
        for name in ("4-1-search", "4-1-pair-1", "4-1-pair-1-open", "5-1-pair-1", "6-1-pair-1")
    ],
    "phone-follow": ["phone-light-" + name for name in ("7-1-enrol", "7-1-stream", "7-1-useful", "7-1-away")],
    "phone-end": [
        "phone-light-" + name
        for name in ("finish", "done", "stop", "stopped", "full", "paused", "withdrawn", "not-found")
    ],
    "phone-refused": [
        "phone-light-" + name
        for name in ("1-1-questions-refused", "2-1-vote-refused", "3-1-rate-1-refused", "4-1-pair-1-refused")
    ],
    "pictures": ["phone-light-image-pair", "desktop-dark-image-pair"],
    "desktop": ["desktop-dark-4-1-pair-1", "desktop-dark-5-1-pair-1", "desktop-dark-6-1-pair-1"],
}


def part(name: str) -> Image.Image:
    """Return a picture of a page in the size of the sheets; of a long page its beginning."""
    with Image.open(TAKEN / f"{name}.png") as page:
        small = page.convert("RGB").resize(
            (round(page.width * SCALE), round(page.height * SCALE)), Image.Resampling.LANCZOS
        )
    return small.crop((0, 0, small.width, min(small.height, TALLEST)))


def sheet(names: list[str]) -> Image.Image:
    """Return pages side by side."""
    parts = [part(name) for name in names]
    width = sum(one.width for one in parts) + GAP * (len(parts) + 1)
    whole = Image.new("RGB", (width, max(one.height for one in parts) + 2 * GAP), GROUND)
    left = GAP
    for one in parts:
        whole.paste(one, (left, GAP))
        left += one.width + GAP
    return whole


def main() -> None:
    """Run as a program."""
    DRAWN.mkdir(exist_ok=True)
    for name, pages in SHEETS.items():
        sheet(pages).quantize(COLOURS).save(DRAWN / f"{name}.png", optimize=True)


if __name__ == "__main__":
    main()
