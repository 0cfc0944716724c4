"""An explanation adds up, for every family, with missing values and with every calibration."""

import json
import math
import re
from itertools import permutations

import numpy as np
import pytest

from explanations.cases import CALIBRATIONS, fitted, with_gaps
from tallybayes.explanations import explain
from validation.registry import CLASSES


def assert_close(got, expected, terms=()):
    """Compare sums to the digits that their largest term leaves them."""
    largest = max([1.0, *np.abs(terms)[np.isfinite(terms)]])
    np.testing.assert_allclose(got, expected, rtol=1e-9, atol=1e-9 * largest)


def assert_adds_up(case, record):
    """Check the terms against the score, and against the score without each of them."""
    explanation = explain(case.model, record)
    joint, total = case.joint(record), np.array(explanation.log_prior)
    sizes = np.array([joint, *(each.log_likelihood for each in explanation.terms)])
    for each in explanation.terms:
        total = total + np.array(each.log_likelihood)
        if each.words:
            words = np.sum([word.log_likelihood for word in each.words], axis=0)
            assert_close(words, each.log_likelihood)
        without = case.joint({**record, each.column: None})
        defined = np.isfinite(joint) & np.isfinite(without)
        assert_close(
            np.array(each.log_likelihood)[defined], joint[defined] - without[defined], sizes
        )
        value = record.get(each.column)
        if value is None or value != value:
            assert (each.left_out, each.value) == ("missing", None)
        assert not each.left_out or np.ptp(each.log_likelihood) == 0.0  # x! is the same in all
    assert_close(total, joint, sizes)
    assert_close(explanation.joint, joint)
    assert [each.column for each in explanation.terms] == list(case.model.schema.names)
    for one, other in permutations(range(len(joint)), 2):
        if np.isfinite([joint[one], joint[other]]).all():
            contrast = explanation.against(CLASSES[one], CLASSES[other])
            bits = contrast.prior + math.fsum(each.bits for each in contrast.evidence)
            assert_close(bits, (joint[one] - joint[other]) / math.log(2.0), sizes)
            assert_close(contrast.total, bits, sizes)
    return explanation


@pytest.mark.filterwarnings("ignore:row 0 is impossible")
def test_terms_add_up_to_the_answer_of_the_model(setting):
    for how in CALIBRATIONS:
        case = fitted(setting, setting.examples(12), how, positive="a")
        for k, (_, _, cells) in enumerate(setting.examples(6, seed=1)):
            record = with_gaps(case.record(cells), k)
            explanation = assert_adds_up(case, record)
            assert_close(explanation.posterior, list(case.model.posterior_of(record).values()))
            row = {name: [record[name]] for name in record}
            assert [explanation.decision] == case.model.predict(row).tolist()
            found = json.loads(json.dumps(explanation.to_dict(), allow_nan=False))
            assert found["joint"] == [x if np.isfinite(x) else str(x) for x in explanation.joint]
            assert str(explanation).endswith(".")
            assert re.search(r"^posterior ", str(explanation), re.MULTILINE)
