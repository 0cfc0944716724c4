from .errors import TallyBayesError as TallyBayesError, TallyBayesWarning as TallyBayesWarning
from .estimators import (
    BernoulliNB as BernoulliNB,
    CategoricalNB as CategoricalNB,
    ComplementNB as ComplementNB,
    GaussianNB as GaussianNB,
    MixedNB as MixedNB,
    MultinomialNB as MultinomialNB,
    NaiveBayes as NaiveBayes,
    SemiNaiveBayes as SemiNaiveBayes,
    TextNB as TextNB,
    load as load,
)
from .explanations import (
    counterfactuals as counterfactuals,
    explain as explain,
    explain_all as explain_all,
)
from .families import (
    AdditiveFloor as AdditiveFloor,
    Bernoulli as Bernoulli,
    Bins as Bins,
    ByClass as ByClass,
    ByValue as ByValue,
    Categorical as Categorical,
    Complement as Complement,
    Gaussian as Gaussian,
    LogNormal as LogNormal,
    Multinomial as Multinomial,
    Poisson as Poisson,
    RelativeFloor as RelativeFloor,
    Text as Text,
)
from .model import Model as Model, Normal as Normal, estimate as estimate, stated as stated
from .priors import Empirical as Empirical, Fixed as Fixed, Uniform as Uniform
from .schema import (
    Binary as Binary,
    Categories as Categories,
    Count as Count,
    Intervals as Intervals,
    Numeric as Numeric,
    Schema as Schema,
)
from .tallies import Tally as Tally
from .tokenizer import Idf as Idf, Words as Words

__version__: str
