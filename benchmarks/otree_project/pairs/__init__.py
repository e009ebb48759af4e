"""Smallest pairwise study in oTree: twenty pages of two texts and a choice."""

from otree.api import BaseConstants, BaseGroup, BasePlayer, BaseSubsession, Page, models, widgets


class C(BaseConstants):
    NAME_IN_URL = "pairs"
    PLAYERS_PER_GROUP = None
    NUM_ROUNDS = 20
    LEFT = "The summit lies 3,776 metres above the sea and is open to climbers from July. " * 8
    RIGHT = "Buses to the fifth station leave the city every hour in the summer months. " * 8


class Subsession(BaseSubsession):
    pass


class Group(BaseGroup):
    pass


class Player(BasePlayer):
    choice = models.StringField(
        choices=[["left", "A"], ["right", "B"]], widget=widgets.RadioSelect, label="Which is better?"
    )


class Compare(Page):
    form_model = "player"
    form_fields = ("choice",)


page_sequence = [Compare]
