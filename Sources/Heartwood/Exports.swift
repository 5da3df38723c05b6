// Values, models and conditions, which a program uses as names of this module.
@_exported import HeartwoodModel
