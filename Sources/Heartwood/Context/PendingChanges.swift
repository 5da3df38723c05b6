/// The changed objects of a context: each in the order in which it was changed first.
struct PendingChanges {
  var inserted: ArrivalList<ManagedObject> = []
  var updated: ArrivalList<ManagedObject> = []
  var deleted: ArrivalList<ManagedObject> = []

  var isEmpty: Bool { inserted.isEmpty && updated.isEmpty && deleted.isEmpty }
}
