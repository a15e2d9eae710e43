from .search_knowledge import NoKnowledge
import random
class QuincalaKnowledge(NoKnowledge):
    def __init__(self, game, options=None):
        super().__init__(game, (), random.Random(1))
