"""Standard texts of studies, and the language of texts; pure."""

import re
from collections.abc import Iterable, Sequence

UNWRITTEN = ("WRITE HERE", "【ここに記入】")
"""Marks of text that only the researcher can write.

A consent that contains them is refused.
"""

TO_WRITE = {
    "en": {
        "contact": "WRITE HERE who you are, and whom to write to with questions.",
        "keep": "WRITE HERE for how long the rest is kept.",
    },
    "ja": {
        "contact": "【ここに記入】あなたの所属・氏名と問い合わせ先を書いてください。",
        "keep": "【ここに記入】その他のデータの保存期間を書いてください。",
    },
}
"""Text in the consent for what the researcher has not written yet, by language."""

DURATION = {"en": "about {minutes} minutes", "ja": "約{minutes}分"}
DAYS = {
    "en": "{minutes} in all, spread over {days} days",
    "ja": "{days}日間にわたり、合計で{minutes}",
}
PAID = {
    "en": "{pay} for all of it",
    "ja": "全体で{pay}",
}
PAID_ELSEWHERE = {
    "en": "what is promised where you found this study",
    "ja": "この調査を見つけたサイトに記載された金額",
}
"""Text in the consent while the study file names no reward, by language."""

ADDED = {
    "en": {
        "duration": "It takes {duration}.",
        "pay": "You are paid {pay}.",
        "duration_pay": "It takes {duration}, and you are paid {pay}.",
    },
    "ja": {
        "duration": "所要時間は{duration}です。",
        "pay": "お支払いするもの：{pay}。",
        "duration_pay": "所要時間は{duration}です。お支払いするもの：{pay}。",
    },
}
"""Sentence below a consent text that names no length, or no pay."""

KEPT = {"en": "The rest is kept {keep}.", "ja": "その他のデータの保存期間：{keep}。"}
CONSENT = {
    "en": (
        "WHO ASKS: {contact}",
        "What you will do: {activities}. It takes {duration}.",
        "What you are paid: {pay}.",
        (
            "What is stored: your answers, when you came and left, how long each part of a page was on your screen, what you "
            "opened, how far you scrolled, and the participant number with which you came. That number is kept apart from "
            "your answers and is never published. Your name, your e-mail address and your network address are not stored."
        ),
        (
            "Before you agree, only that number is stored, what the site from which you come says of this visit (such as the number "
            "of your submission), when you came, and that this page was opened; nothing of what you do on it."
        ),
        (
            "What happens with it: your answers, without the participant number, may be published together with those of "
            "others, so that other researchers can check the results. {keep}"
        ),
        (
            "It is up to you: you may stop at any time, without giving a reason. You receive a code with which you can have "
            "your answers withdrawn."
        ),
    ),
    "ja": (
        "実施者：{contact}",
        "していただくこと：{activities}。所要時間は{duration}です。",
        "お支払いするもの：{pay}。",
        (
            "保存するもの：回答、ページを開いた時刻と離れた時刻、ページの各部分が画面に表示されていた時間、開いた箇所、"
            "スクロールした範囲、参加時の参加者番号。参加者番号は回答とは別に保管し、公開しません。"
            "氏名、メールアドレス、ネットワークアドレスは保存しません。"
        ),
        (
            "同意される前に保存するのは、参加者番号、参加元のサイトが伝える今回の訪問の情報（提出番号など）、来られた時刻、"
            "このページが開かれたことだけです。このページでの操作は保存しません。"
        ),
        (
            "利用のしかた：参加者番号を除いた回答は、他の研究者が結果を確かめられるように、"
            "他の参加者の回答とあわせて公開することがあります。{keep}"
        ),
        "参加は自由です：理由を述べることなく、いつでも中止できます。回答を取り消すためのコードをお渡しします。",
    ),
}
JAPANESE = re.compile(r"[\u3040-\u30ff\u4e00-\u9fff]")
SHARE_JAPANESE = 0.2


def duration_words(minutes: tuple[int, int], days: float | None, language: str) -> str:
    """Return the duration of a study in words.

    It has the fewest and the most minutes, and the days of a study that follows a stream.
    """
    low, high = minutes
    between = f"{low}" if low == high else f"{low} to {high}" if language == "en" else f"{low}～{high}"
    words = DURATION[language].format(minutes=between)
    return words if days is None else DAYS[language].format(minutes=words, days=f"{days:g}")


def consent_of(
    activities: Sequence[str],
    language: str,
    *,
    duration: str,
    pay: str | None,
    contact: str | None,
    keep: str | None,
) -> str:
    """Return a consent text that names what workers will do.

    Paragraphs are separated by empty lines. ``duration``: how long it takes; ``pay``: what is paid, None for
    what is promised elsewhere; ``contact``: who asks and whom to write to; ``keep``: for how long data are
    kept. None leaves a place to write the last two.
    """
    between = "。次に、" if language == "ja" else "; then "
    missing = TO_WRITE[language]
    return "\n\n".join(CONSENT[language]).format(
        activities=between.join(dict.fromkeys(activities)),
        duration=duration,
        pay=PAID_ELSEWHERE[language] if pay is None else PAID[language].format(pay=pay),
        contact=contact or missing["contact"],
        keep=KEPT[language].format(keep=keep.rstrip(".。")) if keep else missing["keep"],
    )


def looks_japanese(texts: Iterable[str]) -> bool:
    """Return whether a fifth of the characters are Japanese; False without text."""
    joined = "".join(texts)
    return bool(joined) and len(JAPANESE.findall(joined)) > SHARE_JAPANESE * len(joined)
