import Foundation
import Heartwood

/// The order, the limit and the offset of a request for history: those of its fetch request.
struct HistorySelection {
  private let isOfChanges: Bool
  private let order: [NSSortDescriptor]
  private let offset: Int
  private let limit: Int

  /// - Returns: Nil if the request has none of them.
  /// - Throws: `.coreData` for a negative limit or offset.
  init?(_ request: FetchRequestBase?) throws(HeartwoodError) {
    guard let request else { return nil }
    order = request.sortDescriptors ?? []
    offset = request.fetchOffset
    limit = request.fetchLimit
    isOfChanges = request.entityName == NSPersistentHistoryChange.anyEntityDescription.name
    guard !order.isEmpty || offset != 0 || limit != 0 else { return nil }
    guard offset >= 0, limit >= 0 else {
      throw HeartwoodError(
        .coreData,
        "the fetchLimit and fetchOffset of a request for history are at least 0, not \(limit) and \(offset)")
    }
  }

  /// The kind of history result to fetch for a result of Core Data.
  ///
  /// - Throws: `.coreData` if a request for changes is to return transactions: which of their changes are left would not be clear.
  func fetched(
    for type: NSPersistentHistoryResultType
  ) throws(HeartwoodError) -> PersistentHistoryResult.ResultType {
    switch (type, isOfChanges) {
    case (.statusOnly, _), (.transactionsOnly, false), (.count, false): return .transactionsOnly
    case (.changesOnly, true), (.objectIDs, true): return .changesOnly
    case (_, false): return .transactionsAndChanges
    default:
      throw HeartwoodError(
        .coreData,
        "a fetch request for changes of the history with an order, a limit or an offset returns changes: set the resultType of the "
          + "history request to changesOnly or objectIDs, or begin with the fetchRequest of NSPersistentHistoryTransaction"
      )
    }
  }

  /// The chosen part of what was fetched, as a result has it.
  ///
  /// - Throws: `.coreData` for an order by a property that the history does not have.
  func result(
    _ found: PersistentHistoryResult, _ type: NSPersistentHistoryResultType
  ) throws(HeartwoodError) -> Any? {
    let transactions = isOfChanges ? [] : try chosen(found.transactions) { $0.orderedValues($1) }
    let changes =
      isOfChanges
      ? try chosen(found.changes) { change, _ in change.orderedValues }
      : transactions.flatMap { $0.changes ?? [] }
    switch type {
    case .statusOnly: return true
    case .count: return transactions.count
    case .transactionsOnly, .transactionsAndChanges: return transactions
    case .changesOnly: return changes
    case .objectIDs:
      var seen: Set<NSManagedObjectID> = []
      return changes.map(\.changedObjectID).filter { seen.insert($0).inserted }
    }
  }

  private func chosen<Element>(
    _ elements: [Element], _ values: (Element, Int) -> [String: Any?]
  ) throws(HeartwoodError) -> [Element] {
    let rows = elements.indices.map { values(elements[$0], $0) }
    if let row = rows.first { try checkOrder(row) }
    let known = rows.map { $0.compactMapValues { $0 } }
    let sorted = elements.indices.sorted { left, right in
      for descriptor in order {
        let result = descriptor.compare(known[left], to: known[right])
        if result != .orderedSame { return result == .orderedAscending }
      }
      return left < right
    }
    let kept = sorted.dropFirst(offset)
    return (limit == 0 ? kept : kept.prefix(limit)).map { elements[$0] }
  }

  private func checkOrder(_ row: [String: Any?]) throws(HeartwoodError) {
    for descriptor in order where descriptor.key.map({ row.keys.contains($0) }) != true {
      throw HeartwoodError(
        .coreData,
        "the history cannot be sorted by \(descriptor.key ?? "a key path"): it has "
          + row.keys.sorted().joined(separator: ", "))
    }
  }
}

extension PersistentHistoryTransaction {
  /// The values that transactions can be sorted by. Tokens are in the order of the history.
  fileprivate func orderedValues(_ place: Int) -> [String: Any?] {
    [
      "author": author, "contextName": contextName, "timestamp": timestamp,
      "transactionNumber": transactionNumber, "storeID": storeID, "bundleID": bundleID,
      "processID": processID, "token": place,
    ]
  }
}

extension PersistentHistoryChange {
  /// The values that changes can be sorted by.
  fileprivate var orderedValues: [String: Any?] {
    [
      "changeID": changeID, "changeType": changeType.rawValue, "entityName": changedObjectID.entity.name,
      "changedEntity": changedObjectID.entity.name, "changedObjectURI": "\(changedObjectID)",
      "changedObjectID": "\(changedObjectID)",
    ]
  }
}
