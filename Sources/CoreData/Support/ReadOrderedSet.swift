import Foundation
import Heartwood
import HeartwoodBytes

/// The destinations of an ordered relationship as they were read. Objects that come and go are added and removed in place where the program
/// does not hold the set.
///
/// A mutable one, as Core Data's is: Foundation's immutable sets cannot be changed, and copies are made object by object. Where the program
/// changes it, it is not the relationship's any more.
final class ReadOrderedSet: NSMutableOrderedSet {
  private let places: OrderedKeys<ObjectIdentifier>
  private var isChanging = true
  /// Whether the program has changed it.
  private(set) var isOfProgram = false

  init(_ objects: [ManagedObject]) {
    places = OrderedKeys(objects.map(ObjectIdentifier.init))
    super.init(capacity: objects.count)
    for (index, object) in objects.enumerated() { super.insert(object, at: index) }
    isChanging = false
  }

  override init(capacity: Int) { programError("a relationship's set is made of its object") }
  required init(arrayLiteral elements: Any...) { programError("a relationship's set is made of its object") }
  required init?(coder: NSCoder) { programError("a relationship's set cannot be coded") }

  /// Adds an object at the end, or removes one.
  func change(_ object: ManagedObject, isAdded: Bool) {
    isChanging = true
    defer { isChanging = false }
    let key = ObjectIdentifier(object)
    if isAdded {
      super.insert(object, at: places.count)
      places.insert(key, at: places.count)
    } else if let index = places.index(of: key) {
      super.removeObject(at: index)
      places.remove(key)
    }
  }

  override func index(of object: Any) -> Int {
    guard !isChanging, !isOfProgram else { return super.index(of: object) }
    return (object as? ManagedObject).flatMap { places.index(of: ObjectIdentifier($0)) } ?? NSNotFound
  }
  override func copy(with zone: NSZone? = nil) -> Any { NSOrderedSet(array: array) }
  override func mutableCopy(with zone: NSZone? = nil) -> Any { NSMutableOrderedSet(array: array) }

  // MARK: Changes by the program

  private func change(_ body: () -> Void) {
    if !isChanging { isOfProgram = true }
    body()
  }

  override func insert(_ object: Any, at idx: Int) { change { super.insert(object, at: idx) } }
  override func removeObject(at idx: Int) { change { super.removeObject(at: idx) } }
  override func replaceObject(at idx: Int, with obj: Any) {
    change { super.replaceObject(at: idx, with: obj) }
  }
  override func setObject(_ obj: Any, at idx: Int) { change { super.setObject(obj, at: idx) } }
  override func add(_ object: Any) { change { super.add(object) } }
  override func addObjects(from array: [Any]) { change { super.addObjects(from: array) } }
  override func insert(_ objects: [Any], at indexes: IndexSet) {
    change { super.insert(objects, at: indexes) }
  }
  override func remove(_ val: Any) { change { super.remove(val) } }
  override func removeObjects(at indexes: IndexSet) { change { super.removeObjects(at: indexes) } }
  override func removeObjects(in range: NSRange) { change { super.removeObjects(in: range) } }
  override func removeObjects(in array: [Any]) { change { super.removeObjects(in: array) } }
  override func removeAllObjects() { change { super.removeAllObjects() } }
  override func exchangeObject(at idx1: Int, withObjectAt idx2: Int) {
    change { super.exchangeObject(at: idx1, withObjectAt: idx2) }
  }
  override func moveObjects(at indexes: IndexSet, to idx: Int) {
    change { super.moveObjects(at: indexes, to: idx) }
  }
  override func replaceObjects(at indexes: IndexSet, with objects: [Any]) {
    change { super.replaceObjects(at: indexes, with: objects) }
  }
  override func intersect(_ other: NSOrderedSet) { change { super.intersect(other) } }
  override func intersectSet(_ other: Set<AnyHashable>) { change { super.intersectSet(other) } }
  override func minus(_ other: NSOrderedSet) { change { super.minus(other) } }
  override func minusSet(_ other: Set<AnyHashable>) { change { super.minusSet(other) } }
  override func union(_ other: NSOrderedSet) { change { super.union(other) } }
  override func unionSet(_ other: Set<AnyHashable>) { change { super.unionSet(other) } }
  override func sortRange(
    _ range: NSRange, options opts: NSSortOptions = [], usingComparator cmptr: (Any, Any) -> ComparisonResult
  ) { change { super.sortRange(range, options: opts, usingComparator: cmptr) } }
  override func sort(using sortDescriptors: [NSSortDescriptor]) {
    change { super.sort(using: sortDescriptors) }
  }
}
