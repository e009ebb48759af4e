"""Titles and consent texts that a new study begins with, in both languages; the researcher makes them their own."""

from collections.abc import Sequence

TITLES = {
    "intent_votes": {"en": "What would you want to know?", "ja": "何を知りたいですか"},
    "iunit_importance": {"en": "How important is this?", "ja": "どのくらい重要ですか"},
    "summary_pairs": {"en": "Which summary helps you more?", "ja": "どちらの要約が役に立ちますか"},
    "stream_pairs": {
        "en": "Which notifications would you rather get?",
        "ja": "どちらの通知を受け取りたいですか",
    },
    "stream_visits": {"en": "How do you follow the news?", "ja": "ニュースの追いかけ方についての調査"},
    "ranked_pairs": {"en": "Which list of results helps you more?", "ja": "どちらの検索結果が役に立ちますか"},
}
"""Kind of task -> title of a study that is mainly about it."""

TELLING = (
    "summary_pairs",
    "ranked_pairs",
    "stream_pairs",
    "stream_visits",
    "iunit_importance",
    "intent_votes",
)
"""Kinds of task, that first whose title says most of a study."""

ACTIVITIES = {
    "intent_votes": {
        "en": "you tick what would interest you about a topic",
        "ja": "ある話題について、興味のある内容に印をつけます",
    },
    "iunit_importance": {
        "en": "you say how important pieces of information are for somebody with a given interest",
        "ja": "ある関心を持つ人にとって、それぞれの情報がどのくらい重要かを答えます",
    },
    "summary_pairs": {
        "en": "you choose a topic, look it up on the web on your own, and compare pairs of short summaries of it",
        "ja": "話題を一つ選び、ご自分でウェブ検索をした後、その短い要約を二つずつ比べます",
    },
    "stream_pairs": {
        "en": "you read what somebody wants to be told of, and compare the notifications that two services would have sent",
        "ja": "ある人が知りたいことを読み、二つのサービスが送った通知を比べます",
    },
    "stream_visits": {
        "en": "you follow the news of an event for some days on a page of your own, whenever and for as long as you like",
        "ja": "数日の間、専用のページで、ある出来事のニュースを好きなときに好きなだけ読みます",
    },
    "ranked_pairs": {
        "en": "you compare pairs of lists of search results",
        "ja": "検索結果の一覧を二つずつ比べます",
    },
}

UNWRITTEN = ("WRITE HERE", "【ここに記入】")
"""Where only the researcher knows what to say; no study goes live with these words in its consent."""

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
"""Language -> what stands in the consent for that which the researcher has not said yet."""

KEPT = {"en": "The rest is kept {keep}.", "ja": "その他のデータの保存期間：{keep}。"}

CONSENT = {
    "en": (
        "WHO ASKS: {contact}",
        "What you will do: {activities}.",
        (
            "What is stored: your answers, when you came and left, how long each part of a page was on your screen, what you "
            "opened, how far you scrolled, and the participant number with which you came. That number is kept apart from "
            "your answers and is never published. Your name, your e-mail address and your network address are not stored."
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
        "していただくこと：{activities}。",
        (
            "保存するもの：回答、ページを開いた時刻と離れた時刻、ページの各部分が画面に表示されていた時間、開いた箇所、"
            "スクロールした範囲、参加時の参加者番号。参加者番号は回答とは別に保管し、公開しません。"
            "氏名、メールアドレス、ネットワークアドレスは保存しません。"
        ),
        (
            "利用のしかた：参加者番号を除いた回答は、他の研究者が結果を確かめられるように、"
            "他の参加者の回答とあわせて公開することがあります。{keep}"
        ),
        "参加は自由です：理由を述べることなく、いつでも中止できます。回答を取り消すためのコードをお渡しします。",
    ),
}


def title_of(kinds: Sequence[str], language: str) -> str:
    """Return a title for a study with tasks of these kinds."""
    return TITLES[next(kind for kind in TELLING if kind in kinds)][language]


def consent_of(kinds: Sequence[str], language: str, *, contact: str | None, keep: str | None) -> str:
    """Return a consent text that names what workers will do; paragraphs are separated by empty lines.

    ``contact``: who asks and whom to write to; ``keep``: for how long data are kept. None leaves a place to write it.
    """
    between = "。次に、" if language == "ja" else "; then "
    activities = between.join(ACTIVITIES[kind][language] for kind in dict.fromkeys(kinds))
    missing = TO_WRITE[language]
    return "\n\n".join(CONSENT[language]).format(
        activities=activities,
        contact=contact or missing["contact"],
        keep=KEPT[language].format(keep=keep.rstrip(".。")) if keep else missing["keep"],
    )
