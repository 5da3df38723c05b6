import Heartwood
import HeartwoodFaults

/// A random change of a model, with what it means for the objects.
struct PlainChange {
  var version: PlainVersion
  var data: PlainObjects
  var random: SplitMix64
  /// How many entities a change may lead to.
  var mostEntities = 8
  /// Relationships whose order the change does not determine.
  var unordered: Set<Int> = []

  static let types: [AttributeType] = [
    .integer16, .integer32, .integer64, .double, .boolean, .string, .decimal,
  ]

  /// Makes a version with some changes.
  mutating func change(_ count: Int) {
    for place in version.entities.indices { version.entities[place].formerName = nil }
    for place in version.properties.indices { version.properties[place].formerName = nil }
    unordered = []
    var touched: Set<Int> = []
    var made = 0
    for _ in 0..<(count * 8) where made < count {
      if changeOnce(&touched) { made += 1 }
    }
  }

  private mutating func changeOnce(_ touched: inout Set<Int>) -> Bool {
    switch random.below(17) {
    case 0, 1: return addAttribute()
    case 2: return withAttribute(&touched) { $0.remove(property: $1) }
    case 3: return rename(&touched)
    case 4: return renameEntity(&touched)
    case 5: return withAttribute(&touched) { $0.toggleOptional($1) }
    case 6: return withAttribute(&touched) { $0.widen($1) }
    case 7: return withAttribute(&touched) { $0.moveUp($1) }
    case 8: return withAttribute(&touched) { $0.moveDown($1) }
    case 9: return addEntity()
    case 10: return removeEntity(&touched)
    case 11: return addPair()
    case 12: return withRelationship(&touched) { $0.removePair($1) }
    case 13: return withRelationship(&touched) { $0.makeToMany($1) }
    case 14: return withRelationship(&touched) { $0.toggleOrder($1) }
    case 15: return insertParent(&touched)
    default: return moveOut(&touched)
    }
  }

  // MARK: Attributes

  private mutating func withAttribute(
    _ touched: inout Set<Int>, _ body: (inout PlainChange, Int) -> Bool
  ) -> Bool {
    let found = version.properties.filter {
      if case .attribute = $0.kind { return !touched.contains($0.id) }
      return false
    }
    guard !found.isEmpty else { return false }
    let id = random.pick(found).id
    guard body(&self, id) else { return false }
    touched.insert(id)
    return true
  }

  private mutating func addAttribute() -> Bool {
    guard !version.entities.isEmpty else { return false }
    let type = random.pick(Self.types)
    let isOptional = random.below(2) == 0
    let fallback = isOptional && random.below(2) == 0 ? nil : PlainValue.random(type, &random)
    let owner = random.pick(version.entities).id
    let id = version.newID()
    version.properties.append(
      PlainVersion.Property(
        id: id, owner: owner, name: version.newPropertyName(&random),
        kind: .attribute(
          type: type, isOptional: isOptional, fallback: fallback, isIndexed: random.below(3) == 0)))
    setMissing(id)
    return true
  }

  /// Gives the default to objects that get a property.
  private mutating func setMissing(_ id: Int) {
    let property = version.properties[version.place(ofProperty: id)]
    guard case .attribute(_, _, let fallback, _) = property.kind else { return }
    for (place, object) in data.living where version.isKind(object.entity, of: property.owner) {
      data.objects[place]!.values[id] = fallback
    }
  }

  private mutating func remove(property id: Int) -> Bool {
    version.properties.remove(at: version.place(ofProperty: id))
    for (place, _) in data.living {
      data.objects[place]!.values[id] = nil
      data.objects[place]!.targets[id] = nil
    }
    return true
  }

  private mutating func toggleOptional(_ id: Int) -> Bool {
    let place = version.place(ofProperty: id)
    guard
      case .attribute(let type, let isOptional, let fallback, let isIndexed) = version.properties[place].kind
    else { return false }
    let given = fallback ?? PlainValue.random(type, &random)
    version.properties[place].kind = .attribute(
      type: type, isOptional: !isOptional, fallback: given, isIndexed: isIndexed)
    if isOptional {
      let owner = version.properties[place].owner
      for (place, object) in data.living
      where version.isKind(object.entity, of: owner) && object.values[id] == nil {
        data.objects[place]!.values[id] = given
      }
    }
    return true
  }

