import Foundation

/// The source of the name of an object's section: an attribute that is read from rows, or a property that only the object has.
enum SectionName {
  case stored(ResolvedPath, Column)
  case computed((ManagedObject) -> Any?)

  /// - Parameter path: Names of properties, separated by dots.
  /// - Throws: `.coreData` if a name is unknown, or the path does not lead to an attribute over to-one relationships.
  init(_ path: String, entity: EntityDescription) throws(HeartwoodError) {
    let names = path.split(separator: ".").map(String.init)
    if let names = Self.transient(names, entity) {
      self = .computed { Self.value(names, of: $0) }
    } else {
      try self.init(PropertyPath(names: path), entity: entity)
    }
  }

  /// - Parameter keyPath: Of stored attributes behind to-one relationships. Any other property is read from the object.
  init(_ keyPath: AnyKeyPath, entity: EntityDescription) throws(HeartwoodError) {
    if let names = try? entity.propertyNames(of: keyPath), Self.transient(names, entity) == nil {
      try self.init(PropertyPath(.fetched).appending(keyPath), entity: entity)
    } else {
      self = .computed { $0[keyPath: keyPath] }
    }
  }

  private init(_ path: PropertyPath, entity: EntityDescription) throws(HeartwoodError) {
    let resolved: ResolvedPath
    do {
      resolved = try PathResolver(scopes: [(.fetched, entity)]).resolve(path)
      try resolved.checkIsInRow()
    } catch {
      throw HeartwoodError(
        error.code,
        error.message.replacing(
          "the predicate is wrong", with: "the path of the section names is wrong", maxReplacements: 1),
        property: error.property)
    }
    guard case .attribute(let attribute, let column) = resolved.end, attribute.type != .composite,
      attribute.type != .transformable
    else {
      throw HeartwoodError(
        .coreData,
        "the path of the section names is wrong: \(resolved.name) is not an attribute whose values have a text",
        property: path.steps.isEmpty ? nil : resolved.name)
    }
    self = .stored(resolved, column)
  }

  /// The to-one relationships to the row that has the name; nil if it is in the object's own row.
  var toOneRoute: [RelationshipDescription]? {
    guard case .stored(let path, _) = self, !path.hops.isEmpty else { return nil }
    return path.relationships
  }

  /// The name of an object's section: the value as text, empty for nil.
  func name(of object: ManagedObject, _ place: Place) throws -> String {
    switch self {
    case .stored(let path, let column):
      guard let owner = try place.following(path.hops) else { return "" }
      return Self.text(owner.row.value(column))
    case .computed(let read):
      return Self.text(read(object))
    }
  }

  private static func text(_ value: Value) -> String {
    switch value {
    case .string(let text), .url(let text): text
    case .null: ""
    case .bool(let flag): flag ? "1" : "0"
    case .date(let seconds): "\(Date(timeIntervalSinceReferenceDate: seconds))"
    default: value.description
    }
  }

  private static func text(_ value: Any?) -> String {
    guard let value else { return "" }
    if let optional = value as? any OptionalText { return optional.wrapped.map { text($0) } ?? "" }
    if let flag = value as? Bool { return flag ? "1" : "0" }
    return "\(value)"
  }

  /// The names, if they lead to a transient attribute.
  private static func transient(_ names: [String], _ entity: EntityDescription) -> [String]? {
    var entity = entity
    for name in names.dropLast() {
      guard let slot = entity.slot(named: name), let relationship = entity.compiled.relationshipBySlot[slot],
        !relationship.isToMany, let destination = relationship.destinationEntity
      else { return nil }
      entity = destination
    }
    guard let last = names.last, let slot = entity.slot(named: last), entity.property(at: slot).isTransient
    else { return nil }
    return names
  }

  private static func value(_ names: [String], of object: ManagedObject) -> Any? {
    var value: Any? = object
    for name in names { value = (value as? ManagedObject)?.value(forKey: name) }
    return value
  }
}

/// Optional values behind `Any`.
private protocol OptionalText {
  var wrapped: Any? { get }
}

extension Optional: OptionalText {
  fileprivate var wrapped: Any? { self }
}
