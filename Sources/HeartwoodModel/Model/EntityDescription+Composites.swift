import HeartwoodBytes

/// Composite attributes as columns: each is one itself, followed by its elements under their full names.
extension EntityDescription {
  /// The entity's own properties with the elements of composite attributes, in slot order.
  package var ownColumns: [PropertyDescription] {
    ownProperties.sorted { $0.name < $1.name }.flatMap { property -> [PropertyDescription] in
      if property is FetchedPropertyDescription { return [] }
      guard let composite = property as? CompositeAttributeDescription else { return [property] }
      return [composite] + composite.columns
    }
  }

  /// All properties and elements of composite attributes by their full names, inherited ones included.
  package var columnsByName: [String: PropertyDescription] {
    Dictionary(
      lineage.flatMap(\.ownColumns).map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
  }

  func elementNames(of composite: AttributeDescription) -> [String] {
    slot(named: composite.name).flatMap { compiled.composites[$0] }?.map(\.name) ?? []
  }

  /// The slots of the elements of composite attributes, by the slot of the whole.
  static func composites(_ columns: [PropertyDescription]) -> [Int: [(name: String, slot: Int)]] {
    var composites: [Int: [(name: String, slot: Int)]] = [:]
    for (slot, column) in columns.enumerated() where column is CompositeAttributeDescription {
      let start = column.name + "."
      composites[slot] = columns.indices.compactMap { other in
        guard columns[other].name.hasPrefix(start) else { return nil }
        let name = String(columns[other].name.dropFirst(start.count))
        return name.contains(".") ? nil : (name, other)
      }
    }
    return composites
  }

  /// By slot, the slot of the composite attribute that a column is an element of; empty if there are no composite attributes.
  static func wholes(of composites: [Int: [(name: String, slot: Int)]], slotCount: Int) -> [Int?] {
    guard !composites.isEmpty else { return [] }
    var wholes = [Int?](repeating: nil, count: slotCount)
    for (whole, elements) in composites {
      for element in elements { wholes[element.slot] = whole }
    }
    return wholes
  }

  /// Whether a column is an element of a composite attribute that has no value: it has none either, whatever its default.
  package static func isElementOfNothing(_ slot: Int, _ wholes: [Int?], _ isNull: (Int) -> Bool) -> Bool {
    guard !wholes.isEmpty, let whole = wholes[slot] else { return false }
    return isNull(whole) || isElementOfNothing(whole, wholes, isNull)
  }

  /// The value of a column of a new row for which some values are given.
  package func value(at slot: Int, given values: [Value?]) -> Value {
    let compiled = compiled
    guard !compiled.wholes.isEmpty else { return values[slot] ?? compiled.defaults[slot] }
    func value(_ slot: Int) -> Value { values[slot] ?? defaultValue(at: slot) }
    return Self.isElementOfNothing(slot, compiled.wholes) { value($0).isNull } ? .null : value(slot)
  }

  /// The defaults of the other elements of composite attributes around an element, as far as those have no value before it gets one.
  package func defaults(beside slot: Int, _ value: (Int) -> Value) -> [(slot: Int, value: Value)] {
    let around = compositeSlots(around: slot)
    return around.filter { value($0).isNull }.flatMap { whole in
      (compiled.composites[whole] ?? []).filter { $0.slot != slot && !around.contains($0.slot) }
        .flatMap { defaults(at: $0.slot) }
    }
  }

  /// The default of a column, and those of its elements if it is composite and has a value by default.
  private func defaults(at slot: Int) -> [(slot: Int, value: Value)] {
    let value = defaultValue(at: slot)
    let elements = value.isNull ? [] : compiled.composites[slot] ?? []
    return [(slot, value)] + elements.flatMap { defaults(at: $0.slot) }
  }

  /// The stored form of an attribute's value: of a composite one, a list of its elements in the order of their names.
  package func wholeValue(at slot: Int, _ value: (Int) -> Value) -> Value {
    guard let elements = compiled.composites[slot] else { return value(slot) }
    return value(slot).isNull ? .null : .list(elements.map { wholeValue(at: $0.slot, value) })
  }

  /// The value of an attribute by name: of a composite one, a dictionary of the elements that have a value.
  package func anyWhole(at slot: Int, _ value: (Int) -> Value) -> Any? {
    guard let elements = compiled.composites[slot] else { return anyValue(value(slot), at: slot) }
    guard !value(slot).isNull else { return nil }
    var whole: [String: Any] = [:]
    for (name, slot) in elements { whole[name] = anyWhole(at: slot, value) }
    return whole
  }

  /// The values of the columns that a stored form consists of.
  package func columnValues(of stored: Value, at slot: Int) -> [(slot: Int, value: Value)] {
    guard let elements = compiled.composites[slot] else { return [(slot, stored)] }
    guard case .list(let values) = stored, values.count == elements.count else {
      return [(slot, .null)] + elements.flatMap { columnValues(of: .null, at: $0.slot) }
    }
    return [(slot, .bool(true))]
      + zip(elements, values).flatMap { element, value in columnValues(of: value, at: element.slot) }
  }

  /// The values of the columns for a value given by name.
  ///
  /// - Throws: `.managedObjectValidation` if the value does not fit.
  package func columnValues(ofAny value: Any?, at slot: Int) throws(HeartwoodError) -> [(
    slot: Int, value: Value
  )] {
    guard let elements = compiled.composites[slot] else { return [(slot, try storedValue(value, at: slot))] }
    if let composite = value as? any CompositeValue {
      let columns = columnValues(of: composite._value, at: slot)
      for column in columns where column.slot != slot && compiled.composites[column.slot] == nil {
        guard
          column.value.isNull || attribute(at: column.slot).map({ column.value.fitted(to: $0.type) }) != nil
        else { throw unfittingComposite(slot, "\(type(of: composite)) has other elements") }
      }
      return columns
    }
    guard let value, Value(any: value, for: .undefined) != .null else {
      return columnValues(of: .null, at: slot)
    }
    guard let parts = value as? [String: Any] else {
      throw unfittingComposite(slot, "a dictionary of its elements is needed, not \(type(of: value))")
    }
    let names = Set(elements.map(\.name))
    if let unknown = parts.keys.filter({ !names.contains($0) }).min() {
      throw unfittingComposite(slot, "it has no element \"\(unknown)\", but \(ModelChecks.list(names))")
    }
    var columns: [(slot: Int, value: Value)] = [(slot, .bool(true))]
    for element in elements { columns += try columnValues(ofAny: parts[element.name], at: element.slot) }
    return columns
  }

  private func unfittingComposite(_ slot: Int, _ reason: String) -> HeartwoodError {
    let property = property(at: slot)
    return HeartwoodError(
      .managedObjectValidation, "\(property.displayName) cannot be set: \(reason)", property: property.name)
  }

  /// The slots of the composite attributes that a column is in, the outermost first.
  package func compositeSlots(around slot: Int) -> [Int] {
    let parts = property(at: slot).name.split(separator: ".").dropLast()
    return parts.indices.compactMap { self.slot(named: parts[...$0].joined(separator: ".")) }
  }

  /// Whether the history keeps a column of a deleted, or of a changed object: an attribute that says so, or an element of a composite one that does.
  package func isPreserved(_ slot: Int, by flag: KeyPath<AttributeDescription, Bool>) -> Bool {
    ([slot] + (isElement(slot) ? compositeSlots(around: slot) : [])).contains {
      guard let attribute = attribute(at: $0) else { return false }
      return attribute[keyPath: flag] && !attribute.isTransient
    }
  }

  /// Whether a column is an element of a composite attribute.
  package func isElement(_ slot: Int) -> Bool {
    !compiled.composites.isEmpty && property(at: slot).name.contains(".")
  }
}

extension PropertyDescription {
  /// The full name: of an element of a composite attribute, `address.city`.
  package final var path: String { (self as? AttributeDescription)?.fullName ?? name }

  /// The entity that declares the property, or the composite attribute that it is an element of.
  final var owner: EntityDescription? { (self as? AttributeDescription)?.outermost.entity ?? entity }
}

extension AttributeDescription {
  /// The default in stored form; null also for one that does not fit.
  var convertedDefault: Value {
    if let givenDefault { return storedForm(of: givenDefault) ?? .null }
    guard type == .composite, !isOptional else { return defaultStoredValue }
    return .bool(true)
  }
}

extension CompositeAttributeDescription {
  func freezeElements() {
    for attribute in elements + columns {
      // A frozen attribute answers with the stored form.
      if attribute.givenDefault != nil { attribute.defaultStoredValue = attribute.convertedDefault }
      attribute.isFrozen = true
      if elements.contains(where: { $0 === attribute }) {
        (attribute as? CompositeAttributeDescription)?.freezeElements()
      }
    }
  }
}
