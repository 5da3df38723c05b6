import Foundation
import Heartwood

/// The destinations of a to-many relationship as a set that writes through.
final class RelationshipSet: NSMutableSet {
  private let owner: NSManagedObject
  private let key: String

  init(_ owner: NSManagedObject, _ key: String) {
    self.owner = owner
    self.key = key
    super.init(capacity: 0)
  }

  required init(capacity numItems: Int) { fatalError("a relationship's set is made of its object") }
  required init?(coder: NSCoder) { fatalError("a relationship's set cannot be coded") }

  private var related: RelatedObjects<ManagedObject> { owner.relatedObjects(forKey: key) }
  private var objects: [ManagedObject] { Array(related) }

  override var count: Int { related.count }
  override func member(_ object: Any) -> Any? {
    guard let object = object as? ManagedObject, related.contains(object) else { return nil }
    return object
  }
  override func objectEnumerator() -> NSEnumerator { NSArray(array: objects).objectEnumerator() }
  override var allObjects: [Any] { objects }
  override func contains(_ anObject: Any) -> Bool { member(anObject) != nil }
  override func add(_ object: Any) { if let object = object as? ManagedObject { related.insert(object) } }
  override func remove(_ object: Any) { if let object = object as? ManagedObject { related.remove(object) } }
  override func addObjects(from array: [Any]) { for object in array { add(object) } }
  override func removeAllObjects() { related.removeAll() }
  override func union(_ other: Set<AnyHashable>) { for object in other { add(object.base) } }
  override func minus(_ other: Set<AnyHashable>) { for object in other { remove(object.base) } }
  override func intersect(_ other: Set<AnyHashable>) {
    for object in objects where !other.contains(AnyHashable(object)) { remove(object) }
  }
  override func setSet(_ other: Set<AnyHashable>) {
    owner.setValue(NSSet(array: other.map(\.base)), forKey: key)
  }
  override func copy(with zone: NSZone? = nil) -> Any { NSSet(array: objects) }
  override func mutableCopy(with zone: NSZone? = nil) -> Any { NSMutableSet(array: objects) }
}

/// The destinations of an ordered relationship as an ordered set that writes through.
final class RelationshipOrderedSet: NSMutableOrderedSet {
  private let owner: NSManagedObject
  private let key: String

  init(_ owner: NSManagedObject, _ key: String) {
    self.owner = owner
    self.key = key
    super.init(capacity: 0)
  }

  override init(capacity: Int) { fatalError("a relationship's set is made of its object") }
  required init(arrayLiteral elements: Any...) { fatalError("a relationship's set is made of its object") }
  required init?(coder: NSCoder) { fatalError("a relationship's set cannot be coded") }

  private var objects: [ManagedObject] {
    get { Array(owner.relatedObjects(forKey: key)) }
    set { owner.setValue(NSOrderedSet(array: newValue), forKey: key) }
  }

  override var count: Int { objects.count }
  override func object(at idx: Int) -> Any { objects[idx] }
  override func index(of object: Any) -> Int {
    (object as? ManagedObject).flatMap { objects.firstIndex(of: $0) } ?? NSNotFound
  }
  override func contains(_ object: Any) -> Bool { index(of: object) != NSNotFound }
  override func insert(_ object: Any, at idx: Int) {
    guard let object = object as? ManagedObject, !objects.contains(object) else { return }
    objects.insert(object, at: idx)
  }
  override func removeObject(at idx: Int) { objects.remove(at: idx) }
  override func replaceObject(at idx: Int, with obj: Any) {
    if let object = obj as? ManagedObject { objects[idx] = object }
  }
  override func add(_ object: Any) { insert(object, at: count) }
  override func remove(_ val: Any) {
    let place = index(of: val)
    if place != NSNotFound { removeObject(at: place) }
  }
  override func removeAllObjects() { objects = [] }
  override func addObjects(from array: [Any]) { for object in array { add(object) } }
  override func moveObjects(at indexes: IndexSet, to idx: Int) {
    var all = objects
    let moved = indexes.map { all[$0] }
    for index in indexes.reversed() { all.remove(at: index) }
    all.insert(contentsOf: moved, at: idx)
    objects = all
  }
}
