/// The verbs of contexts and stores for saves.
extension ManagedObjectContext {
  /// Saves as `save()` does.
  func saveChanges() throws { try Save(self).run() }

  /// Makes what the stores have committed the committed state of its objects: see `Save.finish(_:_:after:_:)`.
  func finish(
    _ plan: SavePlan, _ outcome: SaveOutcome, after incomplete: IncompleteSave, _ choice: StoreChoice?
  ) -> HeartwoodError { Save(self).finish(plan, outcome, after: incomplete, choice) }
}
