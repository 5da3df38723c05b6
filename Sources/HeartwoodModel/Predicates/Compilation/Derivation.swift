import Foundation

/// How the store computes the value of a derived attribute.
///
/// Unchecked: a compiled expression never changes.
package struct Derivation: @unchecked Sendable {
  /// A property that the value is read from.
  package struct Source: Sendable {
    /// The relationships from the object to the one that has the property; empty for the object itself.
    package let route: [RelationshipDescription]
    /// Nil for the destinations of the route's last relationship, a to-many relationship, as such.
    package let slot: Int?
  }

  package let attribute: AttributeDescription
  package let slot: Int
  package let sources: [Source]
  /// Nil for the time of the save.
  private let reader: ValueReader?

  /// Whether the value depends on the object's own row only.
  package var isOfOwnRow: Bool { sources.allSatisfy { $0.route.isEmpty } }

  /// - Parameter entity: The attribute's entity or a subentity.
  /// - Throws: `.coreData` if the expression cannot be computed by a store, or its values do not fit the attribute.
  package init(_ attribute: AttributeDescription, of entity: EntityDescription) throws(HeartwoodError) {
    self.attribute = attribute
    slot = attribute.slot
    do throws(HeartwoodError) {
      let expression = try FormatExpression(attribute.derivation ?? "").expression
      if case .function(.now, _) = expression.kind {
        guard attribute.type == .date || ValueKind(attribute.type) == .number else {
          throw .predicate("now() is a date, and the attribute is \(attribute.type.kindName)")
        }
        (sources, reader) = ([], nil)
        return
      }
      var collected = DerivationSources(entity)
      try collected.add(expression)
      sources = collected.sources
      var compiler = ConditionCompiler(entity, nil)
      let isDecimal = attribute.type == .decimal
      let computed = try compiler.computed(compiler.operand(isDecimal ? expression.withDecimals : expression))
      guard computed.kind == .null || computed.kind == ValueKind(attribute.type) else {
        throw .predicate(
          "\(computed.name) is \(computed.kind.name), and the attribute is \(attribute.type.kindName)")
      }
      reader = computed.reader
    } catch {
      throw .model(
        "the derived attribute \(attribute.displayName) cannot be \"\(attribute.derivation ?? "")\": \(error.message)"
      )
    }
  }

  /// The value for a row.
  ///
  /// - Parameters:
  ///   - source: Has the other rows.
  ///   - now: The time of the save.
  /// - Throws: `.managedObjectValidation` if the value does not fit the attribute.
  package func value(of row: RowView, _ key: UInt64, in source: any RowSource, now: Date) throws -> Value {
    let seconds = now.timeIntervalSinceReferenceDate
    let computed =
      try reader?.read(Place(row: row, key: key, source: source, outer: nil))
      ?? (attribute.type == .date ? .date(seconds) : .double(seconds))
    if let stored = computed.stored(as: attribute) { return stored }
    throw HeartwoodError(
      .managedObjectValidation,
      "\(attribute.displayName) holds \(attribute.type), which \(computed), its value for "
        + "\(attribute.entity?.displayName ?? "?") p\(key), does not fit: give the attribute a larger type",
      property: attribute.name)
  }
}

/// Collects the sources of an expression.
private struct DerivationSources {
  private let entity: EntityDescription
  private(set) var sources: [Derivation.Source] = []

  init(_ entity: EntityDescription) { self.entity = entity }

  mutating func add(_ expression: ConditionExpression) throws(HeartwoodError) {
    switch expression.kind {
    case .value: return
    case .path(let path):
      let (route, end) = try start(path)
      guard case .attribute(let attribute, _) = end.end else {
        throw .predicate("\(end.name) is no attribute")
      }
      try add(attribute, route)
    case .aggregate(let aggregate): try add(aggregate)
    case .arithmetic(_, let left, let right):
      try add(left)
      try add(right)
    case .function(let function, let arguments):
      guard ![.now, .random, .randomBelow, .relevance].contains(function) else {
        throw .predicate(
          "the function \(function.rawValue) has other values at each time; now() can be used alone only")
      }
      for argument in arguments { try add(argument) }
    case .refused(let error): throw error
    default:
      throw .predicate(
        "it consists of attributes, attributes over to-one relationships, aggregates of one to-many relationship, arithmetic and functions"
      )
    }
  }

  private mutating func add(_ aggregate: Aggregate) throws(HeartwoodError) {
    let (route, end) = try start(aggregate.path)
    guard case .toMany(let relationship, let destination, let rest) = end.end, aggregate.filter == nil else {
      throw .predicate("@\(aggregate.function.rawValue) follows a to-many relationship, without a condition")
    }
    let whole = route + [try checked(relationship)]
    sources.append(Derivation.Source(route: whole, slot: nil))
    var steps = rest
    if case .path(let element)? = aggregate.element?.kind { steps += element.steps }
    guard !steps.isEmpty else { return }
    let element = try PathResolver(scopes: [(.fetched, destination)]).resolve(PropertyPath(.fetched, steps))
    guard case .attribute(let attribute, _) = element.end, element.hops.isEmpty else {
      throw .predicate("@\(aggregate.function.rawValue) is of an attribute of the destinations themselves")
    }
    try add(attribute, whole)
  }

  /// Adds the to-one relationships that a path begins with.
  private mutating func start(_ path: PropertyPath) throws(HeartwoodError) -> (
    [RelationshipDescription], ResolvedPath
  ) {
    let resolved = try PathResolver(scopes: [(.fetched, entity)]).resolve(path)
    guard resolved.relationships.count == resolved.hops.count else {
      throw .predicate("\(resolved.name) is about one place of an ordered relationship")
    }
    var route: [RelationshipDescription] = []
    for relationship in resolved.relationships {
      sources.append(Derivation.Source(route: route, slot: relationship.slot))
      route.append(try checked(relationship))
    }
    return (route, resolved)
  }

  private mutating func add(
    _ attribute: AttributeDescription, _ route: [RelationshipDescription]
  ) throws(HeartwoodError) {
    guard attribute.derivation == nil else {
      throw .predicate("\(attribute.displayName) is derived itself: write its expression instead")
    }
    sources.append(Derivation.Source(route: route, slot: attribute.slot))
  }

  private func checked(
    _ relationship: RelationshipDescription
  ) throws(HeartwoodError) -> RelationshipDescription {
    guard relationship.inverseRelationship != nil else {
      throw .predicate(
        "\(relationship.displayName) has no inverse, by which the store finds the objects whose values change"
      )
    }
    return relationship
  }
}
