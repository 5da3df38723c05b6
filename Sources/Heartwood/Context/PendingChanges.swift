/// The changed objects of a context, each list in the order of the first change.
///
/// - Invariant: An object is in at most one of the lists.
struct PendingChanges {
  var inserted = ObjectList()
  var updated = ObjectList()
  /// Objects whose rows a save deletes.
  var deleted = ObjectList()
  /// Objects whose rows others have deleted. A save writes nothing for them; until then they are deleted ones for fetches.
  var gone = ObjectList()

  /// Whether there is nothing to write.
  var isEmpty: Bool { inserted.isEmpty && updated.isEmpty && deleted.isEmpty }

  /// The number of objects that a fetch does not show as their rows are.
  var countForFetches: Int { inserted.count + updated.count + deleted.count + gone.count }
  var isEmptyForFetches: Bool { isEmpty && gone.isEmpty }
  /// The lists of all objects that a fetch does not show as their rows are.
  var listsForFetches: [ObjectList] { [inserted, updated, deleted, gone] }

  /// Inserted, updated and deleted objects, in this order.
  var all: [ManagedObject] { Array(inserted) + Array(updated) + Array(deleted) }
}

extension PendingChanges {
  /// Whether an object is in one list at most, and marked as that list says: what debug builds check when an event ends.
  func isConsistent(for object: ManagedObject) -> Bool {
    let marks: [(list: ObjectList, mark: ObjectState)] = [
      (inserted, .inserted), (updated, .updated), (deleted, .deleted), (gone, [.deleted, .inaccessible]),
    ]
    let found = marks.filter { $0.list.contains(object) }
    return found.count <= 1 && found.allSatisfy { object.state.isSuperset(of: $0.mark) }
  }
}
