import Foundation

/// Comparisons of a property with a constant: the common kind, with tests that read the row's bytes directly.
extension ConditionCompiler {
  func compile(
    _ path: ResolvedPath, _ comparator: ComparisonOperator, _ value: Value, _ options: ComparisonOptions
  ) throws(HeartwoodError) -> CompiledPart {
    try checkShape(path, comparator, value)
    let part: CompiledPart
    switch path.end {
    case .attribute(let attribute, let column):
      part = try AttributeComparison(path, attribute, column, comparator, options).compile(value)
    case .toOne(_, let column, let entity):
      part = try IdentityComparison(path, entity, comparator, store).compile(value, column)
    case .object(let entity):
      part = try IdentityComparison(path, entity, comparator, store).compile(value, nil)
    case .entity(let entity): part = try compile(path, entity, comparator, value, options)
    case .toMany: throw .predicate("\(path.name) is a to-many relationship", column: path.column)
    }
    return reaching(part, path, resultForNull: comparator.holds(.null, value, options))
  }

  private func checkShape(
    _ path: ResolvedPath, _ comparator: ComparisonOperator, _ value: Value
  ) throws(HeartwoodError) {
    let isList = if case .list = value { true } else { false }
    let wantsList = comparator == .isIn || comparator == .between
    if wantsList && !isList {
      throw .predicate(
        "\(path.name) \(comparator.rawValue) needs a list, not \(value.shortText)", column: path.column)
    }
    if isList && !wantsList, case .attribute(let attribute, _) = path.end, attribute.type == .composite {
      throw .predicate(
        "\(path.name) is a composite value and can be compared with nil only; compare its elements",
        column: path.column)
    }
    if isList && !wantsList {
      throw .predicate(
        "\(path.name) can be compared with a list only by IN or BETWEEN", column: path.column)
    }
    if comparator == .between && value.elements.count != 2 {
      throw .predicate(
        "BETWEEN needs a list of two values, the lower and the upper bound, not of \(value.elements.count)",
        column: path.column)
    }
  }

  /// The part as a condition on the object that the path starts from.
  private func reaching(_ part: CompiledPart, _ path: ResolvedPath, resultForNull: Bool) -> CompiledPart {
    guard !path.isOwnRow else { return part }
    let through =
      path.hops.isEmpty ? part.test : ThroughTest(path.hops, part.test, resultForNull: resultForNull)
    if path.outward > 0 { return CompiledPart(OuterTest(path.outward, through)) }
    // If nil satisfies the comparison, objects without a destination match too, and no index finds them.
    guard !resultForNull else { return CompiledPart(through) }
    guard path.hops.allSatisfy(\.isToOne) else { return CompiledPart(through) }
    let conjunct = path.hops.reversed().reduce(part.conjunct) { inner, hop in
      switch inner {
      case .other, .constant(true): .other
      case .constant(false): .constant(false)
      default: .throughToOne(slot: Int(hop.column.slot), inner)
      }
    }
    return CompiledPart(through, conjunct)
  }
}

/// Comparisons of the object's entity.
extension ConditionCompiler {
  private func compile(
    _ path: ResolvedPath, _ entity: EntityDescription, _ comparator: ComparisonOperator, _ value: Value,
    _ options: ComparisonOptions
  ) throws(HeartwoodError) -> CompiledPart {
    guard options.isEmpty, comparator == .equal || comparator == .notEqual || comparator == .isIn else {
      return CompiledPart(
        ComputedTest(EntityNameReader(entity.compiled.family), comparator, ConstantReader(value), options))
    }
    var numbers: Set<UInt16> = []
    let entities = entity.compiled.family.entities
    for member in comparator == .isIn ? value.elements : [value] where !member.isNull {
      guard let name = member.text else {
        throw .predicate(
          "\(path.name) is an entity and cannot be compared with \(member.shortText); it wants an entity or its name",
          column: path.column)
      }
      guard let found = entities.first(where: { $0.displayName == name }) else {
        let names = entities.map(\.displayName).sorted().joined(separator: ", ")
        throw .predicate("\(path.name) is never '\(name)': it is one of \(names)", column: path.column)
      }
      numbers.insert(found.number)
    }
    return CompiledPart(EntityTest(numbers, isMemberWanted: comparator != .notEqual))
  }
}

/// Compiles comparisons of a relationship, or of the object itself, with constants.
struct IdentityComparison {
  private let path: ResolvedPath
  private let entity: EntityDescription
  private let comparator: ComparisonOperator
  private let store: StoreIdentity?

  init(
    _ path: ResolvedPath, _ entity: EntityDescription, _ comparator: ComparisonOperator,
    _ store: StoreIdentity?
  ) {
    self.path = path
    self.entity = entity
    self.comparator = comparator
    self.store = store
  }

