/// A request that is compiled for tracking: evaluates rows, and reads what places them.
struct ResultReader {
  let request: ResolvedRequest
  let order: TrackedOrder
  /// The rows of other objects on which membership, order and sections depend; nil if it is not known which they are.
  let routes: RelationshipRoutes?
  /// The numbers of the root entities of those rows; nil if they may be any.
  private var reads = RowReads()
  private let section: SectionName?

  /// - Parameter section: The value that names the sections; nil for one section of all objects.
  init(_ request: ResolvedRequest, section: SectionName?) {
    self.request = request
    self.section = section
    order = TrackedOrder(request.sort)
    routes = RelationshipRoutes(request, section)
    reads.add(RowReads(request.predicate.map(\.readRoots) ?? []))
    reads.add(RowReads(request.sort.map(\.readRoots) ?? []))
    reads.add(RowReads(section?.toOneRoute?.map(\.destinationEntity.rootEntity) ?? []))
  }

  /// Whether some of the objects that were touched, or their relationships, may decide about others that belong to the result, and it is
  /// not known about which.
  func mayDecideAboutOthers(_ touched: TouchedObjects) -> Bool {
    routes == nil && reads.mayShow(touched)
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
