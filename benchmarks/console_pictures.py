"""The pages of the researcher's console as pictures for docs/console.md.

prefcal simulate examples/two_layered/study.yaml --workers 60 --database URL && python benchmarks/console_pictures.py URL
"""

import argparse
import io
import shutil
from datetime import timedelta
from pathlib import Path

from PIL import Image
from playwright.sync_api import Browser, Page, sync_playwright
from sqlalchemy import func, select

from study_app.config import Config
from study_app.services.researcher.studies import RESEARCHER_KEY, setting
from study_app.store.database import open_database, transaction
from study_app.store.models import LoadedStudy, PageLoad, StoredEvent, Worker
from study_app.web.app import create_app
from tests.served_app import serving

DRAWN = Path(__file__).resolve().parent.parent / "docs" / "pages"
FLAGS = ("--no-sandbox", "--disable-gpu")
DESKTOP, PHONE = {"width": 1280, "height": 800}, {"width": 390, "height": 844}
PAGES = ("", "people", "person", "replay", "material?task=2", "data", "payments", "limits", "audit")
ON_A_PHONE = ("", "people", "material?task=2", "limits")
GAP, COLOURS = 10, 128


def picture(page: Page) -> Image.Image:
    return Image.open(io.BytesIO(page.screenshot())).convert("RGB")


def save(image: Image.Image, name: str) -> None:
    image.quantize(COLOURS).save(DRAWN / f"console-{name}.png", optimize=True)


def sign_in(browser: Browser, entrance: str, **options: object) -> Page:
    page = browser.new_context(**options).new_page()  # type: ignore[arg-type]
    page.goto(entrance)
    page.get_by_role("button", name="Sign in").click()
    return page


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("database", help="address of a database with one study")
    url = parser.parse_args().database
    database = open_database(url)
    with transaction(database, write=False) as session:
        key, study = setting(session, RESEARCHER_KEY), session.scalars(select(LoadedStudy.name)).one()
        now = session.scalars(select(func.max(Worker.last_seen_at))).one() + timedelta(minutes=1)
        longest = (
            select(PageLoad.key, Worker.pseudonym)
            .join(Worker, Worker.id == PageLoad.worker_id)
            .join(StoredEvent, StoredEvent.page_load_id == PageLoad.id)
            .where(PageLoad.step.contains("/pair/"))
            .group_by(PageLoad.key, Worker.pseudonym)
            .order_by(func.count().desc(), PageLoad.key)
        )
        load, worker = session.execute(longest.limit(1)).one()
    database.engine.dispose()
    places = {"person": f"people/{worker}", "replay": f"people/{worker}/replay/{load}?at=20000"}
    app = create_app(Config(database=url), now=lambda: now)
    with serving(app) as address, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
        home = f"{address}/r/{study}"
        page = sign_in(browser, f"{home}?key={key}", viewport=DESKTOP)
        for name in PAGES:
            page.goto(f"{home}/{places.get(name, name)}", wait_until="networkidle")
            save(picture(page), name.partition("?")[0] or "overview")
        page = sign_in(browser, f"{home}?key={key}", viewport=PHONE, color_scheme="dark")
        sheet = Image.new("RGB", (len(ON_A_PHONE) * (PHONE["width"] + GAP) - GAP, PHONE["height"]), "#8a8f98")
        for number, name in enumerate(ON_A_PHONE):
            page.goto(f"{home}/{name}", wait_until="networkidle")
            sheet.paste(picture(page), (number * (PHONE["width"] + GAP), 0))
        save(sheet, "phone")
        browser.close()


if __name__ == "__main__":
    main()
