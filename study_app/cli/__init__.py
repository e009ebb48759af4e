"""Command line `prefcal`: groups whose commands are imported when they are called.

A command reads its options, calls the packages before this one, and prints. Heavy imports are inside
functions.
"""

import gc
import importlib
import os
import sys
from collections.abc import Mapping

import click

from metrics.errors import Fault, InputError, PrefcalError, closest_name, format_faults


class LazyGroup(click.Group):
    """Group of commands that imports a command's module only when it is needed.

    It does so when the command is run or described.

    Parameters
    ----------
    modules : mapping of str to (str, str)
        Command name -> (module below `study_app.cli` and function, as in `module:function`, one-line help), in the order to show.
        Without a function it is `command`.
    """

    def __init__(self, name: str, modules: Mapping[str, tuple[str, str]], **attrs: object) -> None:
        super().__init__(name=name, **attrs)  # type: ignore[arg-type]
        self.modules = modules

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        """Return the names in the order given."""
        return list(self.modules)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """Import and return one command; None when there is no such name."""
        if cmd_name not in self.modules:
            return None
        module, _, function = self.modules[cmd_name][0].partition(":")
        module_name = f"{__name__}.{module}".rstrip(".")
        command: click.Command = getattr(importlib.import_module(module_name), function or "command")
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """List the commands from their one-line helps, without importing any."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, text) in self.modules.items()])

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Name the nearest command when the one given does not exist."""
        if args and args[0] not in self.modules and not args[0].startswith("-"):
            near = closest_name(args[0], self.modules)
            ctx.fail(f"no command {args[0]!r}" + (f"; did you mean {near!r}?" if near else ""))
        return super().resolve_command(ctx, args)


