/// An object of a tracked result, with the values that placed it there.
///
/// The values are those of its row when it was last evaluated, so the result is ordered by them whatever the rows are now.
final class TrackedObject {
  let object: ManagedObject
  let key: UInt64
  /// The identifier that it had then: a save replaces a temporary one.
  let identifier: ManagedObjectID
  /// The values of the sort keys.
  let values: [Value]
  /// The name of its section; empty without sections.
  let section: String

  init(_ object: ManagedObject, key: UInt64, values: [Value], section: String) {
    self.object = object
    self.key = key
    identifier = object.identifier
    self.values = values
    self.section = section
  }
}

/// The order of tracked objects: that of a request, with equal ones by key, in the direction of the last sort key.
struct TrackedOrder {
  private let keys: [(isAscending: Bool, options: ComparisonOptions)]
  private let tiesAscend: Bool

  init(_ sort: CompiledSort?) {
    keys = sort?.keys.map { ($0.ascending, $0.options) } ?? []
    tiesAscend = keys.last?.isAscending ?? true
  }

  func places(_ left: TrackedObject, before right: TrackedObject) -> Bool {
    let order = compareValues(left, right)
    if order != 0 { return order < 0 }
    return tiesAscend ? left.key < right.key : left.key > right.key
  }

  /// Whether both have the same place among all others.
  func areEqual(_ left: TrackedObject, _ right: TrackedObject) -> Bool {
    left.key == right.key && compareValues(left, right) == 0
  }

  /// The number of objects before `object`; its index if it is among them.
  ///
  /// - Complexity: O(log n)
  func index(of object: TrackedObject, in objects: [TrackedObject]) -> Int {
    objects.partitioningIndex { !places($0, before: object) }
  }

  private func compareValues(_ left: TrackedObject, _ right: TrackedObject) -> Int {
    for (index, key) in keys.enumerated() {
      let order = ComparableText.order(left.values[index], right.values[index], key.options)
      if order != 0 { return key.isAscending ? order : -order }
    }
    return 0
  }
}
