/// A fetch request of a model by name, as text: what a model stores of it.
struct FetchRequestTemplate: Codable, Hashable, Sendable {
  struct Order: Codable, Hashable {
    var key: String
    var isAscending: Bool
    var options: UInt8
  }

  /// A column of dictionaries.
  struct Column: Codable, Hashable {
    var name: String
    var expression: String
    /// The raw value of an `AttributeType`.
    var type: Int
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
  // Models of earlier versions do not have these.
  var includesPropertyValues: Bool?
  var prefetching: [String]?
  var columns: [Column]?
  var groups: [Column]?
  var having: String?
  var isDistinct: Bool?
}