  private mutating func widen(_ id: Int) -> Bool {
    let place = version.place(ofProperty: id)
    guard
      case .attribute(let type, let isOptional, let fallback, let isIndexed) = version.properties[place].kind
    else { return false }
    let wider: [AttributeType: [AttributeType]] = [
      .boolean: [.integer16, .integer64, .string],
      .integer16: [.integer32, .integer64, .double, .decimal, .string],
      .integer32: [.integer64, .double, .decimal, .string], .integer64: [.decimal, .string],
      .double: [.string], .decimal: [.string],
    ]
    guard let types = wider[type] else { return false }
    let new = random.pick(types)
    version.properties[place].kind = .attribute(
      type: new, isOptional: isOptional, fallback: fallback?.widened(to: new), isIndexed: isIndexed)
    for (place, object) in data.living {
      if let value = object.values[id] { data.objects[place]!.values[id] = value.widened(to: new) }
    }
    return true
  }

  private mutating func moveUp(_ id: Int) -> Bool {
    let place = version.place(ofProperty: id)
    let former = version.properties[place].owner
    guard let parent = version.entity(former).parent else { return false }
    version.properties[place].owner = parent
    guard case .attribute(_, _, let fallback, _) = version.properties[place].kind else { return false }
    for (place, object) in data.living
    where version.isKind(object.entity, of: parent) && !version.isKind(object.entity, of: former) {
      data.objects[place]!.values[id] = fallback
    }
    return true
  }

  private mutating func moveDown(_ id: Int) -> Bool {
    let place = version.place(ofProperty: id)
    let children = version.children(version.properties[place].owner)
    guard !children.isEmpty else { return false }
    let child = random.pick(children).id
    version.properties[place].owner = child
    for (place, object) in data.living where !version.isKind(object.entity, of: child) {
      data.objects[place]!.values[id] = nil
    }
    return true
  }

  private mutating func rename(_ touched: inout Set<Int>) -> Bool {
    let found = version.properties.indices.filter { version.properties[$0].formerName == nil }
    guard !found.isEmpty else { return false }
    let place = random.pick(found)
    let former = version.properties[place].name
    // A property that is new in this version has no former name.
    version.properties[place].formerName = former
    version.properties[place].name = version.newPropertyName(&random)
    return true
  }

  // MARK: Entities

  private mutating func renameEntity(_ touched: inout Set<Int>) -> Bool {
    guard !version.entities.isEmpty else { return false }
    let place = random.below(version.entities.count)
    guard version.entities[place].formerName == nil else { return false }
    version.entities[place].formerName = version.entities[place].name
    version.entities[place].name = version.newName(&random)
    return true
  }

  private mutating func addEntity() -> Bool {
    guard version.entities.count < mostEntities else { return false }
    let parent = random.below(2) == 0 || version.entities.isEmpty ? nil : random.pick(version.entities).id
    version.entities.append(
      PlainVersion.Entity(id: version.newID(), name: version.newName(&random), parent: parent))
    return true
  }

  private mutating func removeEntity(_ touched: inout Set<Int>) -> Bool {
    let leaves = version.entities.filter { version.children($0.id).isEmpty && !touched.contains($0.id) }
    guard leaves.count > 2 else { return false }
    let id = random.pick(leaves).id
    for property in version.properties {
      if case .relationship(let destination, let inverse, _, _) = property.kind,
        property.owner == id || destination == id,
        version.properties.contains(where: { $0.id == property.id })
      {
        touched.formUnion([property.id, inverse])
        _ = removePair(property.id)
      }
    }
    for property in version.properties where property.owner == id { _ = remove(property: property.id) }
    let gone = Set(data.living.filter { $0.object.entity == id }.map(\.place))
    for place in gone { data.objects[place] = nil }
    for (place, object) in data.living {
      data.objects[place]!.targets = object.targets.mapValues { $0.filter { !gone.contains($0) } }
    }
    version.entities.removeAll { $0.id == id }
    return true
  }

