import Foundation
import HeartwoodBytes

/// The objects of a fetch in sections, which follow the changes of their context and report them to a delegate.
///
/// ```swift
/// let request = FetchRequest<Country>(where: { $0.population > 0 }, sort: [.ascending(\.continent), .ascending(\.name)])
/// let controller = FetchedResultsController(
///   fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: "continent")
/// controller.delegate = table
/// try controller.performFetch()
/// ```
///
/// After each event of the context the content is what a fetch returns: unsaved changes, undo and rollback show at once, and what
/// others save shows when the context merges it, also where the objects were not registered. Changes of related objects that the predicate, the
/// sort or the section names read show, too; in Core Data they do not until the object itself changes. A limit and an offset stay in force, in
/// Core Data a limit holds for the first fetch only.
///
/// Use a controller on its context's queue only. It keeps the context and its objects.
open class FetchedResultsController<Object: ManagedObject> {
  /// The request. A change of it counts from the next `performFetch()`.
  public let fetchRequest: FetchRequest<Object>
  /// The context whose changes the controller follows.
  public let managedObjectContext: ManagedObjectContext
  /// The path of the property whose value names the section of an object; nil for one section of all objects, or if it was given as
  /// a key path.
  public let sectionNameKeyPath: String?

  /// The name of the cache of sections, which has no effect: sections are computed at each fetch, so that none are out of date.
  public let cacheName: String?

  /// Does nothing: there is no cache of sections on disk. Code that changes a request of a controller calls it.
  ///
  /// - Parameter name: The name of a cache; nil for all.
  public static func deleteCache(withName name: String?) {}

  /// The object that is notified of changes. The controller follows changes while there is one, and holds it weakly.
  public weak var delegate: (any FetchedResultsControllerDelegate<Object>)?

  let tracker: ResultTracker
  let hasSections: Bool

  /// A controller without content; `performFetch()` gets it.
  ///
  /// - Parameters:
  ///   - fetchRequest: The request, with at least one sort descriptor. The first one must sort by what names the sections, or by what
  ///     orders objects in the same way.
  ///   - managedObjectContext: The context.
  ///   - sectionNameKeyPath: The path of an attribute whose value names the section of an object, over to-one relationships, such as
  ///     `country.name`. The attribute may be transient. Nil for one section of all objects.
  ///   - cacheName: Without effect: sections are computed at each fetch.
  public init(
    fetchRequest: FetchRequest<Object>, managedObjectContext: ManagedObjectContext,
    sectionNameKeyPath: String? = nil, cacheName: String? = nil
  ) {
    self.fetchRequest = fetchRequest
    self.managedObjectContext = managedObjectContext
    self.sectionNameKeyPath = sectionNameKeyPath
    self.cacheName = cacheName
    hasSections = sectionNameKeyPath != nil
    tracker = .make(fetchRequest, managedObjectContext) { entity in
      try sectionNameKeyPath.map { try SectionName($0, entity: entity) }
    }
    report()
  }

  /// A controller whose sections are named by any property.
  ///
  /// - Parameters:
  ///   - fetchRequest: As of the other initialiser.
  ///   - managedObjectContext: The context.
  ///   - sectionName: The property. A computed one is read again when the object itself changes, so it should depend on nothing else.
  public init<Name>(
    fetchRequest: FetchRequest<Object>, managedObjectContext: ManagedObjectContext,
    sectionName: KeyPath<Object, Name>
  ) {
    self.fetchRequest = fetchRequest
    self.managedObjectContext = managedObjectContext
    sectionNameKeyPath = nil
    cacheName = nil
    hasSections = true
    tracker = .make(fetchRequest, managedObjectContext) { try SectionName(sectionName, entity: $0) }
    report()
  }

  /// Fetches the content. Reports nothing, except to a delegate that gets snapshots. Needed before anything else, and again after a reset of the context, which the delegate is not
  /// told of.
  ///
  /// - Throws: `.coreData` if the request has no sort descriptor, does not fit the model, or does not keep the objects of a section
  ///   together; otherwise as a fetch.
  /// - Complexity: As of the fetch.
  public func performFetch() throws {
    managedObjectContext.beginUse("performing the fetch of a controller")
    defer { managedObjectContext.endUse() }
    try tracker.fetch()
    if case .snapshots(let delegate) = form { notify(delegate, reloaded: []) }
  }

