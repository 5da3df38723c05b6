/// A uniqueness constraint, to check values before objects are made of them.
package struct UniquenessConstraint: Hashable {
  /// The name of the entity that declares it, for whose objects and those of whose subentities it holds.
  package let entity: String
  /// The attributes and to-one relationships whose values together are unique; elements of composite attributes under their full names.
  package let names: [String]

  /// The values of an object under a constraint: equal if the store takes them for the same.
  package struct Values: Hashable {
    fileprivate let values: [Value]
    /// Whether the store can't have them, because one is an object that is not saved yet.
    package let haveUnsavedObjects: Bool
    private let bytes: [UInt8]

    fileprivate init(_ values: [Value], _ unsaved: [UnsavedObject]) {
      self.values = values
      haveUnsavedObjects = !unsaved.isEmpty
      var bytes: [UInt8] = []
      for value in values { value.appendOrderedKey(to: &bytes) }
      for object in unsaved { Value.int(Int64(object.number)).appendOrderedKey(to: &bytes) }
      self.bytes = bytes
    }

    /// - Parameter stored: In the order of the constraint's names, in stored form.
    /// - Returns: nil if one is missing.
    init?(_ stored: [Value]) {
      guard !stored.contains(where: \.isNull) else { return nil }
      self.init(stored, [])
    }

    package static func == (left: Values, right: Values) -> Bool { left.bytes == right.bytes }
    package func hash(into hasher: inout Hasher) { hasher.combine(bytes) }
  }

  /// The destination of a to-one relationship that is not saved yet, by a number of the caller's.
  package struct UnsavedObject {
    package let number: Int

    package init(number: Int) { self.number = number }
  }
}

extension EntityDescription {
  /// The constraints that objects of the entity satisfy, inherited ones included. Those with a derived attribute are not among them: the
  /// store computes its values.
  package var inheritedUniquenessConstraints: [UniquenessConstraint] {
    let columns = columnsByName
    return lineage.flatMap { ancestor in
      ancestor.uniquenessConstraints.filter { !$0.contains { columns[$0] is DerivedAttributeDescription } }
        .map { UniquenessConstraint(entity: ancestor.displayName, names: $0) }
    }
  }

  /// The values of an object of the entity under a constraint; nil if one is missing, which no other object's equal, or does not fit.
  ///
  /// - Parameter values: In the order of the constraint's names, in the types of `value(forKey:)`, identifiers for objects, and
  ///   `UnsavedObject` for those that are not saved yet.
  package func constrained(_ values: [Any?], by constraint: UniquenessConstraint) -> UniquenessConstraint
    .Values?
  {
    var stored: [Value] = []
    var unsaved: [UniquenessConstraint.UnsavedObject] = []
    for (name, value) in zip(constraint.names, values) {
      guard let slot = slot(named: name) else { return nil }
      if let object = value as? UniquenessConstraint.UnsavedObject {
        stored.append(.null)
        unsaved.append(object)
        continue
      }
      if compiled.relationshipBySlot[slot] != nil {
        guard let identifier = value as? ManagedObjectID ?? (value as? ManagedObject)?.objectID else {
          return nil
        }
        stored.append(.object(identifier))
        continue
      }
      guard let value = attribute(at: slot)?.storedForm(of: value), !value.isNull else { return nil }
      stored.append(value)
    }
    return UniquenessConstraint.Values(stored, unsaved)
  }

  /// The default value of an attribute, or of an element of a composite one under its full name, as a new object has it.
  ///
  /// - Parameter hasValue: Whether the object is given a composite attribute, or an element of it.
  package func defaultValue(ofColumn name: String, _ hasValue: (String) -> Bool) -> Any? {
    guard let slot = slot(named: name), let attribute = attribute(at: slot) else { return nil }
    let isElementOfNothing =
      isElement(slot)
      && compositeSlots(around: slot).contains {
        initialValue(at: $0).isNull && !hasValue(property(at: $0).name)
      }
    return isElementOfNothing ? nil : defaultValue(at: slot).anyValue(attribute.type)
  }
}

extension UniquenessConstraint {
  /// The saved object that has these values under this constraint; nil if there is none. One descent of the constraint's index.
  ///
  /// - Parameters:
  ///   - entity: An entity for which the constraint holds.
  ///   - context: The context that reads.
  /// - Throws: If the store cannot be read.
  package func holder(
    of values: Values, _ entity: EntityDescription, in context: ManagedObjectContext
  ) throws -> ManagedObjectID? {
    let view = try context.readingView()
    let index = view.indexes(of: entity).first {
      $0.isUnique && $0.entity.displayName == self.entity && $0.propertyNames == names
    }
    guard let index else { return nil }
    let root = entity.rootEntity
    var found: (key: UInt64, entity: EntityDescription)?
    try view.scanIndex(index, IndexRange(equal: values.values), reversed: false) { key in
      guard let row = try view.row(root, key) else { throw HeartwoodError.missingRow(key, index, root) }
      // Long values that begin alike are distinguished by their rows.
      guard Values(index.values(of: row, context.storeIdentity), []) == values else { return true }
      found = (key, try root.entity(numbered: row.entityNumber))
      return false
    }
    return found.map { context.identifier($0.entity, $0.key) }
  }
}
