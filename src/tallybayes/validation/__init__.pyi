from .comparison import (
    Comparison as Comparison,
    compare as compare,
    compare_predictions as compare_predictions,
)
from .cross_validation import cross_val as cross_val
from .significance import (
    SignificanceResult as SignificanceResult,
    holm as holm,
    mcnemar as mcnemar,
    paired_t as paired_t,
)
from .tuning import Tuned as Tuned, tune as tune