SCORE = {
    "summaries": ("score.summaries", "U- and M-measure of two-layered summaries."),
    "push": ("score.push", "ELG, nCG, T11U and silence of push notifications."),
    "updates": ("score.events:updates", "Temporal Summarization measures of updates about events."),
    "msu": ("score.events:msu", "Modeled Stream Utility of updates about events."),
    "ranked": ("score.ranked", "Time-aware and intent-aware measures of ranked lists."),
    "answers": ("score.answers", "Nuggets, support of citations and words of answers (RAG)."),
}
SWEEP = {"msu": ("sweep.msu:msu", "Modeled Stream Utility for many populations of people.")}
STUDY = {
    "new": ("study.new:new", "Write a first study file about a collection and runs."),
    "shared-key": ("study.commands:shared_key", "Make a key by which studies share pseudonyms."),
    "check": ("study.commands:check", "Check a study file and everything it names; change nothing."),
    "preview": ("study.commands:preview", "Open every page as workers see it; store nothing."),
    "load": ("study.commands:load", "Check a study and put it into the database."),
    "took-part": ("study.commands:took_part", "Write a list of who took part, to keep them out elsewhere."),
    "pause": ("study.commands:pause", "Close a study to new workers; those who have begun go on."),
    "resume": ("study.commands:resume", "Open a study to new workers again."),
}
PLAN = {
    "agreement": ("plan.agreement:agreement", "How well one measure's agreement will be known."),
    "difference": ("plan.agreement:difference", "Whether two measures will be distinguished."),
    "rank": ("plan.ranking:rank", "Whether a ranking will tell two systems apart."),
    "patience": ("plan.parameters:patience", "How well the patience L will be known."),
    "away": ("plan.parameters:away", "How well the time away, M_A, will be known."),
    "silence": ("plan.parameters:silence", "Whether a reward for silence (S_0) will be found."),
}
CONVERT = {
    "tables-to-lines": ("convert:tables_to_lines", "Preferences as lines of topic, a, b, worker, choice."),
    "lines-to-tables": ("convert:lines_to_tables", "Such lines as a folder of tables."),
    "scores-to-trec": ("convert:scores_to_trec", "Scores in trec_eval's columns, one file per run."),
    "trec-to-scores": ("convert:trec_to_scores", "Output of trec_eval as one CSV of scores."),
}
TABLES = {
    "join": ("tables.join:join", "Make one of the tables of several studies or servers."),
}
JUDGE = {
    "requests": ("judge.requests:requests", "Write what a judge is asked about the pairs of a study."),
    "run": ("judge.run:run", "Ask a program or a server, and keep every answer."),
    "import": ("judge.imports:import_verdicts", "Put a judge's answers or verdicts beside people's."),
}
DB = {
    "upgrade": ("db:upgrade", "Bring the tables up to this prefcal."),
    "backup": ("db:backup", "Copy the database into a file, served or not."),
    "restore": ("db:restore", "Put a backup into the database."),
    "check": ("db:check", "Check that the database is whole."),
    "rekey": ("db:rekey", "Make new keys when the old ones leaked."),
}
KEY = {
    "new": ("key:new", "Make a key to a study's console, to watch or to manage."),
    "list": ("key:list_keys", "List the keys, their holders, and which are revoked."),
    "revoke": ("key:revoke", "Revoke a key."),
}
PROLIFIC = {
    "draft": ("prolific.campaign:draft", "Make a draft on Prolific from a study file."),
    "publish": ("prolific.campaign:publish", "Publish the draft, or go on after a pause."),
    "pause": ("prolific.campaign:pause", "Let nobody new take the study there."),
    "places": ("prolific.campaign:places", "Let more people take the study there."),
    "sync": ("prolific.payments:sync_command", "Read every submission, and say whom to pay and whom to ask."),
    "approve": ("prolific.payments:approve", "Approve the submissions that are to be paid."),
    "bonus": ("prolific.payments:bonus", "Pay bonuses, one to a worker for the same purpose."),
    "message": ("prolific.payments:message", "Write to the followers of streams."),
    "pay": ("prolific.payments:pay", "List what was not paid for certain; send it, release it, settle it."),
}
COMMANDS = {
    "demo": ("demo:demo", "The whole loop on the bundled study, then keep serving it."),
    "plan": (":plan_group", "Find how large a study must be, by simulation."),
    "study": (":study_group", "Begin, check, preview or load a study file."),
    "serve": ("serve.command:serve", "Serve the loaded studies to workers."),
    "simulate": ("simulate:simulate", "Send a simulated crowd through a study."),
    "status": ("status:status", "Show the progress of each study."),
    "audit": ("audit:audit", "Show who did what to a study, when, and to how many people."),
    "key": (":key_group", "Make, list and revoke keys to a study's console."),
    "remind": ("people.remind:remind", "List the followers of streams to remind, with their addresses."),
    "reconcile": (
        "people.platform_lists:reconcile",
        "Compare a platform's list of submissions with what is stored.",
    ),
    "demographics": (
        "people.demographics:demographics",
        "Add what the platform knows of people to exported tables.",
    ),
    "bonus": ("people.platform_lists:bonus", "Write a list of bonuses by platform id."),
    "prolific": (":prolific_group", "Recruit, approve, pay and write to people by Prolific's API."),
    "retention": (
        "people.personal_data:retention",
        "Delete platform ids, and answers of people who withdrew.",
    ),
    "worker": ("people.worker:worker", "Find a worker by platform id: standing, codes and payments."),
    "withdraw": ("people.personal_data:withdraw", "Withdraw a worker, by code or platform id."),
    "db": (":db_group", "Upgrade, back up, restore, check or rekey the database."),
    "doctor": ("doctor:doctor", "Check that this installation is fit for a study."),
    "export": ("tables.folder:export", "Write a study's tables as CSV or Parquet."),
    "import": ("tables.imports:import_preferences", "Turn preferences from another tool into tables."),
    "import-visits": ("tables.imports:import_visits", "Turn visits that another tool logged into tables."),
    "tables": (":tables_group", "Join the tables of several waves of a study."),
    "judge": (":judge_group", "Set a language model or a rule as a judge beside people."),
    "convert": (":convert_group", "Exchange preferences and scores with other tools."),
    "check": ("tables.folder:check", "Check a folder of tables, whoever wrote it."),
    "features": ("tables.folder:features", "Derive the tables that come from collections and runs."),
    "fit": ("tables.fit", "Fit every user-model parameter the tables allow."),
    "score": (":score_group", "Score runs; no study needed."),
    "measures": ("results.measures:measures", "List every measure with its parameters and source."),
    "sweep": (":sweep_group", "Score runs for many populations of people."),
    "correlate": ("results.measures:correlate", "Correlate columns of scores of the same systems."),
    "rank": ("results.rank:rank", "Rank systems by what people prefer."),
    "agree": ("results.agree:agree", "Measure how well metrics agree with the preferences."),
    "report": ("results.agree:report", "Write the report page of an agreement folder."),
}


