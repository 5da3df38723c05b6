/// Which changes of a history are read: the others are skipped, without a value for each.
struct HistorySelection: Sendable {
  static let all = HistorySelection()
  /// The transactions without their changes.
  static let none = HistorySelection(entities: [], objects: nil)

  /// The names of entities; nil for all.
  private var entities: Set<String>?
  /// The numbers of objects, by the names of their entities; nil for all.
  private var objects: [String: Set<UInt64>]?

  private init(entities: Set<String>? = nil, objects: [String: Set<UInt64>]? = nil) {
    (self.entities, self.objects) = (entities, objects)
  }

  var isAll: Bool { entities == nil && objects == nil }

  mutating func restrict(toEntities names: Set<String>) {
    entities = entities?.intersection(names) ?? names
  }

  mutating func restrict(toObjects wanted: [String: Set<UInt64>]) {
    objects = objects?.merging(wanted) { $0.intersection($1) }.filter { wanted[$0.key] != nil } ?? wanted
  }

  /// The same by the numbers that entities have in a store.
  func numbered(_ schema: StoreSchema) -> Numbered {
    let names = objects.map { Set($0.keys) } ?? entities ?? []
    return Numbered(
      entities: names.compactMap { name in
        guard entities?.contains(name) != false else { return nil }
        return schema.entity(named: name).map { (UInt64($0.number), objects.map { $0[name] ?? [] }) }
      })
  }

  struct Numbered {
    /// Few: they are searched one after the other.
    fileprivate let entities: [(number: UInt64, keys: Set<UInt64>?)]

    func contains(_ entity: UInt64, _ key: UInt64) -> Bool {
      for known in entities where known.number == entity { return known.keys?.contains(key) != false }
      return false
    }
  }
}
