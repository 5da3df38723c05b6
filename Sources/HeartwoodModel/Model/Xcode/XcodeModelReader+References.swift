/// References of a model's parts to each other, which an editor may leave as it was when the others change.
extension XcodeModelReader {
  /// The place of a property among the entities that were read.
  private struct PropertyPlace: Hashable {
    let entity: Int
    let property: Int
  }

  /// Leaves out what refers to nothing, and makes both sides of pairs agree.
  mutating func connect(_ entities: inout [ModelDocument.Entity]) {
    let lookup = EntityLookup(entities)
    checkParents(&entities, lookup)
    leaveOutInherited(&entities, lookup)
    leaveOutDestinations(&entities, lookup)
    resolveInverses(&entities)
    for place in entities.indices {
      checkConstraints(of: &entities, place, lookup)
      checkIndexes(of: &entities, place, lookup)
    }
  }

  private mutating func checkParents(_ entities: inout [ModelDocument.Entity], _ lookup: EntityLookup) {
    let circles = lookup.circles(entities)
    for place in entities.indices {
      guard let parent = entities[place].superentity else { continue }
      let name = entities[place].name
      if lookup.places[parent] == nil {
        mistake(lines[name], "\(name) inherits from \"\(parent)\", which is no entity of the model")
      } else if circles.contains(place) {
        mistake(lines[name], "\(name) inherits from itself")
      } else {
        continue
      }
      entities[place].superentity = nil
    }
  }

  /// Leaves out properties with the names of others that the entity inherits, which are mistakes.
  private mutating func leaveOutInherited(_ entities: inout [ModelDocument.Entity], _ lookup: EntityLookup) {
    var declarers: [String: Set<Int>] = [:]
    for place in entities.indices {
      for property in entities[place].properties { declarers[property.name, default: []].insert(place) }
    }
    for place in entities.indices where entities[place].superentity != nil {
      let owner = entities[place].name
      for property in entities[place].properties {
        // Most names are those of one property.
        guard let others = declarers[property.name], others.count > 1,
          let other = lookup.lineage(of: owner, entities).dropFirst().first(where: others.contains)
        else { continue }
        entities[place].properties.removeAll { $0.name == property.name }
        mistake(
          lines["\(owner).\(property.name)"],
          "\(owner).\(property.name) has the name of a property that \(owner) inherits from \(entities[other].name)"
        )
      }
    }
  }

  private mutating func leaveOutDestinations(
    _ entities: inout [ModelDocument.Entity], _ lookup: EntityLookup
  ) {
    for place in entities.indices {
      let owner = entities[place].name
      for property in entities[place].properties {
        let path = "\(owner).\(property.name)"
        if let fetched = property.fetched?.entityName, lookup.places[fetched] == nil {
          leftOut.insert(path)
          mistake(lines[path], "\(path) fetches objects of \(fetched), which is no entity of the model")
        }
        guard let destination = property.relationship?.destination, lookup.places[destination] == nil else {
          continue
        }
        leftOut.insert(path)
        note(
          lines[path], "\(path) leads to \"\(destination)\", which is no entity of the model, and is left out"
        )
      }
      entities[place].properties.removeAll { leftOut.contains("\(owner).\($0.name)") }
    }
  }

  // MARK: Inverses

  private mutating func resolveInverses(_ entities: inout [ModelDocument.Entity]) {
    let lookup = EntityLookup(entities)
    var named: [PropertyPlace: PropertyPlace] = [:]
    for place in Self.relationships(of: entities) {
      guard let relationship = entities[place.entity].properties[place.property].relationship,
        let inverse = relationship.inverse
      else { continue }
      // The file may name an entity that inherits it, or the destination's former name.
      let found = lookup.declarer(of: inverse[1], from: inverse[0], entities)
      let owner = found ?? lookup.declarer(of: inverse[1], from: relationship.destination, entities)
      if let owner, let index = entities[owner].properties.firstIndex(where: { $0.name == inverse[1] }),
        entities[owner].properties[index].relationship != nil,
        lookup.isKind(relationship.destination, of: entities[owner].name, entities)
      {
        named[place] = PropertyPlace(entity: owner, property: index)
        guard found == nil else { continue }
        let path = Self.path(place, entities)
        note(
          lines[path],
          "inverseEntity=\"\(inverse[0])\" of \(path) has no \(inverse[1]): that of \(relationship.destination) is meant"
        )
      } else {
        let reason = owner == nil ? "does not exist" : "is no relationship of \(relationship.destination)"
        drop(&entities, place, "the inverse \(inverse.joined(separator: ".")), which \(reason)")
      }
    }
    pair(&entities, named, lookup)
  }

