/// Puts the objects of a fetch into batches.
struct BatchBuilder {
  private let context: ManagedObjectContext
  private let size: Int
  private let empty: FetchBatch
  private var batch: FetchBatch
  private var number: UInt32 = 0
  private var count = 0

  /// A builder for a request; nil if it loads rows otherwise.
  init?(_ root: EntityDescription, _ delivery: ObjectDelivery, _ context: ManagedObjectContext) {
    guard delivery.isBatched else { return nil }
    self.context = context
    size = delivery.batchSize
    empty = FetchBatch(root: root, realises: delivery.realises, prefetching: delivery.prefetching)
    batch = empty
  }

  /// Adds the next object of the result.
  mutating func add(_ object: ManagedObject) {
    if count == 0 { number = context.fetchBatches.makeNumber() }
    count += 1
    if object.lacksRow {
      object.fetchBatch = number
      batch.keys.append(object.identifier.key)
    }
    if count == size { finish() }
  }

  /// Completes the last batch.
  mutating func finish() {
    if !batch.keys.isEmpty { context.fetchBatches.add(batch, number) }
    (batch, count) = (empty, 0)
  }
}
