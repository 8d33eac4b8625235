"""Versions of a stream, now and after a change: catalogues and their compiled forms."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pyspark.sql import DataFrame, SparkSession

from weft.errors import WeftError
from weft.plan.time_axis import TimeAxis
from weft.sinks import Sink
from weft.sinks.files import Folder
from weft.spark.as_written import texts_as_written
from weft.spark.calendars import in_session
from weft.spark.streaming.compile import Compiled, compile_catalogue
from weft.spark.streaming.menu import Menu
from weft.stream.burst import Burst, Change, NeedsRestart, added_queries, placed_changes
from weft.stream.catalogue import Catalogue
from weft.stream.catalogue_files import CatalogueFiles
from weft.stream.columns import Column
from weft.stream.culprits import Asking
from weft.stream.deployment import Deployment
from weft.stream.progress import Progress


@dataclass(frozen=True, eq=False)
class Version:
    """A catalogue and its compiled form."""

    catalogue: Catalogue
    compiled: Compiled

    @property
    def asking(self) -> Asking:
        """Which queries need which expressions, to attribute errors to queries."""
        compiled = self.compiled
        projection = compiled.menu.projection
        return Asking(
            self.catalogue.entries,
            (*projection.columns, *projection.probes),
            compiled.askers,
            tuple(sorted(compiled.lowered_in_sql)),
        )


class Versions:
    """The current version, the previous one, and changes to the next."""

    def __init__(
        self,
        df: DataFrame,
        axis: TimeAxis,
        sink: Sink,
        *,
        checkpoint: str,
        offer: Sequence[str],
        catalogue: Catalogue,
        compiled: Compiled | None = None,
    ) -> None:
        self.df, self.axis, self.sink, self.offer = df, axis, sink, tuple(offer)
        self.files, self.deployment = CatalogueFiles(checkpoint), Deployment(checkpoint)
        self._commits = Folder(checkpoint).sub("commits")
        """The folder with Spark's commit file for every finished micro-batch."""
        if compiled is None:
            compiled = compile_catalogue(catalogue, df, axis, Menu.of(df, axis, self.offer))
        self.now = self.past = Version(catalogue, compiled)

    @property
    def spark(self) -> SparkSession:
        """The session in which SQL is analysed."""
        return self.df.sparkSession

    @property
    def catalogue(self) -> Catalogue:
        """The running queries and their plan."""
        return self.now.catalogue

    def at(self, batch: int) -> Version:
        """The version of a micro-batch; an older one if an earlier micro-batch is repeated."""
        return self.now if batch >= self.now.catalogue.batch else self.past

    @texts_as_written
    def again(self, probes: tuple[Column, ...] = ()) -> Version:
        """The current catalogue compiled again, to restart the stream with only what it needs."""
        menu = self._new_menu()
        menu.projection.probes = probes
        return Version(self.catalogue, self._compiled(self.catalogue, menu))

    @texts_as_written
    def look(self, asked: Sequence[Change]) -> None:
        """Let Spark analyse the queries of a change; the results are cached."""
        menu = self.now.compiled.menu.copy()
        queries = added_queries(self._placed(asked))
        menu.check(queries)
        for query in queries:
            menu.answers(query)

    @texts_as_written
    def altered(
        self, asked: Sequence[Change], progress: Progress, *, live: bool
    ) -> tuple[Version, list[str]]:
        """The version after a change, and the expressions it needs that are not projected.

        Raises for an invalid change. If it is not to be made `live`, the stream will be restarted
        with it, so that nothing is missing.
        """
        now = self.now
        burst = Burst.of(now.catalogue, self._placed(asked))
        if not burst.changes(now.catalogue):
            return now, []
        if not burst.replans:
            made = burst.made_of(now.catalogue, progress, {})
            if not burst.arrived:
                return Version(made, now.compiled.bounded(made)), []
            same = now.compiled.menu.copy() if live else self._new_menu()
            return Version(made, self._compiled(made, same)), []
        projected = now.compiled.menu
        menu = projected.copy() if live else self._new_menu()
        menu.check(burst.added)
        hashed = list(projected.bucketed) if live else []
        made = burst.made_of(now.catalogue, progress, menu.projection.inner, hashed)
        compiled = self._compiled(made, menu)
        self.sink.check(compiled.answered, made.settings.mode)
        return Version(made, compiled), menu.beyond(projected) if live else []

    def change(self, asked: Sequence[Change], progress: Progress) -> None:
        """Make a change between two micro-batches, while the stream continues."""
        version, needed = self.altered(asked, progress, live=True)
        if needed:
            raise NeedsRestart
        if version is self.now:
            return
        catalogue, compiled = version.catalogue, version.compiled
        known = self.now.compiled.answered
        new = {number: query for number, query in compiled.answered.items() if number not in known}
        if new:
            self.sink.open(new, catalogue.settings.mode)
        self.files.write(catalogue)
        try:
            if compiled is not self.now.compiled:
                self.deployment.publish(catalogue.batch, catalogue.number, compiled.deployed)
        except Exception:
            self.files.withdraw(catalogue)
            raise
        self.now = self.past = version

    @texts_as_written
    def begin(self, version: Version, progress: Progress) -> None:
        """Make a stream use a version from its start on."""
        self.now, self.past = version, self._before(version, progress)
        catalogue, compiled = version.catalogue, version.compiled
        for key in dict.fromkeys(key.value for store in catalogue.stores for key in store.keys):
            # So that a tree with any of these keys can be added later.
            compiled.menu.bucket({key: compiled.menu.projection.known(key, normal=True)})
        self.sink.open(compiled.answered, catalogue.settings.mode)
        self.deployment.begin()
        past = self.past
        if past is not version:
            self.deployment.publish(0, past.catalogue.number, past.compiled.deployed)
        since = 0 if past is version else catalogue.batch
        self.deployment.publish(since, catalogue.number, compiled.deployed)

    def _before(self, version: Version, progress: Progress) -> Version:
        """The version of the micro-batch that Spark may have to repeat; mostly the same version.

        Spark may not have committed the last micro-batch that was delivered.
        """
        last = progress.batch
        if not 0 <= last < version.catalogue.batch or str(last) in self._commits.names():
            return version
        try:
            before = self.files.at(last)
            if before.number >= version.catalogue.number:
                return version
            return Version(before, self._compiled(before, version.compiled.menu))
        except WeftError:  # something that it needs no longer exists
            return version

    def _compiled(self, catalogue: Catalogue, menu: Menu) -> Compiled:
        return compile_catalogue(catalogue, self.df, self.axis, menu)

    def _placed(self, asked: Sequence[Change]) -> list[Change]:
        """The changes, with queries in the session's time zone if their SQL does not name one."""
        return placed_changes(asked, lambda query: in_session(query, self.df, self.axis))

    def _new_menu(self) -> Menu:
        """A menu with only the offered expressions, and with all cached results of analysis."""
        menu, old = Menu.of(self.df, self.axis, self.offer), self.now.compiled.menu
        menu.projection.inner = old.projection.inner
        menu.checked, menu.shapes = old.checked, old.shapes
        return menu
