"""The rules of Quincala Mixing as verdicts name them: id, one sentence, source."""

from ..base import Rule

_SOURCE = "Short Rules for Quincala Game 1 - Quincala Mixing (02/06/2010)"
_PLACING = f"{_SOURCE}, 1. The placing phase"
_MOVING = f"{_SOURCE}, 2. The moving phase"
_AIM = f"{_SOURCE}, aim of the game"
_KNOCKING = f"{_SOURCE}, knocking"

_ROWS = (
    ("quincala.turn.order", "A turn is first placing, then moving.", f"{_SOURCE}, turns"),
    (
        "quincala.turn.skip",
        "A player with nothing to place and no legal move is skipped; a skipped turn counts as a turn.",
        f"{_SOURCE} is silent; a ruling",
    ),
    ("quincala.place.owned", "Only pieces of the player's own hand are placed, of either colour.", _PLACING),
    ("quincala.place.area", "A piece is placed on a dot of the player's own placing areas.", _PLACING),
    ("quincala.place.empty", "A piece is placed on an empty dot.", _PLACING),
    (
        "quincala.place.surplus",
        "What the placing areas have no empty dot for stays in hand.",
        f"{_PLACING} is silent; a ruling",
    ),
    (
        "quincala.leg.own",
        "The first leg lifts a whole tower that has pieces of the mover's colour only.",
        f"{_MOVING}, first leg",
    ),
    ("quincala.leg.adjoining", "A further leg starts where the last one ended.", f"{_MOVING}, further legs"),
    (
        "quincala.leg.sowing",
        "A further leg leaves the mover's largest piece and all pieces of the opponent, and lifts the rest.",
        f"{_MOVING}, further legs",
    ),
    ("quincala.leg.straight", "A leg is straight, in one of eight directions.", f"{_MOVING}, legs"),
    ("quincala.leg.length", "A leg has at least one step, and at most as many as pieces move in it.", _MOVING),
    ("quincala.leg.area", "A leg stays within the playing area.", f"{_MOVING}, line of movement"),
    ("quincala.leg.jump", "A leg crosses no piece; it may end on some.", f"{_MOVING}, line of movement"),
    (
        "quincala.leg.stop",
        "A move has at least one leg, if any can be made.",
        f"{_MOVING}; that moving is compulsory is a ruling",
    ),
    (
        "quincala.leg.cap",
        "A move ends with its 100th leg.",
        f"{_MOVING} sets no limit, and two towers could exchange a piece forever; ours",
    ),
    (
        "quincala.knock.hand",
        "An arriving piece knocks that of its size, of either colour, into the hand of the mover's opponent.",
        _KNOCKING,
    ),
    (
        "quincala.knock.immune",
        "A piece that has knocked one of the other colour is not knocked during the opponent's next turn.",
        f"{_SOURCE}, the immunity rule",
    ),
    (
        "quincala.knock.lost",
        "A piece that its own side knocks off the board before that turn loses its immunity.",
        f"{_SOURCE}, the immunity rule, is silent; a ruling: in the hand, pieces have no identity",
    ),
    (
        "quincala.end.aim",
        "A player wins who alone has a piece of each size of its colour in mixed towers at the end of a turn.",
        f"{_AIM}; that the towers may differ is a ruling",
    ),
    (
        "quincala.end.both",
        "If both players have achieved the aim at the end of a turn, the one not having the turn wins.",
        _AIM,
    ),
    ("quincala.end.skips", "Two skips in a row end the game as a draw.", f"{_SOURCE} is silent; a ruling"),
    (
        "quincala.end.cap",
        "After as many turns as the option max_turns says, the game is a draw.",
        f"{_SOURCE} is silent; a ruling",
    ),
    ("quincala.end.eliminated", "An eliminated player loses.", f"{_SOURCE} knows no elimination; a ruling"),
)

RULES = {row[0]: Rule(*row) for row in _ROWS}
