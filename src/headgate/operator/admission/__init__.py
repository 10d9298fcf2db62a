"""Admission: documents of our kinds with their defaults, or refused with every field named. Pure."""

from headgate.operator.admission.requests import Surroundings
from headgate.operator.admission.reviews import DEFAULTING, VALIDATING, Malformed, Stage, answer

__all__ = ["DEFAULTING", "VALIDATING", "Malformed", "Stage", "Surroundings", "answer"]
