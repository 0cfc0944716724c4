"""The same tally past one process: what any engine that maps batches needs, and Spark.

An engine does three things with a `CountJob`: it maps parts of the rows through `CountJob.count`,
adds up what that returns with ``+``, in any order, and hands the sum to `CountJob.finish`.
"""

from tallybayes.engines.count_job import Counted, CountJob
from tallybayes.engines.judge_job import JudgeJob, Judgement
from tallybayes.engines.score_job import ScoreJob

__all__ = ["CountJob", "Counted", "JudgeJob", "Judgement", "ScoreJob"]