  /// Refuses objects that a module above cannot use, with the error that `check` throws.
  package final func refuseObjects(by check: @escaping (ManagedObject) throws -> Void) {
    tracker.check = check
  }

  // MARK: Content

  /// All objects in order; nil before the first fetch.
  public var fetchedObjects: [Object]? { tracker.result?.objects.ofCheckedClass(Object.self) }

  /// The object at a place.
  ///
  /// - Precondition: There is such a place.
  public func object(at indexPath: IndexPath) -> Object {
    require(
      indexPath.count == 2,
      "the path of an object has a section and an item: \(indexPath) has \(indexPath.count) indexes")
    guard let result = tracker.result, result.sections.indices.contains(indexPath[0]),
      (0..<result.sections[indexPath[0]].count).contains(indexPath[1])
    else {
      programError(
        "there is no object at section \(indexPath[0]), item \(indexPath[1]); the controller has "
          + (tracker.result.map { "\($0.sections.map(\.count)) objects in its sections" }
            ?? "no content before performFetch()"))
    }
    let index = SectionPlaces(result.sections).range(indexPath[0]).lowerBound + indexPath[1]
    return CheckedCast.object(result.objects[index], of: Object.self)
  }

  /// The place of an object; nil if it is not among the fetched ones.
  ///
  /// - Complexity: O(log n), and linear in the number of sections.
  public func indexPath(forObject object: Object) -> IndexPath? {
    guard let result = tracker.result, let index = tracker.index(of: object) else { return nil }
    return Self.path(index, SectionPlaces(result.sections))
  }

  /// The sections, in order; nil before the first fetch.
  ///
  /// - Complexity: Linear in the number of sections.
  public var sections: [FetchedResultsSectionInfo<Object>]? {
    tracker.result.map { result in
      let places = SectionPlaces(result.sections)
      return result.sections.enumerated().map { sectionInfo($1.name, result.objects, places.range($0)) }
    }
  }

  // MARK: Index titles

  /// The different titles of the sections in the order of the sections, for an index beside a list.
  open var sectionIndexTitles: [String] {
    var seen: Set<String> = []
    return (tracker.result?.sections ?? []).compactMap { title(of: $0.name) }.filter {
      seen.insert($0).inserted
    }
  }

  /// The title of a section in an index: by default the first letter of its name, capitalised; nil for an empty name.
  open func sectionIndexTitle(forSectionName sectionName: String) -> String? {
    sectionName.first.map { $0.uppercased() }
  }

  /// The index of the first section with an index title; if none has it, as a subclass may have titles of its own, that of the last
  /// section whose title is before it in the order of text, or 0.
  ///
  /// - Parameters:
  ///   - title: One of `sectionIndexTitles`.
  ///   - index: Its index there.
  /// - Precondition: There is a section.
  open func section(forSectionIndexTitle title: String, at index: Int) -> Int {
    let titles = (tracker.result?.sections ?? []).map { self.title(of: $0.name) ?? "" }
    require(!titles.isEmpty, "a controller without sections has no section for the index title \"\(title)\"")
    return titles.firstIndex(of: title) ?? titles.lastIndex { $0 < title } ?? 0
  }

  final func title(of name: String) -> String? {
    delegate.map { $0.controller(self, sectionIndexTitleForSectionName: name) }
      ?? sectionIndexTitle(forSectionName: name)
  }
}

extension ResultTracker {
  /// A tracker of a request with at least one sort descriptor, which is copied at each fetch.
  fileprivate static func make<Object: ManagedObject>(
    _ request: FetchRequest<Object>, _ context: ManagedObjectContext,
    section: @escaping (EntityDescription) throws -> SectionName?
  ) -> ResultTracker {
    var copy = request
    return ResultTracker(
      context, of: Object.self, begin: { copy = request.copy() },
      compile: { context in
        guard copy.sortDescriptors?.isEmpty == false else { throw HeartwoodError.unsorted("\(copy)") }
        let resolved = try ObjectFetch(context).resolveObjects(copy)
        return ResultReader(resolved, section: try section(resolved.entity))
      })
  }
}

extension HeartwoodError {
  fileprivate static func unsorted(_ request: String) -> HeartwoodError {
    HeartwoodError(
      .coreData,
      "the request of a fetched results controller needs a sort descriptor, so that objects have places; set "
        + "sortDescriptors of the request for \(request)")
  }
}