  private mutating func pair(
    _ entities: inout [ModelDocument.Entity], _ given: [PropertyPlace: PropertyPlace], _ lookup: EntityLookup
  ) {
    var named = given
    // Relationships that name one which does not name them in return.
    var claims = Self.relationships(of: entities).filter { place in
      given[place].map { given[$0] != place } ?? false
    }
    while !claims.isEmpty {
      var claimants: [PropertyPlace: Int] = [:]
      for place in claims { if let inverse = named[place] { claimants[inverse, default: 0] += 1 } }
      func canPair(_ place: PropertyPlace) -> Bool {
        guard let inverse = named[place], named[inverse].map({ named[$0] != inverse }) ?? true else {
          return false
        }
        let destination =
          entities[inverse.entity].properties[inverse.property].relationship?.destination ?? ""
        return lookup.isKind(destination, of: entities[place.entity].name, entities)
      }
      if let index = claims.firstIndex(where: { !canPair($0) }) {
        disown(&entities, claims.remove(at: index), &named)
      } else if let index = claims.firstIndex(where: { place in
        named[place].map { named[$0] == nil && claimants[$0] == 1 } ?? false
      }) {
        let place = claims.remove(at: index)
        guard let inverse = named[place] else { continue }
        named[inverse] = place
        let other = Self.path(inverse, entities)
        note(
          lines[other],
          "\(other) names no inverse, and is that of \(Self.path(place, entities)), which names it")
      } else {
        // Several name one, or each names one that names another. None of them is meant more than the others.
        let rivals = claims.filter { place in
          named[place].map { named[$0] == nil && claimants[$0, default: 0] > 1 } ?? false
        }
        let first = rivals.first.flatMap { named[$0] }
        let dropped = first.map { first in rivals.filter { named[$0] == first } } ?? claims
        let reasons = dropped.map { place -> String? in
          let others = dropped.filter { $0 != place }.map { Self.path($0, entities) }
          return first == nil
            ? nil : "\(ModelChecks.list(others)) \(others.count == 1 ? "names" : "name"), too"
        }
        for (place, reason) in zip(dropped, reasons) { disown(&entities, place, &named, reason) }
        claims.removeAll { dropped.contains($0) }
      }
    }
    for (place, inverse) in named {
      let names = [entities[inverse.entity].name, entities[inverse.entity].properties[inverse.property].name]
      entities[place.entity].properties[place.property].relationship?.inverse = names
      guard entities[place.entity].properties[place.property].isTransient == true,
        entities[inverse.entity].properties[inverse.property].isTransient != true
      else { continue }
      entities[place.entity].properties[place.property].isTransient = nil
      entities[place.entity].properties[place.property].modelFile?["transient"] = "YES"
      let path = Self.path(place, entities)
      note(
        lines[path],
        "\(path) is transient, and its inverse \(Self.path(inverse, entities)) is not: both are stored")
    }
  }

  private mutating func disown(
    _ entities: inout [ModelDocument.Entity], _ place: PropertyPlace,
    _ named: inout [PropertyPlace: PropertyPlace], _ given: String? = nil
  ) {
    guard let inverse = named.removeValue(forKey: place) else { return }
    let reason =
      given ?? named[inverse].map { "names \(Self.path($0, entities))" } ?? "does not name it in return"
    drop(&entities, place, "the inverse \(Self.path(inverse, entities)), which \(reason)")
  }

  private mutating func drop(_ entities: inout [ModelDocument.Entity], _ place: PropertyPlace, _ what: String)
  {
    let inverse = entities[place.entity].properties[place.property].relationship?.inverse
    entities[place.entity].properties[place.property].relationship?.inverse = nil
    entities[place.entity].properties[place.property].modelFile?["inverseEntity"] = inverse?[0]
    entities[place.entity].properties[place.property].modelFile?["inverseName"] = inverse?[1]
    let path = Self.path(place, entities)
    note(lines[path], "\(path) names \(what): it has no inverse")
  }

  private static func relationships(of entities: [ModelDocument.Entity]) -> [PropertyPlace] {
    entities.indices.flatMap { entity in
      entities[entity].properties.indices.filter { entities[entity].properties[$0].relationship != nil }
        .map { PropertyPlace(entity: entity, property: $0) }
    }
  }

