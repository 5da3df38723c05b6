import Foundation
import HeartwoodArchives

/// Attributes and relationships.
extension CompiledModelReader {
  /// - Parameter owner: The name of the entity, or the path of the composite attribute.
  /// - Returns: Nil if it is left out, with a note or a mistake.
  mutating func property(
    _ object: ArchivedObject, of owner: String, depth: Int = 0
  ) throws(ArchiveError) -> ModelDocument.Property? {
    try take(1)
    guard let name = try text("NSPropertyName", of: object) else {
      throw ArchiveError("a property of \(owner) has no name")
    }
    let path = "\(owner).\(name)"
    noteUnknown(object, path)
    var property = ModelDocument.Property(
      name: name, isOptional: try object.bool("NSIsOptional") ?? false,
      isTransient: try object.bool("NSIsTransient") == true ? true : nil,
      renamingIdentifier: try identifier(object, name),
      versionHashModifier: try text("NSVersionHashModifier", of: object),
      userInfo: try userInfo(of: object, path))
    if object.isKind(of: "NSAttributeDescription") {
      return try read(attribute: object, into: &property, path, depth) ? property : nil
    }
    if depth > 0 {
      note("\(path) is an element of a composite attribute and no attribute, and is left out")
      return nil
    }
    if object.isKind(of: "NSRelationshipDescription") {
      return try read(relationship: object, into: &property, path) ? property : nil
    }
    if object.isKind(of: "NSFetchedPropertyDescription") {
      property.isTransient = nil
      return try read(fetchedProperty: object, into: &property, path) ? property : nil
    }
    note("\(path) is of the class \(object.className.prefix(80)), and is left out")
    return nil
  }

  // MARK: Attributes

  private static let external: Int64 = 4
  private static let kept: Int64 = 16

  private mutating func read(
    attribute object: ArchivedObject, into property: inout ModelDocument.Property, _ path: String,
    _ depth: Int
  ) throws(ArchiveError) -> Bool {
    let type = type(Int(try object.integer("NSAttributeType") ?? 0), path)
    var elements: [ModelDocument.Property]?
    if type == .composite {
      elements = try self.elements(of: object, path, depth)
      if elements == nil { return false }
    }
    let flags = try object.integer("NSFlagsKey") ?? 0
    if flags & ~(Self.external | Self.kept) != 0 {
      note("NSFlagsKey of \(path) is \(flags), of which not all is known; the rest has no effect")
    }
    var attribute = ModelDocument.Attribute(
      type: type.name, defaultValue: try defaultValue(of: object, type, path),
      preservesValueInHistoryOnDeletion: flags & Self.kept != 0,
      allowsExternalBinaryDataStorage: flags & Self.external != 0,
      validationRules: try rules(of: object, type, path), valueTransformerName: nil, valueClassName: nil,
      elements: elements)
    let className = try text("NSAttributeValueClassName", of: object)
    if type == .composite { attribute.valueClassName = className }
    if type == .transformable {
      attribute.valueClassName = className
      attribute.valueTransformerName = try text("NSValueTransformerName", of: object)
      if attribute.valueTransformerName == nil {
        attribute.valueTransformerName = "NSSecureUnarchiveFromData"
        note("\(path) names no transformer: it is read with NSSecureUnarchiveFromData, as by Core Data")
      }
    }
    if object.isKind(of: "NSDerivedAttributeDescription") {
      attribute.derivationExpression = try derivation(of: object, path)
    }
    if type == .composite, property.isTransient == true {
      property.isTransient = nil
      note("\(path) is composite and transient, and is stored: a composite attribute cannot be transient")
    }
    if type == .undefined, property.isTransient != true {
      property.isTransient = true
      note("\(path) has no type, and is read as transient: nothing of it is stored")
    }
    if depth > 0 { dropFlagsOfElement(&property, &attribute, path) }
    if type == .composite || depth > 0 { dropFlagsOfComposite(&attribute, type, path) }
    property.attribute = attribute
    return true
  }

  private mutating func type(_ number: Int, _ path: String) -> AttributeType {
    if let type = AttributeType(rawValue: number) { return type }
    // The type of identifiers, which Core Data has for columns of results only.
    let reason = number == 2000 ? "identifiers of objects" : "\(number)"
    note("\(path) is of the type of \(reason), which no attribute has: it is read without a type")
    return .undefined
  }

  /// An element of a composite attribute is stored, and has a value of its own.
  private mutating func dropFlagsOfElement(
    _ property: inout ModelDocument.Property, _ attribute: inout ModelDocument.Attribute, _ path: String
  ) {
    if property.isTransient == true {
      property.isTransient = nil
      note("\(path) is transient, and is stored: an element of a composite attribute cannot be transient")
    }
    if attribute.derivationExpression != nil {
      attribute.derivationExpression = nil
      note("\(path) is derived, and is not: an element of a composite attribute has a value of its own")
    }
  }

  /// A composite attribute is in the row with all its elements, and is not computed.
  private mutating func dropFlagsOfComposite(
    _ attribute: inout ModelDocument.Attribute, _ type: AttributeType, _ path: String
  ) {
    let reason = type == .composite ? "its type is composite" : "it is an element of a composite attribute"
    if attribute.allowsExternalBinaryDataStorage {
      attribute.allowsExternalBinaryDataStorage = false
      note("NSFlagsKey of \(path) allows external storage, which has no effect, as \(reason)")
    }
    if attribute.derivationExpression != nil {
      attribute.derivationExpression = nil
      note("\(path) is derived, and is not, as \(reason)")
    }
  }

