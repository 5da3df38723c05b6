/// A fetch request of a model by name, as text: what a model stores of it.
struct FetchRequestTemplate: Codable, Hashable, Sendable {
  struct Order: Codable, Hashable {
    var key: String
    var isAscending: Bool
    var options: UInt8
  }

  var entityName: String
  var predicate: String?
  var sort: [Order]
  var limit: Int
  var offset: Int
  var batchSize: Int
  var includesSubentities: Bool
  var includesPendingChanges: Bool
  var returnsObjectsAsFaults: Bool
  var refreshesRefetchedObjects: Bool
}
