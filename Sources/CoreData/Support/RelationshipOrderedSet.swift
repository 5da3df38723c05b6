import Foundation
import Heartwood
import HeartwoodBytes

/// The destinations of an ordered relationship as an ordered set that writes through.
///
/// Much of Foundation's class reads its own storage, and some of that cannot be overridden: iteration, `firstObject`, `array`. So the storage is
/// kept equal to the relationship: it is compared before each method that can be overridden, and whenever observers of key values are told
/// of changes. A comparison takes constant time while the relationship is the one that the storage is equal to; the set makes its own changes in
/// the storage as well, one by one.
final class RelationshipOrderedSet: NSMutableOrderedSet {
  private let owner: NSManagedObject
  private let key: String
  /// The keys of the objects that the storage was filled with.
  private var keys = OrderedKeys<UInt64>([])
  /// The relationship that the storage is equal to.
  private var revision: RelationshipRevision?
  /// Whether a method runs that works on the storage.
  private var isInStorage = false
  /// Whether a method runs that changes so much that the storage is compared at its end only.
  private var isComparedLater = false
  private var follower: Follower?

  init(_ owner: NSManagedObject, _ key: String) {
    self.owner = owner
    self.key = key
    super.init(capacity: 0)
    refresh()
    let follower = Follower(self, owner, key)
    self.follower = follower
    KeyValueObservers.shared.add(follower)
  }

  deinit { if let follower { KeyValueObservers.shared.remove(follower) } }

  override init(capacity: Int) { programError("a relationship's set is made of its object") }
  required init(arrayLiteral elements: Any...) { programError("a relationship's set is made of its object") }
  required init?(coder: NSCoder) { programError("a relationship's set cannot be coded") }

  // MARK: Storage

  private var related: RelatedObjects<ManagedObject> { owner.relatedObjects(forKey: key) }

  private var objects: [ManagedObject] { Array(related) }

  private func destination(_ object: Any) -> ManagedObject {
    RelationshipElement.destination(object, of: owner, key, "mutableOrderedSetValueForKey:")
  }

  /// Makes the storage equal to the relationship: replaces what is between the first and the last difference.
  private func refresh() {
    guard !isInStorage else { return }
    let present = RelationshipRevision(related)
    guard present == nil || present != revision else { return }
    revision = present
    let (current, keys) = (related.keys, self.keys.keys)
    guard current != keys else { return }
    let start = zip(current, keys).prefix { $0 == $1 }.count
    let rest = Swift.min(current.count, keys.count) - start
    let end = zip(current.reversed(), keys.reversed()).prefix(rest).prefix { $0 == $1 }.count
    let removed = start..<keys.count - end
    let inserted = (start..<current.count - end).map { related[$0] }
    self.keys = OrderedKeys(current)
    inStorage {
      for index in removed.reversed() { super.removeObject(at: index) }
      for (index, object) in inserted.enumerated() { super.insert(object, at: start + index) }
    }
  }

  private func inStorage<Result>(_ body: () -> Result) -> Result {
    let wasInStorage = isInStorage
    isInStorage = true
    defer { isInStorage = wasInStorage }
    return body()
  }

  private func reading<Result>(_ body: () -> Result) -> Result {
    refresh()
    return inStorage(body)
  }

  /// Sets the relationship to what `edit` makes of it.
  private func changing(_ edit: (inout [ManagedObject]) -> Void) {
    var edited = objects
    edit(&edited)
    owner.setValue(NSOrderedSet(array: edited), forKey: key)
    refresh()
  }

  /// Whether a number of objects is changed one by one, as this takes less time than to compare all.
  private func areFew(_ count: Int) -> Bool { count <= 1 || count * 64 <= keys.count }

  /// Changes the relationship for a number of objects, without setting all of it.
  private func changingPart(_ count: Int, _ change: () -> Void) {
    refresh()
    isComparedLater = !areFew(count)
    change()
    isComparedLater = false
    owner._noteAssignment(key)
    refresh()
    related.lastCollection = self
  }

