/// The changed objects of a context, each list in the order of the first change.
struct PendingChanges {
  var inserted = ObjectList()
  var updated = ObjectList()
  var deleted = ObjectList()

  var count: Int { inserted.count + updated.count + deleted.count }
  var isEmpty: Bool { inserted.isEmpty && updated.isEmpty && deleted.isEmpty }

  /// Inserted, updated and deleted objects, in this order.
  var all: [ManagedObject] { Array(inserted) + Array(updated) + Array(deleted) }
}