  private static func path(_ place: PropertyPlace, _ entities: [ModelDocument.Entity]) -> String {
    "\(entities[place.entity].name).\(entities[place.entity].properties[place.property].name)"
  }

  // MARK: Constraints and indexes

  private mutating func checkConstraints(
    of entities: inout [ModelDocument.Entity], _ place: Int, _ lookup: EntityLookup
  ) {
    let owner = entities[place].name
    var constraints: [[String]] = []
    for given in entities[place].uniquenessConstraints {
      let line = lines[Self.path(ofConstraint: given, owner)] ?? lines[owner]
      var names: [String] = []
      for name in given where !names.contains(name) { names.append(name) }
      let text = names.joined(separator: ", ")
      if names.isEmpty {
        note(line, "a uniqueness constraint of \(owner) has no properties, and is left out")
      } else if constraints.contains(names) {
        note(line, "the uniqueness constraint of \(owner) on \(text) is there twice, and is read once")
      } else if let reason = names.compactMap({
        reason(against: $0, of: owner, entities, lookup, isUnique: true)
      })
      .first {
        note(line, "the uniqueness constraint of \(owner) on \(text) is left out: \(reason)")
      } else if names.contains(where: { lookup.column($0, of: owner, entities) == nil }) {
        let attributes = ModelChecks.list(lookup.attributes(of: owner, entities))
        for name in names where lookup.column(name, of: owner, entities) == nil {
          mistake(
            line,
            "a uniqueness constraint of \(owner) names \"\(name)\", which is none of its properties: \(attributes)"
          )
        }
      } else {
        constraints.append(names)
        for name in names { keepInRow(name, of: owner, &entities, lookup, "it must be unique") }
      }
    }
    entities[place].uniquenessConstraints = constraints
  }

  private mutating func checkIndexes(
    of entities: inout [ModelDocument.Entity], _ place: Int, _ lookup: EntityLookup
  ) {
    let owner = entities[place].name
    var indexes: [ModelDocument.Index] = []
    for given in entities[place].indexes {
      let line = lines["\(owner) \(given.name)"] ?? lines[owner]
      guard var index = readable(given, of: owner, line, entities, lookup) else { continue }
      if let same = indexes.first(where: { $0.name == index.name }) {
        // An attribute that is indexed, and an index of it.
        if same == index { continue }
        var number = 2
        while indexes.contains(where: { $0.name == "\(index.name) \(number)" }) { number += 1 }
        note(
          line,
          "two indexes of \(owner) are called \(index.name), of which one is read as \"\(index.name) \(number)\""
        )
        index.name += " \(number)"
      }
      indexes.append(index)
    }
    entities[place].indexes = indexes
  }

  /// The index without elements that cannot be indexed; nil if nothing is left of it.
  private mutating func readable(
    _ given: ModelDocument.Index, of owner: String, _ line: Int?, _ entities: [ModelDocument.Entity],
    _ lookup: EntityLookup
  ) -> ModelDocument.Index? {
    let isRange = given.collation != nil
    var index = ModelDocument.Index(
      name: given.name, properties: [], isAscending: [], collation: given.collation,
      expressionTypes: given.expressionTypes.map { _ in [] }, condition: given.condition)
    for (element, name) in given.properties.enumerated() {
      let isExpression = given.expressionTypes?[element].isEmpty == false
      if !isExpression,
        let reason = reason(against: name, of: owner, entities, lookup, isUnique: false, isRange: isRange)
      {
        note(line, "\(name) is left out of the index \(given.name) of \(owner): \(reason)")
        continue
      }
      index.properties.append(name)
      index.isAscending.append(given.isAscending[element])
      if let types = given.expressionTypes { index.expressionTypes?.append(types[element]) }
    }
    if index.expressionTypes?.allSatisfy(\.isEmpty) == true { index.expressionTypes = nil }
    let isComplete =
      isRange ? Set(index.properties).count == 2 && index.properties.count == 2 : !index.properties.isEmpty
    guard isComplete else {
      note(
        line,
        isRange
          ? "the index \(given.name) of \(owner) is left out: an index of the type RTree is of two attributes"
          : "the index \(given.name) of \(owner) is left out: nothing of it can be indexed")
      return nil
    }
    return index
  }

