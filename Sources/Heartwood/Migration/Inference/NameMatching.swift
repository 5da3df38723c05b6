/// Which elements of a new model are those of a former one, by their names.
///
/// A renaming identifier is the name in the former model, or, as in Core Data, the renaming identifier that the element had there
/// already, so that it may stay through further versions. Where it is both, the name is meant, unless an element of the new model
/// still has the name and none has that of the other: with `b`, renamed from `a`, and a new `a` in the former model, a `c` that is
/// renamed from `a` beside an `a` was `b`.
struct NameMatching {
  struct Element {
    let name: String
    /// Nil if it is the name.
    let renamed: String?
    let place: Int

    init(_ name: String, renamed: String?, place: Int) {
      self.name = name
      self.renamed = renamed == name ? nil : renamed
      self.place = place
    }

    /// The name and what it is renamed from; nil if that is nothing.
    fileprivate var declaration: [String]? { renamed.map { [name, $0] } }
  }

  /// By place of the new elements, that of the former one.
  private(set) var matches: [Int: Int] = [:]
  /// New elements that are renamed from one that another new element is made of: their places and that of the other.
  private(set) var conflicts: [(place: Int, other: Int)] = []
  private let new: [Element]
  private let former: [Element]
  private var used: Set<Int> = []

  /// - Complexity: Linear in the number of elements.
  init(_ new: [Element], _ former: [Element]) {
    (self.new, self.former) = (new, former)
    // An element that is declared as it was has not changed.
    match({ $0.declaration }, former: { $0.declaration })
    matchFormerNames()
    match({ $0.renamed == nil ? $0.name : nil }, former: { $0.name })
    match({ $0.renamed }, former: { $0.renamed })
    match({ $0.name }, former: { $0.name })
    // A renaming that was taken back, also one of several that follow one another.
    match({ $0.name }, former: { $0.renamed })
    noteConflicts()
  }

  /// Matches the new elements that have none with former ones that are not used, where both have the same key.
  private mutating func match<Key: Hashable>(_ key: (Element) -> Key?, former formerKey: (Element) -> Key?) {
    var places = unused(formerKey)
    for element in new where matches[element.place] == nil {
      guard let key = key(element), let found = places[key]?.popLast() else { continue }
      matches[element.place] = found.place
      used.insert(found.place)
    }
  }

  /// The former elements that are not used by a key, the first one last.
  private func unused<Key: Hashable>(_ key: (Element) -> Key?) -> [Key: [Element]] {
    var found: [Key: [Element]] = [:]
    for element in former.reversed() where !used.contains(element.place) {
      if let key = key(element) { found[key, default: []].append(element) }
    }
    return found
  }

  /// Matches new elements with the former ones that have the name of their renaming identifier, where that is what it means.
  private mutating func matchFormerNames() {
    var places = unused { $0.name }
    let others = unused { $0.renamed }
    let names = Set(new.map(\.name))
    for element in new where matches[element.place] == nil {
      guard let renamed = element.renamed else { continue }
      let other = others[renamed]?.last { !used.contains($0.place) }
      let isMeantByIdentifier = other.map { names.contains(renamed) && !names.contains($0.name) } ?? false
      guard !isMeantByIdentifier, let found = places[renamed]?.popLast() else { continue }
      matches[element.place] = found.place
      used.insert(found.place)
    }
  }

  private mutating func noteConflicts() {
    var matched: [String: Int] = [:]
    for element in new.reversed() where matches[element.place] != nil {
      if let renamed = element.renamed { matched[renamed] = element.place }
    }
    for element in new where matches[element.place] == nil {
      guard let other = element.renamed.flatMap({ matched[$0] }) else { continue }
      conflicts.append((element.place, other))
    }
  }
}

extension InferredChanges {
  func matchEntities() {
    let (new, old) = (sorted(destination), sorted(source))
    func elements(_ entities: [EntityDescription]) -> [NameMatching.Element] {
      entities.enumerated().map {
        NameMatching.Element($1.displayName, renamed: $1.formerName, place: $0)
      }
    }
    let matching = NameMatching(elements(new), elements(old))
    for (place, former) in matching.matches {
      sources[new[place].displayName] = old[former]
      destinations[old[former].displayName] = new[place]
    }
    for (place, other) in matching.conflicts {
      refuse(new[place], nil, renamedTwice(new[place].formerName, new[other].displayName))
    }
  }

  func matchProperties(of entity: EntityDescription) {
    sourceSlots[entity.displayName] = entity.slots.map { _ in nil }
    guard let former = source(of: entity) else { return }
    match(
      entity.slots.filter { !entity.isElement($0) }, of: entity,
      former.slots.filter { !former.isElement($0) }, of: former)
  }

  /// Matches properties, and below composite attributes that are matched their elements.
  private func match(
    _ slots: [Int], of entity: EntityDescription, _ formerSlots: [Int], of former: EntityDescription
  ) {
    func elements(_ slots: [Int], _ entity: EntityDescription) -> [NameMatching.Element] {
      slots.map { slot in
        let property = entity.property(at: slot)
        return NameMatching.Element(
          property.lastName, renamed: property.formerName, place: slot)
      }
    }
    let matching = NameMatching(elements(slots, entity), elements(formerSlots, former))
    for (slot, match) in matching.matches {
      let (new, old) = (entity.property(at: slot), former.property(at: match))
      // A transient property has no stored value to keep.
      if old.isTransient || new.isTransient { continue }
      sourceSlots[entity.displayName]?[slot] = match
      if let parts = entity.compiled.composites[slot], let formerParts = former.compiled.composites[match] {
        self.match(parts.map(\.slot), of: entity, formerParts.map(\.slot), of: former)
      }
    }
    for (slot, other) in matching.conflicts {
      let (property, twin) = (entity.property(at: slot), entity.property(at: other))
      // Said once, of the entity that declares one of them.
      guard property.entity === entity || twin.entity === entity else { continue }
      refuse(entity, property, renamedTwice(property.formerName, twin.displayName))
    }
  }

  private func renamedTwice(_ name: String?, _ other: String) -> String {
    "is renamed from \(name ?? "?"), and so is \(other): only one of them can have what that had; name another former one for "
      + "one of the two, or none"
  }
}

extension PropertyDescription {
  /// The name; of an element of a composite attribute its own, without the path to it.
  var lastName: String { name.split(separator: ".").last.map(String.init) ?? name }
}
