from .bags import Bagged as Bagged, BagReader as BagReader, Bags as Bags, Reading as Reading
from .documents import Documents as Documents
from .terms import Terms as Terms
from .words import Idf as Idf, Words as Words, WordWeights as WordWeights