@click.group(
    cls=LazyGroup,
    modules=COMMANDS,
    name="prefcal",
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(package_name="prefcal", message="prefcal %(version)s")
def cli() -> None:
    """Ask whether a metric agrees with what people prefer, and who the modelled people are.

    Run a preference study, fit the user model from its logs, and score and compare metrics under it.
    """


study_group = LazyGroup(
    "study",
    STUDY,
    help="""Begin a study, check it, look at it, load it, and pause it.

    A study is one YAML file beside the collection and the runs that it names; docs/study-file.md says what stands in it. The commands
    below have the order of use; after load comes prefcal serve.
    """,
)
score_group = LazyGroup(
    "score", SCORE, help="Score runs with a measure family; needs judgments and runs, no study."
)
sweep_group = LazyGroup(
    "sweep",
    SWEEP,
    help="Score runs for many populations of people at once: the best system for each, and the population of each measure.",
)
plan_group = LazyGroup(
    "plan",
    PLAN,
    help="""Find how large a study must be, by simulation.

    Each command simulates studies of the size you have in mind, many times, with the truth that you expect,
    and shows what such studies would print: how wide the interval, how likely the answer, and how large the study
    must be for what you want. Nothing is needed but a guess of the truth.
    """,
)
convert_group = LazyGroup(
    "convert",
    CONVERT,
    help="""Exchange preferences and scores with other tools.

    prefcal import reads preferences from a CSV with columns of any names.
    """,
)
tables_group = LazyGroup(
    "tables", TABLES, help="Join the tables of several waves of a study, or of two servers."
)
prolific_group = LazyGroup(
    "prolific",
    PROLIFIC,
    help="""Recruit, approve, pay and write to people by Prolific's API.

    The token stands in PREFCAL_PROLIFIC_TOKEN and nowhere else. Without --yes nothing is published, approved, paid or sent. Every call is
    kept in the database, nobody is rejected, and nobody is paid twice: a payment whose answer was lost waits for you (prefcal prolific pay).
    """,
)
judge_group = LazyGroup(
    "judge",
    JUDGE,
    help="""Set a judge that is no person, a language model or a rule, beside the people of a study.

    Its verdicts are compared with people's answers and never counted with them: no fit, no majority, no ranking holds them.
    """,
)
db_group = LazyGroup("db", DB, help="Upgrade, back up, restore, check or rekey the database.")
key_group = LazyGroup(
    "key",
    KEY,
    help="""Make, list and revoke keys to a study's console, the pages on which its researchers watch and steer it.

    A key to watch opens the pages; a key to manage changes things and sees results too.
    """,
)


NO_MEMORY = (
    "this machine has too little memory for it; take smaller files or fewer draws, or a larger machine"
)


ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
"""Settings that give the libraries under numpy one thread each.

Matrices of a fit are small: more threads would only wait for each other.
"""

NEW_OBJECTS = 20_000
"""New objects that start a garbage collection; Python's default is 700.

A command's libraries and tables stay until it ends, and collecting among them took a tenth of the time of export, agree and report.
Objects without references are freed at once in any case.
"""


def main() -> None:
    """Run the command line.

    Faults become one line each on stderr and exit 1, never a traceback.
    """
    for name in ONE_THREAD:  # before numpy is imported, which commands do
        os.environ.setdefault(name, "1")
    gc.set_threshold(NEW_OBJECTS)
    try:
        cli(prog_name="prefcal")
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(1)
    except Exception as error:
        lines = _fault_lines(error)
        if not lines:
            raise
        sys.stderr.write("".join(f"{line}\n" for line in lines))
        sys.exit(1)
    finally:
        gc.freeze()  # or Python looks through all libraries once more when it ends


def _fault_lines(error: Exception) -> list[str]:
    """Return the lines about an error that a user can mend, or none.

    It returns none for a fault of prefcal.
    """
    if isinstance(error, InputError):
        return format_faults(error.faults)
    if isinstance(error, PrefcalError):
        return [str(error)]
    if isinstance(error, MemoryError):
        return [NO_MEMORY]
    fault = _system_fault(error) if isinstance(error, OSError) else _database_fault(error)
    return [] if fault is None else [str(fault)]


DATABASE_FAULTS = ("DatabaseError", "OperationalError", "InternalError")
"""Errors of a database itself: damaged, full, locked, gone.

Wrong statements and rows raise others, which are faults of prefcal.
"""


def _database_fault(error: Exception) -> Fault | None:
    """Return the fault of a database error, or None for another error.

    A library that was not imported cannot have raised it.
    """
    alchemy = sys.modules.get("sqlalchemy.exc")
    if (
        alchemy is None
        or not isinstance(error, alchemy.DBAPIError)
        or type(error).__name__ not in DATABASE_FAULTS
    ):
        return None
    return Fault(
        problem=f"the database cannot be used ({' '.join(str(error.orig).split())})",
        cure="see prefcal db check and the room on its disk, or restore a backup",
    )


def _system_fault(error: OSError) -> Fault:
    """Return the fault of an operating-system error.

    Examples are a name that is too long, a vanished folder, and a failing disk.
    """
    path = error.filename.decode(errors="replace") if isinstance(error.filename, bytes) else error.filename
    return Fault(
        problem=f"cannot be used ({error.strerror or error})",
        cure="check the path, who may use it, and the room on the disk",
        path=None if path is None else str(path),
    )
