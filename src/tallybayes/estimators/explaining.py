"""Estimators explain themselves: records, what would change an answer, columns, and all of it."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, overload

from tallybayes.errors import TallyBayesError
from tallybayes.sources import Source, Table, record_at
from tallybayes.sources.labels import Label
from tallybayes.tallies import Tally

if TYPE_CHECKING:
    from tallybayes.explanations import (
        Counterfactuals,
        Explanation,
        Explanations,
        Working,
    )
    from tallybayes.model import Fitted
    from tallybayes.report.page import ModelReport
    from tallybayes.validation import Diagnosis

LEARNED = (
    "the model has learned from these very rows, so their scores flatter it; hold rows out, with "
    "cross_val() or train_test_split()"
)


class Explaining:
    """What an estimator can say of its answers and of itself."""

    if TYPE_CHECKING:

        @property
        def fitted_(self) -> Fitted:
            """Return what was counted and how models are estimated from it."""

        def source_of(self, X: Any) -> Source:
            """Return rows as the model reads them."""

    @overload
    def explain(self, record: Any, show: Literal["evidence"] = "evidence") -> Explanation: ...
    @overload
    def explain(self, record: Any, show: Literal["working"]) -> Working: ...
    def explain(
        self, record: Any, show: Literal["evidence", "working"] = "evidence"
    ) -> Explanation | Working:
        """Explain the answer for one record.

        Parameters
        ----------
        record
            A mapping from columns to values (those that it does not have are missing), a row of a
            pandas table, a row of an array; for `TextNB` a text.
        show : {"evidence", "working"}
            What each value says for and against each class; or the whole arithmetic from the
            counts on, as on a blackboard: as text, Markdown, LaTeX or HTML.

        Examples
        --------
        >>> from tallybayes import NaiveBayes
        >>> table = {"status": ["Single", "Married", "Married"]}
        >>> model = NaiveBayes().fit(table, ["Yes", "No", "No"])
        >>> model.explain({"status": "Single"}).against("Yes", "No").odds.__round__(9)
        1.333333333
        """
        from tallybayes.explanations import explain

        return explain(self, self.record_of(record), show)

    def explain_all(self, X: Any) -> Explanations:
        """Explain the answers for many records at once, as arrays.

        Parameters
        ----------
        X
            The records, as for `predict`.
        """
        from tallybayes.explanations import explain_all

        return explain_all(self, self.source_of(X))

    def counterfactuals(
        self,
        record: Any,
        to: Label | None = None,
        *,
        values: int = 2,
        most: int = 10,
        keep: Sequence[str] = (),
    ) -> Counterfactuals:
        """Return the smallest changes of the record that change the answer.

        Parameters
        ----------
        record
            As for `explain`.
        to
            The answer that is wished for; any other when not given.
        values
            How many values may change: 1, or up to 2.
        most
            How many changes are returned.
        keep
            Columns that cannot change.
        """
        from tallybayes.explanations import counterfactuals

        given = self.record_of(record)
        return counterfactuals(self.fitted_, given, to, values=values, most=most, keep=keep)

    def diagnose(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        most_rows: int = 20_000,
        seed: int = 0,
    ) -> Diagnosis:
        """Look for what the model takes for granted and the data do not bear out.

        How much each column tells of the class, which columns say the same thing twice, and which
        Gaussian columns are not Gaussian.

        Parameters
        ----------
        X, y, sample_weight
            Labelled rows: those that were learnt from, or others.
        most_rows, seed
            Of more rows than these, so many are drawn at random and looked at.
        """
        from tallybayes.validation import diagnose

        rows = self.source_of(X)
        return diagnose(self.fitted_, rows, y, sample_weight, most_rows=most_rows, seed=seed)

    def report(
        self, X: Any = None, y: Any = None, *, sample_weight: Any = None, title: str | None = None
    ) -> ModelReport:
        """Write a page about the model, in one HTML file that needs nothing else.

        Parameters
        ----------
        X, y, sample_weight
            Labelled rows, by custom such as the model has not seen: for scores, histograms,
            examples and warnings. Without them the page shows the model alone.
        title
            What the page is called.

        Returns
        -------
        ModelReport
            ``model.report(X, y).save("report.html")``; a notebook shows it.
        """
        from tallybayes.report.evaluated import judged_here
        from tallybayes.report.page import model_report

        if (X is None) != (y is None):
            raise TallyBayesError("rows need labels to be judged: give both X and y, or neither")
        if X is None:
            return model_report(self.fitted_, title=title)
        fitted, source = self.fitted_, self.source_of(X)
        evaluation, rows = judged_here(fitted, source, y, sample_weight)
        learned = Tally.of(source, y, sample_weight, schema=fitted.tally.schema) == fitted.tally
        return model_report(
            fitted, evaluation=evaluation, rows=rows, title=title, notes=[LEARNED] * learned
        )

    def record_of(self, record: Any) -> Mapping[str, Any]:
        """Return a record by its columns: of a mapping, a row, or for `TextNB` a text."""
        if isinstance(record, Mapping):
            return record
        shape = getattr(record, "shape", None)
        if shape is None and isinstance(record, str | list | tuple):
            return self._only_row([record])
        if shape is not None and len(shape) == 1:
            if hasattr(record, "to_dict"):  # a row of a pandas table
                named: Mapping[str, Any] = record.to_dict()
                return {str(name): value for name, value in named.items()}
            return self._only_row(record[None])
        if shape is not None and len(shape) == 2 and shape[0] == 1:
            return self._only_row(record)
        raise TallyBayesError(
            "a record is a mapping from columns to values, or one row, not "
            f"{type(record).__name__}{'' if shape is None else f' of shape {shape}'}; for many "
            "rows call explain_all"
        )

    def _only_row(self, rows: Any) -> Mapping[str, Any]:
        """Return the record in a table of one row."""
        with warnings.catch_warnings():  # a row without names is meant by its order
            warnings.filterwarnings("ignore", "X does not have valid feature names")
            source = self.source_of(rows)
        record = record_at(source, 0)
        if isinstance(source, Table):
            return record
        return dict(zip(self.fitted_.tally.schema.names, record.values(), strict=True))