  /// Makes one change of the relationship, and the same in the storage. If more was changed meanwhile, as by methods of the program, they are
  /// compared.
  ///
  /// - Parameter count: The number of additions, removals and moves that the change consists of.
  private func step(_ count: Int, _ change: () -> Void, inStorage follow: () -> Void) {
    guard !isComparedLater else { return change() }
    let former = revision
    change()
    let present = RelationshipRevision(related)
    guard let former, revision == former, present == former.after(count) else { return refresh() }
    revision = present
    inStorage(follow)
  }

  /// Adds an object at an index, or at the end. One that is in the set already stays where it is.
  private func put(_ object: ManagedObject, at index: Int?) {
    guard !related.contains(object) else { return index == nil ? related.insert(object) : () }
    let (key, added) = related.destination(object)
    let (end, place) = (keys.count, index ?? keys.count)
    step(place == end ? 1 : 2, { index.map { related.insert(object, at: $0) } ?? related.insert(object) }) {
      keys.insert(key, at: place)
      super.insert(added, at: place)
    }
  }

  private func move(from index: Int, to target: Int) {
    guard let moved = object(at: index) as? ManagedObject else { return }
    let key = related.destination(moved).key
    step(index == target ? 0 : 1, { related.insert(moved, at: target) }) {
      keys.remove(key)
      keys.insert(key, at: target)
      super.removeObject(at: index)
      super.insert(moved, at: target)
    }
  }

  private func takeOut(_ object: ManagedObject) {
    let key = related.destination(object).key
    guard !isComparedLater, let index = keys.index(of: key) else { return related.remove(object) }
    step(1, { related.remove(object) }) {
      keys.remove(key)
      super.removeObject(at: index)
    }
  }

  /// Follows the relationship while the set is used.
  private final class Follower: KeyValueObserver {
    private weak var set: RelationshipOrderedSet?
    private weak var owner: NSManagedObject?
    let firstName: String?

    init(_ set: RelationshipOrderedSet, _ owner: NSManagedObject, _ key: String) {
      self.set = set
      self.owner = owner
      firstName = key
    }

    var target: AnyObject? { owner }
    var context: NSManagedObjectContext? { owner?.managedObjectContext }
    var leadsFurther: Bool { false }
    func report(isAssigned: Bool) { set?.refresh() }
  }

  // MARK: Reading

  override var count: Int { reading { super.count } }
  override func object(at idx: Int) -> Any { reading { super.object(at: idx) } }
  override func index(of object: Any) -> Int {
    guard !isInStorage else { return super.index(of: object) }
    refresh()
    guard let object = RelationshipElement.object(object),
      let index = keys.index(of: related.destination(object).key),
      self.object(at: index) as AnyObject === object
    else { return NSNotFound }
    return index
  }
  override func contains(_ object: Any) -> Bool { reading { super.contains(object) } }
  override func intersects(_ other: NSOrderedSet) -> Bool { objects.contains { other.contains($0) } }
  override func intersectsSet(_ set: Set<AnyHashable>) -> Bool {
    objects.contains { set.contains(AnyHashable($0)) }
  }
  override func objects(at indexes: IndexSet) -> [Any] { reading { super.objects(at: indexes) } }
  override func enumerateObjects(_ block: (Any, Int, UnsafeMutablePointer<ObjCBool>) -> Void) {
    NSArray(array: objects).enumerateObjects(block)
  }
  override func enumerateObjects(
    at s: IndexSet, options opts: NSEnumerationOptions = [],
    using block: (Any, Int, UnsafeMutablePointer<ObjCBool>) -> Void
  ) { NSArray(array: objects).enumerateObjects(at: s, options: opts, using: block) }
  override func index(
    ofObjectAt s: IndexSet, options opts: NSEnumerationOptions = [],
    passingTest predicate: (Any, Int, UnsafeMutablePointer<ObjCBool>) -> Bool
  ) -> Int { NSArray(array: objects).indexOfObject(at: s, options: opts, passingTest: predicate) }
  override func indexes(
    ofObjectsAt s: IndexSet, options opts: NSEnumerationOptions = [],
    passingTest predicate: (Any, Int, UnsafeMutablePointer<ObjCBool>) -> Bool
  ) -> IndexSet { NSArray(array: objects).indexesOfObjects(at: s, options: opts, passingTest: predicate) }
  override func index(
    of object: Any, inSortedRange range: NSRange, options opts: NSBinarySearchingOptions = [],
    usingComparator cmp: (Any, Any) -> ComparisonResult
  ) -> Int {
    NSArray(array: objects).index(of: object, inSortedRange: range, options: opts, usingComparator: cmp)
  }
  override func sortedArray(
    options opts: NSSortOptions = [], usingComparator cmptr: (Any, Any) -> ComparisonResult
  ) -> [Any] { NSArray(array: objects).sortedArray(options: opts, usingComparator: cmptr) }
  override func sortedArray(using sortDescriptors: [NSSortDescriptor]) -> [Any] {
    NSArray(array: objects).sortedArray(using: sortDescriptors)
  }
  override var description: String { NSArray(array: objects).description }
  override func copy(with zone: NSZone? = nil) -> Any { NSOrderedSet(array: objects) }
  override func mutableCopy(with zone: NSZone? = nil) -> Any { NSMutableOrderedSet(array: objects) }

