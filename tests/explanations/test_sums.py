"""An explanation adds up, for every family, with missing values and with every calibration."""

import json
import math
import re

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import tallybayes as tb
from explanations.cases import CALIBRATIONS, fitted
from tallybayes import families
from tallybayes.explanations import explain
from tiers import scaled
from validation.registry import CLASSES, EVERY_SETTING, SETTINGS


def with_gaps(record, gaps, k):
    """Take every third value out."""
    if not gaps:
        return record
    return {name: None if (j + k) % 3 == 0 else v for j, (name, v) in enumerate(record.items())}


def assert_close(got, expected):
    np.testing.assert_allclose(got, expected, rtol=1e-9, atol=1e-9)


def assert_adds_up(case, record):
    explanation = explain(case.model, record)
    joint = case.joint(record)
    total = np.array(explanation.log_prior)
    for each in explanation.terms:
        total = total + np.array(each.log_likelihood)
        if each.words:
            words = np.sum([word.log_likelihood for word in each.words], axis=0)
            assert_close(words, each.log_likelihood)
    assert_close(total, joint)
    assert_close(explanation.joint, joint)
    assert_close(explanation.running_totals[-1], joint)
    assert [each.column for each in explanation.terms] == list(case.model.schema.names)
    return explanation


def test_prior_and_contributions_add_up_to_the_joint(setting):
    for how in CALIBRATIONS:
        case = fitted(setting, setting.examples(12), how)
        for k, (_, _, cells) in enumerate(setting.examples(8, seed=1)):
            assert_adds_up(case, with_gaps(case.record(cells), k % 2, k))


@pytest.mark.filterwarnings("ignore:row 0 is impossible")
def test_posterior_and_decision_are_those_of_the_model(setting):
    for how in CALIBRATIONS:
        case = fitted(setting, setting.examples(12), how, positive="a")
        for k, (_, _, cells) in enumerate(setting.examples(6, seed=2)):
            record = with_gaps(case.record(cells), k % 2, k)
            explanation = explain(case.model, record)
            expected = case.model.posterior_of(record)
            assert_close(explanation.posterior, list(expected.values()))
            row = {name: [record[name]] for name in record}
            assert [explanation.decision] == case.model.predict(row).tolist()


def test_a_column_contributes_what_the_score_loses_without_it(setting):
    case = fitted(setting, setting.examples(12), "temperature")
    for _, _, cells in setting.examples(5, seed=3):
        record = case.record(cells)
        whole = case.joint(record)
        for each in explain(case.model, record).terms:
            without = case.joint({**record, each.column: None})
            defined = np.isfinite(whole) & np.isfinite(without)
            lost = whole[defined] - without[defined]
            assert_close(np.array(each.log_likelihood)[defined], lost)


def test_what_is_left_out_is_what_the_score_does_not_change_with(setting):
    case = fitted(setting, setting.examples(12))
    for _, _, cells in setting.examples(8, seed=4):
        for each in explain(case.model, case.record(cells)).terms:
            value = case.record(cells)[each.column]
            if value is None or value != value:
                assert each.left_out == "missing"
                assert each.value is None
            if each.left_out:
                assert not any(each.log_likelihood)


def test_the_weights_of_evidence_add_up_to_the_odds_of_every_pair(setting):
    case = fitted(setting, setting.examples(12))
    for _, _, cells in setting.examples(4, seed=5):
        record = case.record(cells)
        joint = dict(zip(case.model.classes, case.joint(record), strict=True))
        explanation = explain(case.model, record)
        for one in CLASSES:
            for other in CLASSES:
                if one == other or not np.isfinite([joint[one], joint[other]]).all():
                    continue
                contrast = explanation.against(one, other)
                bits = contrast.prior + math.fsum(each.bits for each in contrast.evidence)
                assert_close(bits, (joint[one] - joint[other]) / math.log(2.0))
                assert_close(contrast.total, bits)
                if contrast.total < 1000:
                    assert contrast.odds == pytest.approx(
                        math.exp(joint[one] - joint[other]), rel=1e-8
                    )


def test_everything_is_ready_for_json_and_prints(setting):
    for how in CALIBRATIONS:
        case = fitted(setting, setting.examples(12), how)
        for _, _, cells in setting.examples(3, seed=6):
            explanation = explain(case.model, case.record(cells))
            found = json.loads(json.dumps(explanation.to_dict(), allow_nan=False))
            assert found["decision"] == explanation.decision
            assert found["joint"] == [x if np.isfinite(x) else str(x) for x in explanation.joint]
            last = str(explanation).splitlines()[-1]
            assert last.endswith(".")
            assert re.search(r"^posterior ", str(explanation), re.MULTILINE)


@scaled(2)
@given(data=st.data())
def test_any_model_and_any_record_add_up(data):
    setting = data.draw(st.sampled_from(EVERY_SETTING))
    how = data.draw(st.sampled_from(list(CALIBRATIONS)))
    rows = data.draw(setting.rows(min_size=1))
    assume(any(weight for _, weight, _ in rows))
    try:
        case = fitted(setting, rows, how, prior=tb.Empirical(alpha=1))
    except tb.TallyBayesError:  # no word is left, for example
        assume(False)
    cells = data.draw(st.tuples(*map(st.sampled_from, setting.cells)))
    named = data.draw(st.sets(st.sampled_from(setting.names)))
    record = {name: value for name, value in case.record(cells).items() if name in named}
    try:
        case.joint(record)
    except tb.TallyBayesError:  # refused everywhere
        assume(False)
    assert_adds_up(case, record)


def test_every_family_is_explained():
    every = {
        getattr(families, name)
        for name in families.__all__
        if hasattr(getattr(families, name), "estimate") and name != "Family"
    }
    tried = {type(share) for each in SETTINGS for share in _families(each)}
    assert every <= tried


def _families(setting):
    from tallybayes.model.recipe import family_for

    for name, kind, _ in setting.schema:
        yield setting.columns.get(name) or family_for(kind, setting.families)
