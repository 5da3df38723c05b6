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
  }

  /// By place of the new elements, that of the former one.
  private(set) var matches: [Int: Int] = [:]
  /// New elements that are renamed from one that another new element is made of: their places and that of the other.
  private(set) var conflicts: [(place: Int, other: Int)] = []
  private let new: [Element]
  private let former: [Element]
  private var used: Set<Int> = []

  init(_ new: [Element], _ former: [Element]) {
    (self.new, self.former) = (new, former)
    // What is declared as it was has not changed.
    match { new, former, _ in new.renamed != nil && new.renamed == former.renamed && new.name == former.name }
    match { new, former, matching in
      new.renamed != nil && new.renamed == former.name && !matching.isMeantByIdentifier(new)
    }
    match { new, former, _ in new.renamed == nil && new.name == former.name }
    match { new, former, _ in new.renamed != nil && new.renamed == former.renamed }
    match { new, former, _ in new.name == former.name }
    // A renaming that was taken back.
    match { new, former, _ in new.renamed == nil && new.name == former.renamed }
    for element in new where element.renamed != nil && matches[element.place] == nil {
      guard let other = new.first(where: { $0.renamed == element.renamed && matches[$0.place] != nil }) else {
        continue
      }
      conflicts.append((element.place, other.place))
    }
  }

  private mutating func match(_ rule: (Element, Element, NameMatching) -> Bool) {
    for element in new where matches[element.place] == nil {
      guard let found = former.first(where: { !used.contains($0.place) && rule(element, $0, self) }) else {
        continue
      }
      matches[element.place] = found.place
      used.insert(found.place)
    }
  }

  private func isMeantByIdentifier(_ element: Element) -> Bool {
    guard let other = former.first(where: { !used.contains($0.place) && $0.renamed == element.renamed })
    else {
      return false
    }
    return new.contains { $0.name == element.renamed } && !new.contains { $0.name == other.name }
  }
}

extension InferredChanges {
  func matchEntities() {
    let (new, old) = (sorted(destination), sorted(source))
    func elements(_ entities: [EntityDescription]) -> [NameMatching.Element] {
      entities.enumerated().map {
        NameMatching.Element($1.displayName, renamed: $1.renamingIdentifier, place: $0)
      }
    }
    let matching = NameMatching(elements(new), elements(old))
    for (place, former) in matching.matches {
      sources[new[place].displayName] = old[former]
      destinations[old[former].displayName] = new[place]
    }
    for (place, other) in matching.conflicts {
      refuse(new[place], nil, renamedTwice(new[place].renamingIdentifier, new[other].displayName))
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
          property.lastName, renamed: property.renamingIdentifier, place: slot)
      }
    }
    let matching = NameMatching(elements(slots, entity), elements(formerSlots, former))
    for (slot, match) in matching.matches {
      let (new, old) = (entity.property(at: slot), former.property(at: match))
      // What is not stored has no value to keep.
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
      refuse(entity, property, renamedTwice(property.renamingIdentifier, twin.displayName))
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
