/// The changed objects of a context, each list in the order of the first change.
///
/// - Invariant: An object is in at most one of the lists `inserted`, `updated`, `deleted`, `gone` and `discarded`, and marked as the list says.
struct PendingChanges {
  var inserted = ObjectList()
  var updated = ObjectList()
  /// Objects whose rows a save deletes.
  var deleted = ObjectList()
  /// Objects whose rows others have deleted. A save writes nothing for them; until then they are deleted ones for fetches.
  var gone = ObjectList()
  /// Objects that were inserted and deleted again before they were saved.
  var discarded = ObjectList()
  /// Deleted objects whose delete rules have not been applied yet, in the order of deletion.
  var unpropagatedDeletes: [ManagedObject] = []
  /// Unchanged objects whose row must not have changed when the context is saved.
  var watched: [ManagedObject] = []

  /// Whether there is nothing to write.
  var isEmpty: Bool { inserted.isEmpty && updated.isEmpty && deleted.isEmpty }

  /// The number of objects that a fetch does not show as their rows are.
  var countForFetches: Int { inserted.count + updated.count + deleted.count + gone.count }
  var isEmptyForFetches: Bool { isEmpty && gone.isEmpty }
  /// The lists of all objects that a fetch does not show as their rows are.
  var listsForFetches: [ObjectList] { [inserted, updated, deleted, gone] }

  /// Inserted, updated and deleted objects, in this order.
  var all: [ManagedObject] { Array(inserted) + Array(updated) + Array(deleted) }

  /// Forgets what a save has written. The delete rules of what an observer of the save has deleted are still to be applied.
  mutating func endSave() {
    let deletes = unpropagatedDeletes
    self = PendingChanges()
    unpropagatedDeletes = deletes
  }

  /// The changes of an earlier copy, with the places that its objects have in the lists.
  ///
  /// - Complexity: Linear in the number of objects.
  func restored() -> PendingChanges {
    var changes = PendingChanges()
    for object in inserted { changes.inserted.append(object) }
    for object in updated { changes.updated.append(object) }
    for object in deleted { changes.deleted.append(object) }
    for object in gone { changes.gone.append(object) }
    for object in discarded { changes.discarded.append(object) }
    (changes.unpropagatedDeletes, changes.watched) = (unpropagatedDeletes, watched)
    return changes
  }

  private var marks: [(list: ObjectList, mark: ObjectState)] {
    [
      (inserted, .inserted), (updated, .updated), (deleted, .deleted), (gone, [.deleted, .inaccessible]),
      (discarded, [.inserted, .deleted]),
    ]
  }

  /// Checks the invariants of one object, in debug builds.
  func checkInvariants(of object: ManagedObject) {
    let found = marks.filter { $0.list.contains(object) }
    assert(found.count <= 1, "\(object.identifier) is in several lists of changes")
    assert(
      found.allSatisfy { object.state.isSuperset(of: $0.mark) },
      "\(object.identifier) is in a list of changes, and not marked as one of it")
  }

  /// Checks the invariants of all objects, in debug builds.
  ///
  /// - Complexity: Linear in the number of objects.
  func checkInvariants() {
    for (list, _) in marks {
      list.checkInvariants()
      for object in list { checkInvariants(of: object) }
    }
  }
}
