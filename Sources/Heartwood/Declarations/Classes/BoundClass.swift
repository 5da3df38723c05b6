/// A class together with the entity of its objects.
struct BoundClass: BoundObjectClass {
  private let entity: EntityDescription
  private let objectClass: ManagedObject.Type
  private let record: ClassRecord

  /// - Throws: `.coreData` if the class declares a property that the entity does not have, or has with another kind.
  init(_ objectClass: ManagedObject.Type, of entity: EntityDescription) throws(HeartwoodError) {
    self.entity = entity
    self.objectClass = objectClass
    record = try ClassRecord.of(objectClass)
    let properties = Dictionary(
      entity.declaredProperties.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    for declared in record.properties { try check(declared, properties[declared.name]) }
  }

  /// The columns by the offset of their wrappers; of a class without wrappers by the names of the properties.
  func accessTable(_ layout: RowLayout) -> AccessTable {
    let slots = Dictionary(
      entity.declaredProperties.map { ($0.name, $0.slot) }, uniquingKeysWith: { first, _ in first })
    let slotsByOffset = Dictionary(
      record.properties.compactMap { declared in slots[declared.name].map { (declared.offset, $0) } },
      uniquingKeysWith: { first, _ in first })
    return AccessTable(
      instanceSize: record.instanceSize, slotsByOffset: slotsByOffset, layout: layout,
      named: objectClass._declaresProperties ? [] : PropertyHash.columns(of: entity, layout))
  }

  func declarations(_ properties: [PropertyDescription]) -> [DeclaredAttribute?] {
    let byName = Dictionary(record.properties.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    return properties.map { byName[$0.name]?.declaredAttribute(among: record.properties.count) }
  }

  private func check(_ declared: PropertyRecord, _ property: PropertyDescription?) throws(HeartwoodError) {
    let name = "\(objectClass).\(declared.name)"
    switch (declared.note, property) {
    case (_, nil):
      throw .model("\(name) is declared in the class, but \(entity.displayName) has no such property")
    case (.attribute(let record), let attribute as AttributeDescription):
      let type = record.valueType.attributeType
      guard attribute.type == type else {
        throw .model("\(name) is \(type) in the class, but \(attribute.type) in the model")
      }
    case (.relationship(let record), let relationship as RelationshipDescription):
      guard (record.shape != .toOne) == relationship.isToMany else {
        throw .model(
          "\(name) has \(record.shape == .toOne ? "one destination" : "many destinations") in the class, "
            + "but not in the model")
      }
      guard record.shape != .ordered || relationship.isOrdered else {
        throw .model("\(name) is ordered in the class, but not in the model")
      }
    default:
      throw .model(
        "\(name) is an attribute on one side and a relationship on the other: class and model must agree")
    }
  }
}

extension ManagedObject: ObjectClass {
  package static var isPlain: Bool { self == ManagedObject.self }

  package static func bound(to entity: EntityDescription) throws(HeartwoodError) -> any BoundObjectClass {
    try BoundClass(self, of: entity)
  }
}