  private mutating func insertParent(_ touched: inout Set<Int>) -> Bool {
    let roots = version.entities.filter { $0.parent == nil }
    guard !roots.isEmpty, version.entities.count <= mostEntities else { return false }
    let child = random.pick(roots).id
    let id = version.newID()
    version.entities.append(PlainVersion.Entity(id: id, name: version.newName(&random), parent: nil))
    version.entities[version.place(ofEntity: child)].parent = id
    return true
  }

  /// An entity without subentities leaves its hierarchy, and loses what it inherited.
  private mutating func moveOut(_ touched: inout Set<Int>) -> Bool {
    let found = version.entities.filter { $0.parent != nil && version.children($0.id).isEmpty }
    guard !found.isEmpty else { return false }
    let entity = random.pick(found)
    let lost = Set(version.properties(of: entity.id).filter { $0.owner != entity.id }.map(\.id))
    version.entities[version.place(ofEntity: entity.id)].parent = nil
    for (place, object) in data.living where object.entity == entity.id {
      for id in lost {
        data.objects[place]!.values[id] = nil
        data.objects[place]!.targets[id] = nil
      }
    }
    for (place, object) in data.living {
      for (id, targets) in object.targets {
        guard let property = version.properties.first(where: { $0.id == id }),
          case .relationship(let destination, _, _, _) = property.kind
        else { continue }
        data.objects[place]!.targets[id] = targets.filter {
          version.isKind(data.objects[$0]!.entity, of: destination)
        }
      }
    }
    return true
  }

  // MARK: Relationships

  private mutating func withRelationship(
    _ touched: inout Set<Int>, _ body: (inout PlainChange, Int) -> Bool
  ) -> Bool {
    let found = version.properties.filter {
      if case .relationship = $0.kind { return !touched.contains($0.id) }
      return false
    }
    guard !found.isEmpty else { return false }
    let property = random.pick(found)
    guard body(&self, property.id) else { return false }
    if case .relationship(_, let inverse, _, _) = property.kind { touched.formUnion([property.id, inverse]) }
    return true
  }

  mutating func addPair() -> Bool {
    guard !version.entities.isEmpty else { return false }
    let (one, other) = (version.newID(), version.newID())
    let (owner, destination) = (random.pick(version.entities).id, random.pick(version.entities).id)
    for (id, inverse, owner, destination) in [
      (one, other, owner, destination), (other, one, destination, owner),
    ] {
      let isToMany = random.below(3) > 0
      version.properties.append(
        PlainVersion.Property(
          id: id, owner: owner, name: version.newPropertyName(&random),
          kind: .relationship(
            destination: destination, inverse: inverse, isToMany: isToMany,
            isOrdered: isToMany && random.below(3) == 0)))
    }
    return true
  }

  private mutating func removePair(_ id: Int) -> Bool {
    guard case .relationship(_, let inverse, _, _) = version.properties[version.place(ofProperty: id)].kind
    else { return false }
    _ = remove(property: id)
    return remove(property: inverse)
  }

  private mutating func makeToMany(_ id: Int) -> Bool {
    let place = version.place(ofProperty: id)
    guard case .relationship(let destination, let inverse, false, _) = version.properties[place].kind else {
      return false
    }
    version.properties[place].kind = .relationship(
      destination: destination, inverse: inverse, isToMany: true, isOrdered: random.below(3) == 0)
    return true
  }

  private mutating func toggleOrder(_ id: Int) -> Bool {
    let place = version.place(ofProperty: id)
    guard
      case .relationship(let destination, let inverse, true, let isOrdered) = version.properties[place].kind
    else { return false }
    version.properties[place].kind = .relationship(
      destination: destination, inverse: inverse, isToMany: true, isOrdered: !isOrdered)
    if !isOrdered { unordered.insert(id) }
    return true
  }
}
