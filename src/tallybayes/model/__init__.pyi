from .factors import Factor as Factor
from .from_probabilities import Normal as Normal, stated as stated
from .informative import InformativeValue as InformativeValue, most_informative as most_informative
from .learner import Learner as Learner
from .model import Model as Model
from .recipe import Fitted as Fitted, Recipe as Recipe, estimate as estimate
