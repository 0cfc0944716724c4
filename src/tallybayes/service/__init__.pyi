from .application import Application as Application, application as application
from .processes import serve as serve
from .settings import Limits as Limits, Role as Role, Settings as Settings, tokens_in as tokens_in