  /// Why a property can be in no constraint or index; nil if it can, or a constraint names what there is not, which is a mistake.
  private func reason(
    against name: String, of owner: String, _ entities: [ModelDocument.Entity], _ lookup: EntityLookup,
    isUnique: Bool, isRange: Bool = false
  ) -> String? {
    guard let property = lookup.column(name, of: owner, entities) else {
      if lookup.lineage(of: owner, entities).contains(where: {
        leftOut.contains("\(entities[$0].name).\(name)")
      }) {
        return "\(name) is left out"
      }
      return isUnique ? nil : "\(owner) has no property \(name)"
    }
    if property.isTransient == true { return "\(name) is transient, and not stored" }
    if property.fetched != nil { return "\(name) is a fetched property" }
    if let relationship = property.relationship {
      if relationship.maxCount != 1 { return "\(name) leads to several objects" }
      return isRange ? "\(name) is a relationship" : nil
    }
    guard let attribute = property.attribute, let type = AttributeType(name: attribute.type) else {
      return nil
    }
    if type == .composite { return "\(name) is composite: its elements can be named" }
    if type == .transformable { return "\(name) is transformable, and has no order" }
    if isRange, !type.canBeInRangeIndex { return "\(name) is neither a number nor a date" }
    if !isUnique, type == .binaryData, attribute.allowsExternalBinaryDataStorage {
      return "\(name) may be stored outside of the rows"
    }
    return nil
  }

  /// Has the values of an attribute in its row, whatever it allows.
  private mutating func keepInRow(
    _ name: String, of owner: String, _ entities: inout [ModelDocument.Entity], _ lookup: EntityLookup,
    _ reason: String
  ) {
    for place in lookup.lineage(of: owner, entities) {
      guard let index = entities[place].properties.firstIndex(where: { $0.name == name }),
        let attribute = entities[place].properties[index].attribute,
        attribute.allowsExternalBinaryDataStorage,
        attribute.type == AttributeType.binaryData.name
      else { continue }
      let path = "\(entities[place].name).\(name)"
      entities[place].properties[index].attribute?.allowsExternalBinaryDataStorage = false
      entities[place].properties[index].modelFile?["allowsExternalBinaryDataStorage"] = "YES"
      note(
        lines[path], "\(path) is stored in the rows only, although it allows external storage, as \(reason)")
    }
  }
}

/// Entities by name, and what they inherit.
private struct EntityLookup {
  let places: [String: Int]

  init(_ entities: [ModelDocument.Entity]) {
    places = Dictionary(entities.enumerated().map { ($1.name, $0) }, uniquingKeysWith: { first, _ in first })
  }

  /// The entity and those that it inherits from, as far as they are no circle.
  func lineage(of name: String, _ entities: [ModelDocument.Entity]) -> [Int] {
    var found: [Int] = []
    var seen: Set<Int> = []
    var next = places[name]
    while let place = next, seen.insert(place).inserted {
      found.append(place)
      next = entities[place].superentity.flatMap { places[$0] }
    }
    return found
  }

  /// The first entity of each circle of entities that inherit from one another.
  func circles(_ entities: [ModelDocument.Entity]) -> Set<Int> {
    var found: Set<Int> = []
    // Of entities from which no way leads on that was not taken.
    var known: Set<Int> = []
    for start in entities.indices {
      var way: [Int] = []
      var next: Int? = start
      while let place = next, known.insert(place).inserted {
        way.append(place)
        next = entities[place].superentity.flatMap { places[$0] }
      }
      if let next, let place = way.firstIndex(of: next), let first = way[place...].min() {
        found.insert(first)
      }
    }
    return found
  }

  /// The names of the attributes of an entity.
  func attributes(of name: String, _ entities: [ModelDocument.Entity]) -> [String] {
    lineage(of: name, entities).flatMap { entities[$0].properties }.filter { $0.attribute != nil }.map(\.name)
  }

  func isKind(_ name: String, of ancestor: String, _ entities: [ModelDocument.Entity]) -> Bool {
    name == ancestor || lineage(of: name, entities).contains { entities[$0].name == ancestor }
  }

  /// The entity that declares a property which another one has.
  func declarer(of property: String, from name: String, _ entities: [ModelDocument.Entity]) -> Int? {
    lineage(of: name, entities).first { place in
      entities[place].properties.contains { $0.name == property }
    }
  }

  /// A property that an entity has, or an element of a composite attribute under its full name.
  func column(_ path: String, of name: String, _ entities: [ModelDocument.Entity]) -> ModelDocument.Property?
  {
    let names = path.split(separator: ".").map(String.init)
    guard let first = names.first, let owner = declarer(of: first, from: name, entities) else { return nil }
    var property = entities[owner].properties.first { $0.name == first }
    for name in names.dropFirst() {
      property = property?.attribute?.elements?.first { $0.name == name }
    }
    return property
  }
}