  // MARK: Changing one object

  override func insert(_ object: Any, at idx: Int) { insert([object], at: IndexSet(integer: idx)) }
  override func add(_ object: Any) { addObjects(from: [object]) }
  override func add(_ objects: UnsafePointer<AnyObject>?, count: Int) {
    addObjects(from: UnsafeBufferPointer(start: objects, count: count).map { $0 as Any })
  }
  override func setObject(_ obj: Any, at idx: Int) {
    if idx == count { insert(obj, at: idx) } else { replaceObject(at: idx, with: obj) }
  }
  override func replaceObject(at idx: Int, with obj: Any) {
    replaceObjects(at: IndexSet(integer: idx), with: [obj])
  }
  override func removeObject(at idx: Int) { removeObjects(at: IndexSet(integer: idx)) }
  override func remove(_ val: Any) { removeObjects(in: [val]) }
  override func exchangeObject(at idx1: Int, withObjectAt idx2: Int) {
    let (first, last) = (Swift.min(idx1, idx2), Swift.max(idx1, idx2))
    changingPart(1) {
      move(from: last, to: first)
      if first < last { move(from: first + 1, to: last) }
    }
  }

  // MARK: Changing several

  override func addObjects(from array: [Any]) {
    let added = array.map(destination)
    changingPart(added.count) { for object in added { put(object, at: nil) } }
  }

  /// An object that is in the set already stays where it is.
  override func insert(_ objects: [Any], at indexes: IndexSet) {
    let inserted = objects.map(destination)
    changingPart(inserted.count) {
      related.forEachNew(inserted, at: indexes) { put($0, at: $1) }
    }
  }

  /// An object that is at an index which is not replaced is not put at a second one.
  override func replaceObjects(at indexes: IndexSet, with objects: [Any]) {
    let replacing = objects.map(destination)
    changing { objects in
      var known = Set(zip(objects, objects.indices).lazy.filter { !indexes.contains($1) }.map(\.0))
      var replaced: Set<Int> = []
      for (object, index) in zip(replacing, indexes) where known.insert(object).inserted {
        objects[index] = object
        replaced.insert(index)
      }
      // An object that was not replaced stays, unless it is at another of the indexes now.
      for index in indexes.reversed()
      where !replaced.contains(index) && !known.insert(objects[index]).inserted {
        objects.remove(at: index)
      }
    }
  }

  override func replaceObjects(in range: NSRange, with objects: UnsafePointer<AnyObject>!, count: Int) {
    let given = UnsafeBufferPointer<AnyObject>(start: objects, count: count).map { destination($0) }
    let place = range.location..<NSMaxRange(range)
    changing { objects in
      var known = Set(objects[..<place.lowerBound]).union(objects[place.upperBound...])
      objects.replaceSubrange(place, with: given.filter { known.insert($0).inserted })
    }
  }

