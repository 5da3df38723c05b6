import Heartwood
import Observation

/// The values of a model without a context. Not meant to be used.
public final class _FreeValues {
  enum Slot {
    case stored(_Value)
    case one((any PersistentModel)?)
    case many([any PersistentModel])
    case other(Any)
  }

  @exclusivity(unchecked) private var entries = FreeEntries()
  /// Whether there is a registrar: to look at this takes less time.
  @exclusivity(unchecked) private(set) var isObserved = false
  @exclusivity(unchecked) private var rare: RareFields?

  /// The fields that few models have before they are inserted. Without it, the values of one that is inserted at once are small.
  private final class RareFields {
    var registrar: ObservationRegistrar?
    var observed: Set<UInt64> = []
    var identifier: PersistentIdentifier?
    var former: PersistentIdentifier?
    var hashed: PersistentIdentifier?
  }

  init(identifier: PersistentIdentifier? = nil) { if identifier != nil { self.identifier = identifier } }

  private func makeRare() -> RareFields {
    if let rare { return rare }
    let made = RareFields()
    rare = made
    return made
  }

  /// Made when the model is observed.
  var registrar: ObservationRegistrar? {
    get { rare?.registrar }
    set {
      makeRare().registrar = newValue
      isObserved = newValue != nil
    }
  }

  /// The properties that were observed.
  var observed: Set<UInt64> {
    get { rare?.observed ?? [] }
    set { makeRare().observed = newValue }
  }

  /// The identifier that the model was asked for.
  var identifier: PersistentIdentifier? {
    get { rare?.identifier }
    set { makeRare().identifier = newValue }
  }

  /// The identifier of the object that the model was in before.
  var former: PersistentIdentifier? {
    get { rare?.former }
    set { makeRare().former = newValue }
  }

  /// The temporary identifier that the model was hashed by.
  var hashedIdentifier: PersistentIdentifier? {
    get { rare?.hashed }
    set { if rare != nil || newValue != nil { makeRare().hashed = newValue } }
  }

  subscript(hash: UInt64) -> Slot? { entries[hash] }

  func set(_ slot: Slot, _ hash: UInt64) { entries.set(slot, hash) }

  @usableFromInline
  func set(_ stored: _Value, _ hash: UInt64) { set(.stored(stored), hash) }

  /// - Returns: False, and the value is not set, if the model is observed.
  @usableFromInline
  func setUnobserved(_ stored: _Value, _ hash: UInt64) -> Bool {
    guard !isObserved else { return false }
    set(.stored(stored), hash)
    return true
  }

  /// Takes the values of others, which count more than its own, and leaves them without any.
  func take(_ others: inout FreeEntries) { entries.take(&others) }
}

/// Values by the hashes of the names of their properties. A class has few properties, so that a search takes less time than a table.
struct FreeEntries {
  private struct Entry {
    let hash: UInt64
    var slot: _FreeValues.Slot
  }

  /// Nil without values: to release an empty array takes longer, and each model has one of these.
  private var entries: [Entry]?

  // Without closures, to which each entry would be copied.
  private func index(of hash: UInt64) -> Int? {
    guard let entries else { return nil }
    for index in entries.indices where entries[index].hash == hash { return index }
    return nil
  }

  subscript(hash: UInt64) -> _FreeValues.Slot? { index(of: hash).flatMap { entries?[$0].slot } }

  mutating func set(_ slot: _FreeValues.Slot, _ hash: UInt64) {
    guard entries != nil else {
      var first: [Entry] = []
      first.reserveCapacity(8)
      first.append(Entry(hash: hash, slot: slot))
      entries = first
      return
    }
    if let known = index(of: hash) {
      entries?[known].slot = slot
    } else {
      entries?.append(Entry(hash: hash, slot: slot))
    }
  }

  /// Takes the values of others, which count more than its own, and leaves them without any.
  mutating func take(_ others: inout FreeEntries) {
    if entries == nil { return swap(&self, &others) }
    for entry in others.entries ?? [] { set(entry.slot, entry.hash) }
    others = FreeEntries()
  }
}

/// The values that the initialisers of a model's class give, until they are asked for. Not meant to be used.
public struct _InitialValues {
  private var values = FreeEntries()
  /// Whether the model has the values of an object.
  @usableFromInline let isIgnored: Bool

  /// No values.
  public init() { isIgnored = ModelMaking.isMakingStored }

  @usableFromInline
  mutating func set(_ stored: _Value, _ name: UInt64) { values.set(.stored(stored), name) }
  @usableFromInline
  mutating func set(_ model: (any PersistentModel)?, _ name: UInt64) { values.set(.one(model), name) }
  @usableFromInline
  mutating func set(_ models: [any PersistentModel], _ name: UInt64) { values.set(.many(models), name) }

  /// Sets a value that rows have as it is.
  @inlinable
  public mutating func setValue<Value: AttributeValue>(_ value: Value, _ key: String, _ name: UInt64) {
    if !isIgnored { set(value._value, name) }
  }

  /// Sets a value that a transformer stores.
  public mutating func setTransformed<Value>(_ value: Value, _ key: String, _ name: UInt64) {
    if !isIgnored { values.set(.other(value), name) }
  }

  /// Sets a value of any type.
  @_disfavoredOverload
  public mutating func setProperty<Value>(_ value: Value, _ key: String, _ name: UInt64) {
    if !isIgnored { values.set(.other(value), name) }
  }

  /// Sets a value that rows have as it is, and whose type is not known to the macro.
  @inlinable
  public mutating func setProperty<Value: AttributeValue>(_ value: Value, _ key: String, _ name: UInt64) {
    setValue(value, key, name)
  }

  /// Sets the model that a property leads to.
  @inlinable
  public mutating func setProperty<Other: PersistentModel>(_ value: Other?, _ key: String, _ name: UInt64) {
    if !isIgnored { set(value as (any PersistentModel)?, name) }
  }

  /// Sets the model that a property leads to.
  @inlinable
  public mutating func setProperty<Other: PersistentModel>(_ value: Other, _ key: String, _ name: UInt64) {
    if !isIgnored { set(value as (any PersistentModel)?, name) }
  }

  /// Sets the models that a property leads to.
  @inlinable
  public mutating func setProperty<Other: PersistentModel>(_ value: [Other], _ key: String, _ name: UInt64) {
    if !isIgnored { set(value as [any PersistentModel], name) }
  }

  /// Moves the values to those of the model.
  public mutating func move(to others: _FreeValues) { others.take(&values) }
}
