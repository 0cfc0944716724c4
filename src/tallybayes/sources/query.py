"""The rows of an SQL query, which DuckDB runs and hands out as Arrow batches."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from tallybayes.errors import TallyBayesError
from tallybayes.sources.files import FileRef
from tallybayes.sources.formats import FileReader, ReadOptions

LONGEST = 80  # letters of a query that errors and histories show


@dataclass(frozen=True, slots=True)
class SqlQuery(FileRef):
    """A query that is run again each time its rows are gone through; it changes no database."""

    sql: str = ""

    @classmethod
    def of(cls, sql: str, database: str | None = None) -> SqlQuery:
        """Ask a database for rows.

        Parameters
        ----------
        sql
            The query.
        database
            A file of DuckDB; without one a query names its files: ``from 'lake/*.parquet'``.

        Examples
        --------
        >>> from tallybayes.sources import open_rows
        >>> open_rows(SqlQuery.of("select 41 as age, 'yes' as buys")).names
        ('age', 'buys')
        """
        words = " ".join(sql.split())
        shown = words if len(words) <= LONGEST else f"{words[: LONGEST - 3]}..."
        return cls(f"{database}: {shown}" if database else shown, database or "", sql=sql)

    def reader(self, options: ReadOptions) -> tuple[FileReader, bool]:
        """Run the query."""
        try:
            import duckdb
        except ImportError:
            raise TallyBayesError(
                "queries need DuckDB; install it: pip install tallybayes[sql]"
            ) from None
        import pyarrow

        from tallybayes.sources.arrow_files import ROWS, ArrowFile

        def batches() -> Iterator[Any]:
            """Hand out the schema, then the batches; DuckDB runs the query meanwhile."""
            try:
                connection = duckdb.connect(self.path or ":memory:", read_only=bool(self.path))
                relation = connection.sql(self.sql)
                if relation is None:
                    raise TallyBayesError(f"{self.name}: this gives no rows; say 'select ...'")
                reader = relation.to_arrow_reader(ROWS)
                yield reader.schema
                yield from reader
            except duckdb.Error as error:
                raise TallyBayesError(f"{self.name}: {error}") from None

        rows = batches()
        reader = pyarrow.RecordBatchReader.from_batches(next(rows), rows)
        return ArrowFile(self.name, reader, checked=True), False
