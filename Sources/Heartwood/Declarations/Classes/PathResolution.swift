import Foundation
import HeartwoodFiles

/// Finds the modelled properties that a key path or a closure reads, by evaluating it on prototypes.
///
/// The result must be exactly the sentinel of the last property read. A key path is evaluated twice with different
/// sentinels, which tells a modelled property from a computed one that reads it.
enum PathResolution {
  /// The names of the properties of a key path, one for each step.
  ///
  /// - Throws: `.coreData` if the path reads anything but modelled properties.
  static func names(of keyPath: AnyKeyPath, from type: ManagedObject.Type) throws(HeartwoodError) -> [String]
  {
    var found: [String]?
    var elements: Set<[String]>?
    for round in 0..<2 {
      let recorder = PropertyRecorder(round: round)
      let result = recorder.listen { () -> Any? in
        let root: Any = ObjectMaking.make(type, PropertyRecorder.entity)
        return root[keyPath: keyPath]
      }
      guard let result else { throw .model("\(keyPath) does not begin at \(type)") }
      let steps = try PathResolution.steps(recorder.accesses, "\(keyPath)", on: type)
      found = steps.map(\.name)
      if let last = recorder.accesses.last, isAnswer(last, of: result) { continue }
      // An element of the composite attribute that was read last.
      let read = Set(elementNames(recorder.accesses.last, steps.last, with: result))
      elements = elements?.intersection(read) ?? read
      if read.isEmpty { throw computed("\(keyPath)", steps) }
    }
    if let elements {
      guard let names = elements.first, elements.count == 1 else {
        throw .model(
          "\(keyPath) reads one of several elements that cannot be told apart: name it in a NamedSort")
      }
      return (found ?? []) + names
    }
    return found ?? []
  }

  /// The single relationship that an inverse closure reads.
  static func inverse(
    of relationship: RelationshipRecord, _ name: String,
    _ closure: (ManagedObject) -> (any RelationshipValue)?
  ) throws(HeartwoodError) -> PropertyRecord {
    let recorder = PropertyRecorder(round: 0)
    let type = relationship.destination
    let result = recorder.listen { closure(ObjectMaking.make(type, PropertyRecorder.entity)) }
    let steps = try PathResolution.steps(recorder.accesses, "the inverse of \(name)", on: type)
    guard steps.count == 1, let access = recorder.accesses.last, let result, isAnswer(access, of: result)
    else {
      throw computed("the inverse of \(name)", steps)
    }
    return steps[0]
  }

  /// The properties read. Each must be read from the object that the read before it returned.
  private static func steps(
    _ accesses: [RecordedAccess], _ name: String, on type: ManagedObject.Type
  ) throws(HeartwoodError) -> [PropertyRecord] {
    var steps: [PropertyRecord] = []
    for access in accesses {
      guard let step = try ClassRecord.of(Swift.type(of: access.object)).property(at: access.offset) else {
        throw .model("\(name) reads a property of \(Swift.type(of: access.object)) that cannot be found")
      }
      steps.append(step)
    }
    guard !steps.isEmpty else {
      throw .model("\(name) touches no property of \(type) that is marked with @Attribute or @Relationship")
    }
    for (access, next) in zip(accesses, accesses.dropFirst()) {
      guard case .destination(let destination) = access.answer, next.object === destination else {
        throw computed(name, steps)
      }
    }
    return steps
  }

  /// The names of the elements of a composite attribute that have a value.
  private static func elementNames(
    _ access: RecordedAccess?, _ step: PropertyRecord?, with result: Any
  ) -> [[String]] {
    guard case .value(let whole)? = access?.answer, let value = (result as? any AttributeValue)?._value,
      let type = step?.attribute?.valueType.withoutOptional as? any CompositeValue.Type
    else { return [] }
    return type.elementNames(in: whole, having: value)
  }

  private static func isAnswer(_ access: RecordedAccess, of result: Any) -> Bool {
    switch access.answer {
    case .value(let value): (result as? any AttributeValue)?._value == value
    case .destination(let object): (result as? any RelationshipValue)?._leads(to: object) == true
    }
  }

  private static func computed(_ name: String, _ steps: [PropertyRecord]) -> HeartwoodError {
    .model(
      "\(name.replacing(/<computed 0x[0-9a-f]+ \((.*)\)>/) { "a property of type \($0.output.1)" }) is computed from \(steps.map(\.name).joined(separator: " and ")): "
        + "only properties marked with @Attribute or @Relationship can be used here")
  }

  // MARK: Key paths

  /// Unchecked: key paths from literals are immutable values, which the compiler cannot assume of all key paths.
  private struct Known: Hashable, @unchecked Sendable {
    let keyPath: AnyKeyPath
    let type: ObjectIdentifier
  }

  private static let cache = Guarded<[Known: [String]]>([:])

  /// As `names(of:from:)`, cached for each key path and class.
  static func cachedNames(
    of keyPath: AnyKeyPath, from type: ManagedObject.Type
  ) throws(HeartwoodError) -> [String] {
    let known = Known(keyPath: keyPath, type: ObjectIdentifier(type))
    if let names = cache.withLock({ $0[known] }) { return names }
    let names = try names(of: keyPath, from: type)
    cache.withLock { $0[known] = names }
    return names
  }
}

extension ManagedObject {
  /// The names of the declared properties that a key path reads, starting at objects of this class; nil if it reads anything else. No model
  /// needs to have the class.
  package static func declaredNames(of keyPath: AnyKeyPath) -> [String]? {
    try? PathResolution.cachedNames(of: keyPath, from: self)
  }

  /// The names of the properties that a key path from this class reads, starting at objects of an entity; nil if these are of another class.
  ///
  /// - Throws: `.coreData` if the path reads anything but modelled properties.
  package static func propertyNames(
    of keyPath: AnyKeyPath, in entity: EntityDescription
  ) throws(HeartwoodError) -> [String]? {
    let objectClass = entity.factory.objectClass
    guard
      objectClass == self || self == ManagedObject.self
        || Superclasses(of: objectClass).contains(where: { $0 == self })
    else { return nil }
    return try PathResolution.cachedNames(of: keyPath, from: objectClass)
  }
}