  override func removeObjects(at indexes: IndexSet) { removeObjects(in: objects(at: indexes)) }

  override func removeObjects(in range: NSRange) {
    removeObjects(at: IndexSet(integersIn: range.location..<NSMaxRange(range)))
  }

  override func removeObjects(in array: [Any]) {
    let removed = array.compactMap(RelationshipElement.object)
    changingPart(removed.count) { for object in removed { takeOut(object) } }
  }

  override func removeAllObjects() { changing { $0 = [] } }

  /// The objects are at the index afterwards, which counts without them.
  override func moveObjects(at indexes: IndexSet, to idx: Int) {
    refresh()
    if areFew(indexes.count) {
      // Each passes over none of the others: first those in front of the index, the last one first.
      let moves = indexes.enumerated().map { (from: $1, to: idx + $0) }
      return changingPart(indexes.count) {
        for (from, to) in moves.filter({ $0.from < $0.to }).reversed() { move(from: from, to: to) }
        for (from, to) in moves where from >= to { move(from: from, to: to) }
      }
    }
    changing { objects in
      let moved = indexes.map { objects[$0] }
      for index in indexes.reversed() { objects.remove(at: index) }
      objects.insert(contentsOf: moved, at: idx)
    }
  }

  // MARK: Sets

  override func intersect(_ other: NSOrderedSet) { keep { other.contains($0) } }
  override func intersectSet(_ other: Set<AnyHashable>) { keep { other.contains(AnyHashable($0)) } }
  override func minus(_ other: NSOrderedSet) {
    removeObjects(in: other.objects(at: IndexSet(integersIn: 0..<other.count)))
  }
  override func minusSet(_ other: Set<AnyHashable>) { removeObjects(in: other.map(\.base)) }
  override func union(_ other: NSOrderedSet) { addObjects(from: other.array) }
  override func unionSet(_ other: Set<AnyHashable>) { addObjects(from: other.map(\.base)) }

  private func keep(_ isKept: (ManagedObject) -> Bool) {
    let kept = objects.filter(isKept)
    changing { $0 = kept }
  }

  // MARK: Sorting

  override func sortRange(
    _ range: NSRange, options opts: NSSortOptions = [], usingComparator cmptr: (Any, Any) -> ComparisonResult
  ) {
    let place = range.location..<NSMaxRange(range)
    let sorted = NSArray(array: Array(objects[place])).sortedArray(options: opts, usingComparator: cmptr)
    changing { $0.replaceSubrange(place, with: sorted.map(destination)) }
  }
  override func sort(comparator cmptr: (Any, Any) -> ComparisonResult) { sort(usingComparator: cmptr) }
  override func sort(options opts: NSSortOptions = [], usingComparator cmptr: (Any, Any) -> ComparisonResult)
  {
    sortRange(NSRange(location: 0, length: count), options: opts, usingComparator: cmptr)
  }
  override func sort(using sortDescriptors: [NSSortDescriptor]) {
    let sorted = sortedArray(using: sortDescriptors).map(destination)
    changing { $0 = sorted }
  }
}

/// The destinations that a relationship has at one time: equal ones have the same, in the same order.
private struct RelationshipRevision: Equatable {
  private let state: AnyObject
  private var version: Int

  /// Nil without a context.
  init?(_ related: RelatedObjects<ManagedObject>) {
    guard let (state, version) = related.revision else { return nil }
    (self.state, self.version) = (state, version)
  }

  /// The revision after a number of additions, removals and moves, if nothing else has changed.
  func after(_ changes: Int) -> RelationshipRevision {
    var later = self
    later.version &+= changes
    return later
  }

  static func == (left: RelationshipRevision, right: RelationshipRevision) -> Bool {
    left.state === right.state && left.version == right.version
  }
}
