/// The changed objects of a context: each in the order in which it was changed first.
struct PendingChanges {
  var inserted = ObjectList()
  var updated = ObjectList()
  var deleted = ObjectList()

  var isEmpty: Bool { inserted.isEmpty && updated.isEmpty && deleted.isEmpty }

  /// Inserted, updated and deleted objects, in this order.
  var all: [ManagedObject] { Array(inserted) + Array(updated) + Array(deleted) }
}