  /// - Parameter column: the to-one relationship's column; nil for the object itself.
  func compile(_ value: Value, _ column: Column?) throws(HeartwoodError) -> CompiledPart {
    var identifiers: [ManagedObjectID] = []
    var includesNull = false
    for member in comparator == .isIn ? value.elements : [value] {
      // A list may have objects of several entities: the others are never equal.
      if comparator == .isIn, isOfOtherEntity(member) { continue }
      guard let identifier = try identifier(member) else {
        includesNull = true
        continue
      }
      if let identifier = here(identifier) { identifiers.append(identifier) }
    }
    guard comparator == .equal || comparator == .notEqual || comparator == .isIn else {
      throw .predicate(
        "\(path.name) is an object: it can be compared by ==, != and IN only", column: path.column)
    }
    let isWanted = comparator != .notEqual
    guard let column else { return itself(identifiers, isWanted) }
    return toOne(column, identifiers, includesNull, isWanted)
  }

  /// Compares the object itself, which is never nil.
  private func itself(_ identifiers: [ManagedObjectID], _ isWanted: Bool) -> CompiledPart {
    let keys = identifiers.map(\.key).withoutRepetitions
    return CompiledPart(
      IdentityTest(Set(keys), isMemberWanted: isWanted), isWanted ? .identity(keys) : .other)
  }

  private func toOne(
    _ column: Column, _ identifiers: [ManagedObjectID], _ includesNull: Bool, _ isWanted: Bool
  ) -> CompiledPart {
    let slot = Int(column.slot)
    if identifiers.isEmpty {
      guard includesNull else { return CompiledPart(!isWanted) }
      return CompiledPart(
        NullTest(column, isNullWanted: isWanted), isWanted ? .equal(slot: slot, value: .null) : .other)
    }
    let values = identifiers.map(Value.object).withoutRepetitions + (includesNull ? [.null] : [])
    if values.count == 1 {
      let key = Int64(bitPattern: identifiers[0].key)
      let test = IntegerTest(column, key...key, isInsideWanted: isWanted)
      return CompiledPart(test, isWanted ? .equal(slot: slot, value: values[0]) : .other)
    }
    let keys = Set(identifiers.map { Int64(bitPattern: $0.key) })
    return CompiledPart(IntegerSetTest(column, keys, includesNull: includesNull), .isIn(slot: slot, values))
  }

  /// The identifier as this store has it; nil if it is of another one: its objects are never found in this.
  private func here(_ identifier: ManagedObjectID) -> ManagedObjectID? {
    guard let store else { return identifier }
    return identifier.localized(in: store)
  }

  /// Whether a constant is an object of the same model whose entity the path cannot have.
  private func isOfOtherEntity(_ value: Value) -> Bool {
    guard case .object(let identifier) = value else { return false }
    return identifier.entity.rootEntity !== entity.rootEntity && identifier.entity.model === entity.model
  }

  /// The identifier that a constant denotes; nil for a null constant.
  private func identifier(_ value: Value) throws(HeartwoodError) -> ManagedObjectID? {
    switch value {
    case .null: return nil
    case .object(let identifier):
      guard !RetiredKeys.contains(identifier.key) else {
        throw .predicate(
          "\(path.name) is compared with \(identifier), the temporary identifier of an object that was saved since: use the objectID that "
            + "it has now, or the object itself",
          column: path.column)
      }
      guard identifier.entity.rootEntity === entity.rootEntity else {
        let isOfAnotherModel = identifier.entity.displayName == entity.displayName
        throw mismatch(
          "an object of \(identifier.entity.displayName)" + (isOfAnotherModel ? " of another model" : ""))
      }
      return identifier
    case .string(let text), .url(let text):
      guard let identifier = ManagedObjectID(text: text, below: entity.rootEntity) else {
        throw mismatch(value.shortText)
      }
      return identifier
    default: throw mismatch(value.shortText)
    }
  }

  private func mismatch(_ found: String) -> HeartwoodError {
    .predicate(
      "\(path.name) is an object and cannot be compared with \(found); it wants an object of \(entity.displayName), "
        + "or its identifier", column: path.column)
  }
}

extension ManagedObjectID {
  /// The identifier with this text, if its entity is in the root entity's family.
  fileprivate init?(text: String, below root: EntityDescription) {
    guard let uri = URL(string: text), let parts = Self.parts(of: uri),
      let entity = root.compiled.family.entities.first(where: { $0.name == parts.entityName })
    else { return nil }
    self.init(entity: entity, key: parts.key, store: StoreIdentity(uuid: parts.store))
  }
}
