import HeartwoodBytes

/// The objects of a fetch, which are made batch by batch as they are met: Core Data's array of a fetch with a batch size.
///
/// ```swift
/// let albums = try context.fetchInBatches(request)
/// for row in visibleRows { show(albums[row].title) }
/// ```
///
/// It keeps a key for each object, and the objects of the last two batches; the context releases others that the program does not
/// reference. Objects are those of the time of the fetch, and show the values of the time at which their batch is met. One that was
/// deleted meanwhile is an inaccessible fault. Use it on the context's queue only.
public struct BatchedObjects<Object: ManagedObject>: RandomAccessCollection {
  private let source: BatchSource

  init(_ source: BatchSource) { self.source = source }

  /// 0.
  public var startIndex: Int { 0 }
  /// The number of objects. Makes none.
  public var endIndex: Int { source.found.keys.count }

  /// The object at an index. Makes its batch, and loads its rows and the relationships that the request names, if it is not one of the last
  /// two.
  ///
  /// Objects whose rows cannot be read then are read again, alone, when they are used.
  ///
  /// - Precondition: There is such an object.
  public subscript(index: Int) -> Object {
    require(
      source.found.keys.indices.contains(index), "index \(index) is outside of a result of \(count) objects")
    return CheckedCast.object(source.object(at: index), of: Object.self)
  }

  /// The identifiers of all objects, without making any. An object that was not saved has a temporary one.
  public var objectIDs: [ManagedObjectID] { source.identifiers }
}

/// Makes the objects of a result.
final class BatchSource {
  let found: FoundKeys
  private let context: ManagedObjectContext
  private let delivery: ObjectDelivery
  private let size: Int
  /// The objects that were not saved when they were found, by their keys.
  private let unsaved: [UInt64: ManagedObject]
  /// The last batches, the newest first.
  private var last: [(number: Int, objects: [ManagedObject])] = []

  private static let keptBatches = 2

  /// - Parameter check: Throws if an object does not have the class of the request.
  init(
    _ found: FoundKeys, by fetch: DetachedFetch, _ context: ManagedObjectContext,
    _ check: (ManagedObject) throws -> Void
  ) throws {
    self.found = found
    self.context = context
    unsaved = fetch.unsaved
    var delivery = fetch.request.delivery
    size = delivery.batchSize > 0 ? delivery.batchSize : 100
    (delivery.batchSize, delivery.hasRows, delivery.refreshes) = (0, true, false)
    self.delivery = delivery
    // One object of each entity shows its class.
    var checked: Set<UInt16> = []
    for index in found.keys.indices {
      guard checked.insert(found.number(at: index)).inserted else { continue }
      try check(fault(at: index))
    }
  }

  var identifiers: [ManagedObjectID] {
    found.keys.indices.map { index in
      if let object = unsaved[found.keys[index]] { return object.objectID }
      let entity = try? found.entity.rootEntity.entity(numbered: found.number(at: index))
      return ManagedObjectID(
        entity: entity ?? found.entity, key: context.permanentKeys.permanent(found.keys[index]),
        store: context.storeIdentity)
    }
  }
  /// The object at an index, a fault if its row is not loaded.
  private func fault(at index: Int) -> ManagedObject {
    if let object = unsaved[found.keys[index]] { return object }
    let root = found.entity.rootEntity
    let key = context.permanentKeys.permanent(found.keys[index])
    if let object = context.registered(root, key), object.isRealised || object.hasChanges { return object }
    let entity = (try? root.entity(numbered: found.number(at: index))) ?? found.entity
    return RowLoader(context).fault(entity.factory, key, in: context.storeIdentity)
  }

  func object(at index: Int) -> ManagedObject {
    context.beginUse("reading a result in batches")
    defer { context.endUse() }
    let number = index / size
    if let known = last.first(where: { $0.number == number }) { return known.objects[index - number * size] }
    let range = (number * size)..<min((number + 1) * size, found.keys.count)
    let objects = range.map { fault(at: $0) }
    RowLoader(context).load(objects, realising: delivery.realises, prefetching: delivery.prefetching)
    last.insert((number, objects), at: 0)
    if last.count > Self.keptBatches { last.removeLast() }
    context.sweepIfDue()
    return objects[index - range.lowerBound]
  }
}
