import HeartwoodFiles
import Synchronization

/// A property wrapper of this module, as a mirror shows it.
public protocol _DeclaredProperty {
  /// The mark that the recorder of the class assigned to the wrapper.
  var _mark: UInt8 { get }
}

/// How many prototypes the process is creating. Every wrapper's initialiser reads it, for every object; only if it is
/// not zero does the initialiser check whether its own thread is creating a prototype.
@usableFromInline let recordingsInProgress = Atomic<Int>(0)

/// Whether a wrapper that is being initialised may belong to a prototype.
@inlinable @inline(__always)
public var _isRecording: Bool { recordingsInProgress.load(ordering: .relaxed) != 0 }

/// Records an attribute with this thread's recorder.
///
/// - Returns: The mark that the wrapper must store; 0 if the thread has no recorder.
public func _recordAttribute<Value: AttributeValue>(
  _ makeDefault: () -> Value, _ options: AttributeOptions, _ renamed: StaticString?,
  _ rules: [ValidationRule], derivation: StaticString? = nil
) -> UInt8 {
  guard let recorder = PropertyRecorder.current else { return 0 }
  func makeValue() -> _Value { PropertyRecorder.suspended { makeDefault()._value } }
  if let defaults = recorder.defaults { return defaults.note(makeValue) }
  return recorder.note(
    .attribute(
      AttributeRecord(
        valueType: Value.self, options: options, defaultValue: makeValue(),
        formerName: renamed.map { "\($0)" }, rules: rules,
        derivation: derivation.map { "\($0)" })))
}

/// Records a relationship with this thread's recorder.
///
/// - Returns: The mark that the wrapper must store; 0 if the thread has no recorder.
public func _recordRelationship<Value: RelationshipValue, Inverse: RelationshipValue>(
  _ type: Value.Type, _ deleteRule: DeleteRule, _ renamed: StaticString?, _ count: RelationshipCount,
  _ inverse: ((Value.Destination) -> Inverse)?, isAlone: Bool = false, isTransient: Bool = false
) -> UInt8 {
  guard let recorder = PropertyRecorder.current else { return 0 }
  if let defaults = recorder.defaults { return defaults.note { .null } }
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
        formerName: renamed.map { "\($0)" }, count: count, inverse: erased, isAlone: isAlone,
        isTransient: isTransient)))
}

/// Records the wrappers of prototypes and the properties read from them, on one thread.
final class PropertyRecorder: @unchecked Sendable {
  private static let ofThread = ThreadValue<PropertyRecorder?>()
  static var current: PropertyRecorder? { ofThread.current ?? nil }

  /// Runs `body` without a recorder: the objects that a default makes or fetches are none of those that are recorded.
  static func suspended<Result>(_ body: () -> Result) -> Result { ofThread.with(nil, body) }

  /// The index of this prototype or evaluation among several.
  let round: Int
  private(set) var notes: [PropertyNote] = []
  private(set) var accesses: [RecordedAccess] = []
  /// Takes the defaults of a prototype for a new object; nil for a recorder of declarations.
  let defaults: RecordedDefaults?

  init(round: Int, _ defaults: RecordedDefaults? = nil) { (self.round, self.defaults) = (round, defaults) }

  /// Runs `body` with this recorder as the current one.
  func listen<Result>(to body: () throws -> Result) rethrows -> Result {
    let span = begin()
    defer { Self.end(span) }
    return try body()
  }

  /// Makes this recorder the current one until `end(_:)`.
  func begin() -> ThreadValue<PropertyRecorder?>.Span {
    // Relaxed: only wrappers of this thread matter, and a thread always sees its own increment.
    recordingsInProgress.add(1, ordering: .relaxed)
    return Self.ofThread.begin(self)
  }

  static func end(_ span: ThreadValue<PropertyRecorder?>.Span) {
    ofThread.end(span)
    recordingsInProgress.subtract(1, ordering: .relaxed)
  }

  func note(_ note: PropertyNote) -> UInt8 {
    notes.append(note)
    return Self.mark(of: notes.count - 1, round: round)
  }

  func note(_ access: RecordedAccess) { accesses.append(access) }

  /// The mark of a wrapper. Over eight rounds each wrapper has a 64-bit signature, which no other bytes of an
  /// object have by chance.
  static func mark(of index: Int, round: Int) -> UInt8 {
    var mixed = UInt64(truncatingIfNeeded: index &* 8 &+ round &+ 1) &* 0x9E37_79B9_7F4A_7C15
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return UInt8(truncatingIfNeeded: mixed >> 56)
  }

  static let roundCount = 8

  /// The entity of all prototypes: it is in no model and has no properties.
  static let entity = EntityDescription()
}

/// The declaration that a wrapper reports.
enum PropertyNote {
  case attribute(AttributeRecord)
  case relationship(RelationshipRecord)
}

struct AttributeRecord {
  let valueType: any AttributeValue.Type
  let options: AttributeOptions
  /// The default in stored form; null for nil.
  let defaultValue: Value
  let formerName: String?
  let rules: [ValidationRule]
  /// The expression of a derived attribute.
  var derivation: String?
  /// Whether the default differs between objects.
  var hasChangingDefault = false
}

struct RelationshipRecord {
  let valueType: any RelationshipValue.Type
  let destination: ManagedObject.Type
  let shape: _RelationshipShape
  let deleteRule: DeleteRule
  let formerName: String?
  let count: RelationshipCount
  let inverse: ((ManagedObject) -> (any RelationshipValue)?)?
  /// Whether it says that it has no inverse.
  let isAlone: Bool
  let isTransient: Bool
}

/// One read of a prototype's property.
struct RecordedAccess {
  let object: ManagedObject
  let offset: Int
  let answer: Answer

  /// The sentinel that the prototype returned.
  enum Answer {
    case value(Value)
    case destination(ManagedObject)
  }
}
