"""What a page weighs on the way to a phone that has kept nothing: all that it loads, as transferred, headers included."""

from playwright.sync_api import BrowserContext, CDPSession, Page

from tests.browser.study_server import StudyServer, Volunteer

LIMIT_BYTES = 60_000
MODULES = 16


class Scales:
    """Weighs every page of a walk; what was loaded before is loaded again."""

    def __init__(self, network: CDPSession) -> None:
        self.pages: dict[str, list[int]] = {}
        self._parts: list[int] = []
        network.send("Network.enable")
        network.send("Network.setCacheDisabled", {"cacheDisabled": True})
        network.on("Network.loadingFinished", lambda part: self._parts.append(int(part["encodedDataLength"])))

    def look(self, _page: Page, step: str) -> None:
        """Note what came since the page before."""
        self.pages[step], self._parts = self._parts, []


def test_no_page_of_the_largest_example_weighs_60_kilobytes(
    phone: BrowserContext, study: StudyServer
) -> None:
    """Its texts, its style and all its scripts: from the consent to the first pair, each as if it were the first page."""
    page = phone.new_page()
    scales = Scales(phone.new_cdp_session(page))
    volunteer = Volunteer(page, study, scales.look)
    volunteer.arrive()
    volunteer.begin()
    volunteer.search()
    scales.look(page, "pair")
    assert all(len(parts) > MODULES for parts in scales.pages.values())
    weights = {step: sum(parts) for step, parts in scales.pages.items()}
    assert max(weights.values()) < LIMIT_BYTES, weights