  private mutating func elements(
    of object: ArchivedObject, _ path: String, _ depth: Int
  ) throws(ArchiveError) -> [ModelDocument.Property]? {
    guard depth <= CompositeAttributeDescription.greatestDepth,
      openComposites.insert(object.number ?? -1).inserted
    else {
      note("\(path) is a composite attribute of itself, and is left out")
      return nil
    }
    defer { openComposites.remove(object.number ?? -1) }
    var made: [ModelDocument.Property] = []
    for element in try object.list("NSCompositeElements")?.values() ?? [] {
      guard let element = element.object else {
        throw ArchiveError("an element of \(path) is \(element.kind), no attribute")
      }
      if let property = try property(element, of: path, depth: depth + 1) { made.append(property) }
    }
    if made.isEmpty { note("\(path) is composite and has no elements, and is left out") }
    return made.isEmpty ? nil : made
  }

  private mutating func derivation(of object: ArchivedObject, _ path: String) throws(ArchiveError) -> String?
  {
    let value = try object.value("NSDerivationExpression")
    if value.isNull {
      note("\(path) is derived and has no expression: it is read as a usual attribute")
      return nil
    }
    guard try object.value("NSFilteringPredicate").isNull else {
      note("\(path) is derived of those objects that a predicate selects: it is read as a usual attribute")
      return nil
    }
    return understood("the expression of \(path)", "it is read as a usual attribute") {
      (budget) throws(HeartwoodError) in try ArchivedText.expression(value, budget: &budget)
    }
  }

  /// The text of a default as a model stores it.
  private mutating func defaultValue(
    of object: ArchivedObject, _ type: AttributeType, _ path: String
  ) throws(ArchiveError) -> String? {
    let given = try object.value("NSDefaultValue")
    let text: String?
    switch (type, given) {
    case (_, .null): return nil
    case (.boolean, _): text = given.bool.map { $0 ? "true" : "false" }
    case (.integer16, _), (.integer32, _), (.integer64, _): text = given.integer.map { "\($0)" }
    case (.double, _), (.float, _): text = given.real.map { "\($0)" }
    case (.decimal, .decimal(let number)): text = number.isNaN ? "NaN" : "\(number)"
    case (.decimal, .real(let number)): text = "\(number)"
    case (.decimal, _): text = given.integer.map { "\($0)" }
    case (.date, .date(let date)): text = "\(date.timeIntervalSinceReferenceDate)"
    case (.date, _): text = given.real.map { "\($0)" }
    case (.string, _): text = given.string
    case (.uri, .url(let url)), (.uri, .string(let url)): text = url
    case (.uuid, .uuid(let uuid)): text = uuid.uuidString
    case (.uuid, .string(let string)): text = string
    case (.binaryData, .data(let data)), (.transformable, .data(let data)): text = data.base64EncodedString()
    default: text = nil
    }
    if let value = text.flatMap({ Value(plainText: $0, type: type)?.plainText }) { return value }
    note("the default value of \(path), \(given.kind), is left out, as its type is \(type)")
    return nil
  }

  // MARK: Relationships

  private mutating func read(
    relationship object: ArchivedObject, into property: inout ModelDocument.Property, _ path: String
  ) throws(ArchiveError) -> Bool {
    guard let destination = try self.destination(of: object) else {
      note("\(path) has no destination, and is left out")
      return false
    }
    let number = Int(try object.integer("NSDeleteRule") ?? Int64(DeleteRule.nullifyDeleteRule.rawValue))
    let rule = DeleteRule(rawValue: number)
    if rule == nil { mistake("the delete rule of \(path) is \(number), which is not known") }
    let (least, most) = try counts(of: object, property.isOptional, path)
    var isOrdered = try object.bool("NSIsOrdered") ?? false
    if isOrdered, most == 1 {
      isOrdered = false
      note("\(path) is ordered, which has no effect, as it leads to one object")
    }
    property.relationship = ModelDocument.Relationship(
      destination: destination, inverse: try inverse(of: object, destination),
      deleteRule: (rule ?? .nullifyDeleteRule).rawValue, minCount: least, maxCount: most, isOrdered: isOrdered
    )
    return true
  }

  private func destination(of object: ArchivedObject) throws(ArchiveError) -> String? {
    if let name = try object.object("NSDestinationEntity")?.string("NSEntityName") { return name }
    return try text("_NSDestinationEntityName", of: object)
  }

  private func inverse(of object: ArchivedObject, _ destination: String) throws(ArchiveError) -> [String]? {
    if let inverse = try object.object("NSInverseRelationship"),
      let name = try inverse.string("NSPropertyName")
    {
      return [try inverse.object("NSEntity")?.string("NSEntityName") ?? destination, name]
    }
    return try text("_NSInverseRelationshipName", of: object).map { [destination, $0] }
  }

  /// The counts of destinations that a save requires; 0 for no limit.
  private mutating func counts(
    of object: ArchivedObject, _ isOptional: Bool, _ path: String
  ) throws(ArchiveError) -> (least: Int, most: Int) {
    let least = max(0, Int(clamping: try object.integer("NSMinCount") ?? 0))
    let most = max(0, Int(clamping: try object.integer("NSMaxCount") ?? 0))
    if most == 1 { return (isOptional ? 0 : min(least, 1), 1) }
    if most > 0, least > most {
      note("the least count \(least) of \(path) is above the greatest, \(most), and is left out")
      return (0, most)
    }
    return (least, most)
  }
}
