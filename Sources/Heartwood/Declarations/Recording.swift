import Synchronization

/// A property wrapper of this module, seen through a mirror.
public protocol _DeclaredProperty {
  /// What the wrapper was told to carry by the recorder that learns its class.
  var _mark: UInt8 { get }
}

/// How many prototypes are being made in the process. A wrapper's initialiser looks here, as it runs for
/// every object; only when this is not zero does it ask whether its own thread makes a prototype.
@usableFromInline let recordingsInProgress = Atomic<Int>(0)

/// Whether a wrapper that is being made may belong to a prototype.
@inlinable @inline(__always)
public var _isRecording: Bool { recordingsInProgress.load(ordering: .relaxed) != 0 }

/// Tells the recorder of this thread of an attribute.
///
/// - Returns: the mark that the wrapper is to carry.
public func _recordAttribute<Value: AttributeValue>(
  _ makeDefault: () -> Value, _ options: AttributeOptions, _ renamed: StaticString?
) -> UInt8 {
  guard let recorder = PropertyRecorder.current else { return 0 }
  return recorder.note(
    .attribute(
      AttributeRecord(
        valueType: Value.self, options: options, defaultValue: makeDefault()._value,
        formerName: renamed.map { "\($0)" })))
}

/// Tells the recorder of this thread of a relationship.
///
/// - Returns: the mark that the wrapper is to carry.
public func _recordRelationship<Value: RelationshipValue, Inverse: RelationshipValue>(
  _ type: Value.Type, _ deleteRule: DeleteRule, _ renamed: StaticString?,
  _ inverse: ((Value.Destination) -> Inverse)?
) -> UInt8 {
  guard let recorder = PropertyRecorder.current else { return 0 }
  let erased = inverse.map { inverse in
    { (object: ManagedObject) -> (any RelationshipValue)? in
      (object as? Value.Destination).map { inverse($0) }
    }
  }
  return recorder.note(
    .relationship(
      RelationshipRecord(
        valueType: Value.self, destination: Value.Destination.self, shape: Value._shape,
        deleteRule: deleteRule,
        formerName: renamed.map { "\($0)" }, inverse: erased)))
}

/// Listens to the wrappers of prototypes and to what is read from them, on one thread.
final class PropertyRecorder: @unchecked Sendable {
  @TaskLocal static var current: PropertyRecorder?

  /// Which of several prototypes, or of several readings, this one is.
  let round: Int
  private(set) var notes: [PropertyNote] = []
  private(set) var accesses: [RecordedAccess] = []

  init(round: Int) { self.round = round }

  /// Runs `body` with this recorder listening.
  func listen<Result>(to body: () throws -> Result) rethrows -> Result {
    // Only this thread's own wrappers matter, and it sees its own increment in any case.
    recordingsInProgress.add(1, ordering: .relaxed)
    defer { recordingsInProgress.subtract(1, ordering: .relaxed) }
    return try Self.$current.withValue(self, operation: body)
  }

  func note(_ note: PropertyNote) -> UInt8 {
    notes.append(note)
    return Self.mark(of: notes.count - 1, round: round)
  }

  func note(_ access: RecordedAccess) { accesses.append(access) }

  /// Eight rounds give each wrapper a signature of 64 bits that nothing else in an object has by chance.
  static func mark(of index: Int, round: Int) -> UInt8 {
    var mixed = UInt64(truncatingIfNeeded: index &* 8 &+ round &+ 1) &* 0x9E37_79B9_7F4A_7C15
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return UInt8(truncatingIfNeeded: mixed >> 56)
  }

  static let roundCount = 8

  /// Objects of this entity are prototypes: in no model, without values.
  static let entity = EntityDescription()
}

/// What a wrapper says of itself.
enum PropertyNote {
  case attribute(AttributeRecord)
  case relationship(RelationshipRecord)
}

struct AttributeRecord {
  let valueType: any AttributeValue.Type
  let options: AttributeOptions
  /// In its stored form; null for nil.
  let defaultValue: Value
  let formerName: String?
  /// Whether the default differs from one object to the next.
  var hasChangingDefault = false
}

struct RelationshipRecord {
  let valueType: any RelationshipValue.Type
  let destination: ManagedObject.Type
  let shape: _RelationshipShape
  let deleteRule: DeleteRule
  let formerName: String?
  let inverse: ((ManagedObject) -> (any RelationshipValue)?)?
}

/// One property read from a prototype.
struct RecordedAccess {
  let object: ManagedObject
  let offset: Int
  let answer: Answer

  /// What the prototype gave for it.
  enum Answer {
    case value(Value)
    case destination(ManagedObject)
  }
}
