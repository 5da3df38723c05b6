import HeartwoodBytes
import Observation

/// The Observation framework sees reads and changes of the objects of an observable context: `withObservationTracking`,
/// `Observations` and SwiftUI follow properties without further code.
///
/// Attributes and relationships are seen, also through `$cities` and by name, and changes of any origin: assignments, the
/// other side of a relationship, merges, refreshes, undo, merge policies. See `ManagedObjectContext.isObservable`.
extension ManagedObject: Observable {
  /// A property as the Observation framework identifies it; the value is meaningless.
  final subscript(observed slot: Int) -> Int { slot }

  /// The registrar of an object that was read while accesses were collected; nil for all others.
  private final var registrar: ObservationRegistrar? {
    guard let pending, pending.isObserved else { return nil }
    return pending.header.registrar
  }

  /// Whether the object was read while accesses were collected. Its context then keeps it: an observer may hold only the
  /// object from which it was reached.
  final var isObserved: Bool { pending?.isObserved == true }

  /// Registers that a property is read, if the current thread collects accesses.
  @inline(__always)
  final func noteAccess(_ slot: @autoclosure () -> Int) {
    guard let contextReference, contextReference.with({ $0.isObservable }),
      AccessProbe.isCollecting()
    else { return }
    register(slot())
  }

  /// Registers that a property is read, if the current thread collects accesses, whether the context is observable or not: for classes
  /// whose accessors read rows directly while nothing collects.
  ///
  /// - Parameters:
  ///   - key: The name of the property.
  ///   - name: Its hash.
  package final func noteOwnAccess(_ key: String, _ name: UInt64) {
    guard contextReference != nil, AccessProbe.isCollecting(), let slot = slot(named: key, name) else {
      return
    }
    register(slot)
  }

  @inline(never)
  private final func register(_ slot: Int) {
    let registrar = registrar ?? ObservationRegistrar()
    makePendingValues().header.registrar = registrar
    registrar.access(self, keyPath: \.[observed: slot])
    // The elements of a composite attribute change by themselves.
    for element in entity.compiled.composites[slot] ?? [] { register(element.slot) }
  }

  /// Changes the value of one property. All changes of values go through this or `changeValues`.
  @inline(__always)
  final func changeValue(_ slot: Int, _ change: () -> Void) {
    // A registrar that is missing costs more to get than a flag to read.
    guard isObserved, let registrar else { return change() }
    registrar.willSet(self, keyPath: \.[observed: slot])
    change()
    registrar.didSet(self, keyPath: \.[observed: slot])
  }

  /// Announces a change of a property that follows.
  final func willChangeObserved(_ slot: Int) { registrar?.willSet(self, keyPath: \.[observed: slot]) }

  /// Reports a change that was announced.
  final func didChangeObserved(_ slot: Int) { registrar?.didSet(self, keyPath: \.[observed: slot]) }

  /// Changes the values of several properties.
  ///
  /// - Parameter slots: Evaluated only for an object that is observed.
  final func changeValues(_ slots: @autoclosure () -> [Int], _ change: () -> Void) {
    guard isObserved, let registrar else { return change() }
    let slots = slots()
    for slot in slots { registrar.willSet(self, keyPath: \.[observed: slot]) }
    change()
    for slot in slots { registrar.didSet(self, keyPath: \.[observed: slot]) }
  }

  /// Drops pending values and relationship states; observers stay.
  final func dropPending() {
    guard isObserved else { return pending = nil }
    let registrar = registrar
    pending = nil
    if let registrar { makePendingValues().header.registrar = registrar }
  }

  /// The attributes and to-one relationships whose values in `bytes` differ from those of the object's row, except those
  /// with a pending value.
  final func slotsThatDiffer(in bytes: UnsafeRawBufferPointer) -> [Int] {
    guard let row else { return Array(entity.slots) }
    let layout = entity.layout
    guard let other = try? RowView(validating: bytes, layout: layout) else { return Array(entity.slots) }
    return layout.columns.compactMap { column in
      let slot = Int(column.slot)
      guard pending?.edit(slot) == nil,
        row.value(column, layout: layout, store: .none) != other.value(column, layout: layout, store: .none)
      else { return nil }
      return slot
    }
  }
}
