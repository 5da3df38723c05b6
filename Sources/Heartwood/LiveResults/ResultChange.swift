/// The difference of two results: the changes that make the second of a copy of the first.
///
/// Take the deleted and the moved objects out at their former places, delete and insert sections, then put the inserted and the
/// moved objects in at their new places in ascending order.
struct ResultChange {
  /// An object that both have.
  struct Kept {
    let before: TrackedResult.Placed
    let after: TrackedResult.Placed

    var object: ManagedObject { after.object }
    /// The index in the old result.
    var from: Int { before.index }
    /// The index in the new result.
    var to: Int { after.index }
    var hasOtherIdentifier: Bool { before.tracked.identifier != after.tracked.identifier }
  }

  let oldSections: [TrackedResult.Section]
  let newSections: [TrackedResult.Section]
  /// Indexes of sections of the old result that are gone, ascending.
  private(set) var deletedSections: [Int] = []
  /// Indexes of sections of the new result that are new, ascending.
  private(set) var insertedSections: [Int] = []
  /// At indexes of the old result, ascending.
  private(set) var deleted: [TrackedResult.Placed] = []
  /// At indexes of the new result, ascending.
  private(set) var inserted: [TrackedResult.Placed] = []
  /// Objects that have another place among the others, or another section.
  private(set) var moved: [Kept] = []
  /// Objects with changed values that have the same place among the others.
  private(set) var updated: [Kept] = []
  /// Objects that have only got another identifier.
  private(set) var renamed: [Kept] = []

  /// Whether nothing has changed but identifiers.
  var isEmpty: Bool {
    deleted.isEmpty && inserted.isEmpty && moved.isEmpty && updated.isEmpty && deletedSections.isEmpty
      && insertedSections.isEmpty
  }

  /// - Parameters:
  ///   - old: The sections before.
  ///   - new: The sections after.
  ///   - leaving: Ascending, at indexes of the old result: all objects that may not be in the same place among the others. The
  ///     objects at all other indexes have the same order and sections in both.
  ///   - entering: Ascending, at indexes of the new result, likewise.
  ///   - told: The objects whose values have changed.
  init(
    from old: [TrackedResult.Section], to new: [TrackedResult.Section], leaving: [TrackedResult.Placed],
    entering: [TrackedResult.Placed], told: Set<ObjectIdentifier>
  ) {
    (oldSections, newSections) = (old, new)
    let staying = compareSections()
    var former: [ObjectIdentifier: (place: TrackedResult.Placed, gap: Int)] = [:]
    for (rank, place) in leaving.enumerated() {
      former[ObjectIdentifier(place.object)] = (place, place.index - rank)
    }
    /// Objects that may have stayed, by the number of unchanged objects before them.
    var candidates: [Int: [Kept]] = [:]
    for (rank, place) in entering.enumerated() {
      guard let (before, gap) = former.removeValue(forKey: ObjectIdentifier(place.object)) else {
        inserted.append(place)
        continue
      }
      let change = Kept(before: before, after: place)
      let section = place.tracked.section
      let staysInSection = before.tracked.section == section && staying?.contains(section) ?? true
      if gap == place.index - rank, staysInSection {
        candidates[gap, default: []].append(change)
      } else {
        moved.append(change)
      }
    }
    deleted = former.values.map(\.place).sorted { $0.index < $1.index }
    for group in candidates.values {
      let kept = LongestAscent.indexes(in: group.map(\.from))
      for (index, change) in group.enumerated() {
        if !kept.contains(index) {
          moved.append(change)
        } else if told.contains(ObjectIdentifier(change.object)) {
          updated.append(change)
        } else if change.hasOtherIdentifier {
          renamed.append(change)
        }
      }
    }
    moved.sort { $0.to < $1.to }
    updated.sort { $0.to < $1.to }
    renamed.sort { $0.to < $1.to }
  }

  /// The identifiers of objects with changed values, the moved ones first.
  var changedIdentifiers: [ManagedObjectID] { (moved + updated).map { $0.after.tracked.identifier } }

  /// The change of the list of identifiers. A moved object is removed and inserted, each associated with the other.
  ///
  /// - Parameter includesUpdates: Whether an updated object is removed and inserted, too.
  func difference(includingUpdates includesUpdates: Bool) -> CollectionDifference<ManagedObjectID> {
    var changes: [CollectionDifference<ManagedObjectID>.Change] = []
    for place in deleted {
      changes.append(
        .remove(offset: place.index, element: place.tracked.identifier, associatedWith: nil))
    }
    for place in inserted {
      changes.append(
        .insert(offset: place.index, element: place.tracked.identifier, associatedWith: nil))
    }
    let replaced = includesUpdates ? updated : updated.filter { $0.hasOtherIdentifier }
    for kept in moved + replaced + renamed {
      let (former, identifier) = (kept.before.tracked.identifier, kept.after.tracked.identifier)
      let isSame = former == identifier
      changes.append(.remove(offset: kept.from, element: former, associatedWith: isSame ? kept.to : nil))
      changes.append(
        .insert(offset: kept.to, element: identifier, associatedWith: isSame ? kept.from : nil))
    }
    return CollectionDifference(changes) ?? [].difference(from: [])
  }

  /// The objects of each deleted section, in order: all of them have left.
  var objectsOfDeletedSections: [(section: Int, objects: [ManagedObject])] {
    guard !deletedSections.isEmpty else { return [] }
    let places = SectionPlaces(oldSections)
    let left = deleted.map { ($0.object, $0.index) } + moved.map { ($0.object, $0.from) }
    let bySection = Dictionary(grouping: left.sorted { $0.1 < $1.1 }) { places.place($0.1).section }
    return deletedSections.map { ($0, bySection[$0, default: []].map(\.0)) }
  }

  /// Compares the names of the sections. Sections in another order are deleted and inserted.
  ///
  /// - Returns: The names of the sections that stay; nil if all do.
  private mutating func compareSections() -> Set<String>? {
    let (before, after) = (oldSections, newSections)
    if before.count == after.count, zip(before, after).allSatisfy({ $0.name == $1.name }) { return nil }
    let staying = Self.namesInOrder(before, after)
    deletedSections = before.indices.filter { !staying.contains(before[$0].name) }
    insertedSections = after.indices.filter { !staying.contains(after[$0].name) }
    return staying
  }

  /// The names of sections that both have, without those that have another place among the others.
  static func namesInOrder(
    _ old: [TrackedResult.Section], _ new: [TrackedResult.Section]
  ) -> Set<String> {
    let former = Dictionary(
      old.enumerated().map { ($1.name, $0) }, uniquingKeysWith: { first, _ in first })
    let common = new.compactMap { section in former[section.name].map { (section.name, $0) } }
    return Set(LongestAscent.indexes(in: common.map(\.1)).map { common[$0].0 })
  }
}
