import Foundation
import HeartwoodFiles

/// One declared property of a class.
struct PropertyRecord {
  let name: String
  /// Bytes from the start of an instance to the wrapper.
  let offset: Int
  /// The class that declares the property.
  let declaring: ManagedObject.Type
  let note: PropertyNote
  /// The index of the wrapper among those of an instance, in initialisation order.
  let reportIndex: Int

  var attribute: AttributeRecord? {
    if case .attribute(let record) = note { return record }
    return nil
  }

  /// - Parameter count: How many properties the class has.
  func declaredAttribute(among count: Int) -> DeclaredAttribute? {
    attribute.map { record in
      DeclaredAttribute(
        valueType: record.valueType, defaultValue: record.defaultValue,
        hasChangingDefault: record.hasChangingDefault, reportIndex: reportIndex, reportCount: count)
    }
  }

  var relationship: RelationshipRecord? {
    if case .relationship(let record) = note { return record }
    return nil
  }
}

/// The properties that a class declares, found by inspecting prototypes.
///
/// - Invariant: `properties` begins with those of the topmost class; each class's are in declaration order.
final class ClassRecord: @unchecked Sendable {
  let type: ManagedObject.Type
  let instanceSize: Int
  let properties: [PropertyRecord]
  private let indexByOffset: [Int: Int]

  private init(_ type: ManagedObject.Type, instanceSize: Int, properties: [PropertyRecord]) {
    self.type = type
    self.instanceSize = instanceSize
    self.properties = properties
    indexByOffset = Dictionary(
      properties.enumerated().map { ($1.offset, $0) }, uniquingKeysWith: { first, _ in first })
  }

  func property(at offset: Int) -> PropertyRecord? { indexByOffset[offset].map { properties[$0] } }

  private static let known = Guarded<[ObjectIdentifier: ClassRecord]>([:])

  /// The declarations of a class; prototypes are inspected once in a process.
  static func of(_ type: ManagedObject.Type) throws(HeartwoodError) -> ClassRecord {
    if let record = known.withLock({ $0[ObjectIdentifier(type)] }) { return record }
    // Without the lock, because this runs the class's own initialiser. Two threads would compute equal records.
    let record = try learn(type)
    known.withLock { $0[ObjectIdentifier(type)] = record }
    return record
  }

  private static func learn(_ type: ManagedObject.Type) throws(HeartwoodError) -> ClassRecord {
    let instanceSize = InstanceMemory.size(of: type)
    ObjectMaking.check()
    guard type != ManagedObject.self, type._declaresProperties else {
      return ClassRecord(type, instanceSize: instanceSize, properties: [])
    }
    let prototypes = (0..<PropertyRecorder.roundCount).map {
      Prototype(type, round: $0, instanceSize: instanceSize)
    }
    let notes = try mergedNotes(of: prototypes, type)
    let offsets = try Self.offsets(of: notes.count, in: prototypes, type)
    let names = try DeclaredNames(of: prototypes[0], count: notes.count, type)
    let records = notes.indices.map { index in
      PropertyRecord(
        name: names.names[index], offset: offsets[index], declaring: names.declaring[index],
        note: notes[index],
        reportIndex: index)
    }
    return ClassRecord(type, instanceSize: instanceSize, properties: superclassFirst(records))
  }

  /// Puts the properties of superclasses first: Swift initialises the wrappers of a subclass before those of its
  /// superclass.
  private static func superclassFirst(_ records: [PropertyRecord]) -> [PropertyRecord] {
    var runs: [[PropertyRecord]] = []
    for record in records {
      if let last = runs.last?.last, last.declaring == record.declaring {
        runs[runs.count - 1].append(record)
      } else {
        runs.append([record])
      }
    }
    return runs.reversed().flatMap { $0 }
  }

  /// The notes of all prototypes as one list. A default that differs between prototypes is marked as changing.
  private static func mergedNotes(
    of prototypes: [Prototype], _ type: ManagedObject.Type
  ) throws(HeartwoodError) -> [PropertyNote] {
    var notes = prototypes[0].notes
    for prototype in prototypes.dropFirst() {
      guard prototype.notes.count == notes.count else {
        throw .model("\(type) creates other managed objects in its initialiser: create them elsewhere")
      }
      for index in notes.indices {
        guard case .attribute(var record) = notes[index], case .attribute(let other) = prototype.notes[index],
          record.defaultValue != other.defaultValue
        else { continue }
        record.hasChangingDefault = true
        notes[index] = .attribute(record)
      }
    }
    return notes
  }

  private static func offsets(
    of count: Int, in prototypes: [Prototype], _ type: ManagedObject.Type
  ) throws(HeartwoodError) -> [Int] {
    var indexBySignature: [[UInt8]: Int] = [:]
    for index in 0..<count {
      indexBySignature[prototypes.indices.map { PropertyRecorder.mark(of: index, round: $0) }] = index
    }
    var offsets: [Int?] = Array(repeating: nil, count: count)
    for offset in 0..<prototypes[0].bytes.count {
      guard let index = indexBySignature[prototypes.map { $0.bytes[offset] }] else { continue }
      guard offsets[index] == nil else { throw .model("two offsets of \(type) match the same property") }
      offsets[index] = offset
    }
    let found = offsets.compactMap { $0 }
    guard found.count == count else {
      throw .model(
        "\(type) declares \(count) properties, of which \(found.count) were found in its instances: "
          + "its initialiser must not create other managed objects")
    }
    return found
  }
}

/// One instance made for inspection.
struct Prototype {
  let object: ManagedObject
  let notes: [PropertyNote]
  let bytes: [UInt8]

  init(_ type: ManagedObject.Type, round: Int, instanceSize: Int) {
    let recorder = PropertyRecorder(round: round)
    object = recorder.listen { ObjectMaking.make(type, PropertyRecorder.entity) }
    notes = recorder.notes
    bytes = InstanceMemory.bytes(of: object, count: instanceSize)
  }
}

/// The names of a prototype's properties, in the order in which their wrappers were initialised.
struct DeclaredNames {
  var names: [String] = []
  var declaring: [ManagedObject.Type] = []

  init(of prototype: Prototype, count: Int, _ type: ManagedObject.Type) throws(HeartwoodError) {
    if type is any CustomReflectable.Type {
      throw .model("\(type) hides its properties: a managed object must not be CustomReflectable")
    }
    collect(Mirror(reflecting: prototype.object))
    if names.count != count || names.contains("") { try takeGivenNames(count, type) }
  }

  private mutating func collect(_ mirror: Mirror) {
    guard let type = mirror.subjectType as? ManagedObject.Type, type != ManagedObject.self else { return }
    for child in mirror.children where child.value is any _DeclaredProperty {
      // The wrapper of `name` is stored as `_name`.
      names.append(String((child.label ?? "").dropFirst()))
      declaring.append(type)
    }
    if let superclass = mirror.superclassMirror { collect(superclass) }
  }

  private mutating func takeGivenNames(_ count: Int, _ type: ManagedObject.Type) throws(HeartwoodError) {
    guard let given = type.propertyNames else {
      throw .model(
        "the names of \(type)'s \(count) properties are not in the program, as it was built without reflection "
          + "metadata: override `propertyNames` in \(type)")
    }
    guard given.count == count else {
      throw .model("\(type).propertyNames has \(given.count) names for \(count) properties")
    }
    names = given
    declaring = Array(repeating: type, count: count)
  }
}
