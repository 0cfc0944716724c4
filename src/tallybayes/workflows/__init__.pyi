from .changing import (
    Changed as Changed,
    forget as forget,
    learned as learned,
    merge as merge,
    merge_into as merge_into,
    update as update,
)
from .evaluation import (
    TunedModel as TunedModel,
    compare as compare,
    evaluate as evaluate,
    tune_spec as tune_spec,
)
from .prediction import Predicted as Predicted, predict as predict
from .records import (
    explain as explain,
    inspect as inspect,
    record_in as record_in,
    record_of as record_of,
    sample as sample,
)
from .reporting import Reported as Reported, report as report
from .training import Trained as Trained, preview as preview, train as train
from .warmup import warm_up as warm_up
