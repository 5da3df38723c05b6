/// A request that is compiled for tracking: evaluates rows, and reads what places them.
struct ResultReader {
  let request: ResolvedRequest
  let order: TrackedOrder
  /// The rows of other objects on which membership, order and sections depend; nil if it is not known which they are.
  let routes: RelationshipRoutes?
  private let section: SectionName?

  /// - Parameter section: What names the sections; nil for one section of all objects.
  init(_ request: ResolvedRequest, section: SectionName?) {
    self.request = request
    self.section = section
    order = TrackedOrder(request.sort)
    routes = RelationshipRoutes(request, section)
  }

  var hasSections: Bool { section != nil }

  /// Whether a row belongs to the result, apart from limit and offset.
  func matches(_ found: FoundRow, in source: any RowSource) throws -> Bool {
    guard request.accepts(found.row.entityNumber) else { return false }
    return try request.predicate?.matches(found.row, key: found.key, in: source) ?? true
  }

  /// Whether the names of sections are read from objects, which may show older values than the newest rows.
  var readsObjects: Bool {
    if case .computed = section { return true }
    return false
  }

  func tracked(_ object: ManagedObject, _ found: FoundRow, in source: any RowSource) throws -> TrackedObject {
    var place = Place(in: source).moved(to: found)
    // Order and sections must be of one state.
    if readsObjects, !object.hasUnsavedState, let row = object.row {
      place = place.moved(to: FoundRow(key: found.key, row: row))
    }
    return TrackedObject(
      object, key: found.key, values: try request.sort?.keys.map { try $0.value(place) } ?? [],
      section: try section?.name(of: object, place) ?? "")
  }
}
