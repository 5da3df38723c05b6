import Foundation
import Heartwood
import HeartwoodBytes

/// The kind of a change to an object or a section. The raw values are Core Data's.
public typealias NSFetchedResultsChangeType = FetchedResultsChangeType

/// A section of a controller's objects.
public protocol NSFetchedResultsSectionInfo {
  /// The value of the section name key path.
  var name: String { get }
  /// The title of the section in an index.
  var indexTitle: String? { get }
  /// The number of objects.
  var numberOfObjects: Int { get }
  /// The objects; nil before the first fetch.
  var objects: [Any]? { get }
}

struct SectionInfo: NSFetchedResultsSectionInfo {
  let name: String
  let indexTitle: String?
  let numberOfObjects: Int
  private let all: [AnyObject]
  var objects: [Any]? { all }

  /// A section of dictionaries.
  init(_ name: String, _ rows: ArraySlice<NSDictionary>) {
    (self.name, numberOfObjects, all) = (name, rows.count, Array(rows))
    indexTitle = name.first.map { $0.uppercased() }
  }

  /// - Parameter isGone: Whether the section was deleted: it has no objects any more, as in Core Data.
  init(_ section: FetchedResultsSectionInfo<ManagedObject>, isGone: Bool = false) {
    name = section.name
    indexTitle = section.indexTitle
    numberOfObjects = isGone ? 0 : section.numberOfObjects
    all = isGone ? [] : section.objects
  }
}

/// The methods that a fetched results controller calls for changes. Each has a default that does nothing.
public protocol NSFetchedResultsControllerDelegate: AnyObject {
  func controllerWillChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>)
  func controllerDidChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>)
  func controller(
    _ controller: NSFetchedResultsController<any NSFetchRequestResult>, didChange anObject: Any,
    at indexPath: IndexPath?,
    for type: NSFetchedResultsChangeType, newIndexPath: IndexPath?)
  func controller(
    _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
    didChange sectionInfo: any NSFetchedResultsSectionInfo,
    atSectionIndex sectionIndex: Int, for type: NSFetchedResultsChangeType)
  func controller(
    _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
    sectionIndexTitleForSectionName sectionName: String
  ) -> String?
  /// Called after each batch of changes with the difference of identifiers, for a controller without sections.
  func controller(
    _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
    didChangeContentWith diff: CollectionDifference<NSManagedObjectID>)
}

extension NSFetchedResultsControllerDelegate {
  /// Does nothing.
  public func controllerWillChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>)
  {}
  /// Does nothing.
  public func controllerDidChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>) {
  }
  /// Does nothing.
  public func controller(
    _ controller: NSFetchedResultsController<any NSFetchRequestResult>, didChange anObject: Any,
    at indexPath: IndexPath?,
    for type: NSFetchedResultsChangeType, newIndexPath: IndexPath?
  ) {}
  /// Does nothing.
  public func controller(
    _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
    didChange sectionInfo: any NSFetchedResultsSectionInfo,
    atSectionIndex sectionIndex: Int, for type: NSFetchedResultsChangeType
  ) {}
  /// The first letter of the name.
  public func controller(
    _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
    sectionIndexTitleForSectionName sectionName: String
  ) -> String? { sectionName.first.map { $0.uppercased() } }
  /// Does nothing.
  public func controller(
    _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
    didChangeContentWith diff: CollectionDifference<NSManagedObjectID>
  ) {}
}

/// The part that controllers of all objects share.
open class ResultsControllerBase: NSObject {
  override init() {}
}

/// The objects of a fetch in sections, which follow the changes of their context and report them to a delegate.
///
/// Delegates get the controller as one of any objects, as they do on Apple's systems: it is the same instance. A controller of dictionaries has
/// those of the last `performFetch()`, and follows no changes.
open class NSFetchedResultsController<ResultType: NSFetchRequestResult>: ResultsControllerBase, _Recastable {
  // The values of the next members, which classes of a program may override.
  private final let given:
    (request: NSFetchRequest<ResultType>, context: NSManagedObjectContext, section: String?, cache: String?)
  /// The request. A change of it counts from the next `performFetch()`.
  @inline(never)
  open var fetchRequest: NSFetchRequest<ResultType> { given.request }
  /// The context whose changes the controller follows.
  open var managedObjectContext: NSManagedObjectContext { given.context }
  /// The path of the property whose value names the section of an object: one of the model, or one of the class that is marked with `@objc`.
  open var sectionNameKeyPath: String? { given.section }
  /// The name of a cache, which has no effect.
  open var cacheName: String? { given.cache }
  private final var core: ResultsCore?
  /// The dictionaries of a request for those.
  private final var rows: FetchedDictionaries?

  /// The delegate, which is told of changes; held weakly.
  open weak var delegate: (any NSFetchedResultsControllerDelegate)? {
    didSet { core?.setDelegate(delegate, self) }
  }

  /// A controller without content; `performFetch()` gets it.
  public init(
    fetchRequest: NSFetchRequest<ResultType>, managedObjectContext context: NSManagedObjectContext,
    sectionNameKeyPath: String?, cacheName name: String?
  ) {
    given = (fetchRequest, context, sectionNameKeyPath, name)
    super.init()
  }

  /// A controller without a request, for classes that override the members: its own `performFetch()` throws.
  public override init() {
    given = (NSFetchRequest(), NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType), nil, nil)
    super.init()
  }

  /// The controller itself: its members give references, whatever the class of the objects is.
  public static func _recast(_ object: AnyObject) -> AnyObject? {
    self == NSFetchedResultsController<ResultType>.self && object is ResultsControllerBase ? object : nil
  }

  /// Fetches the content.
  ///
  /// - Throws: An error about the request, or the store's error: also if the request is for identifiers or a number, or a result is not of the
  ///   controller's type.
  open func performFetch() throws {
    switch fetchRequest.resultType {
    case .managedObjectResultType:
      core = try fetchedObjects(of: fetchRequest)
      rows = nil
    case .dictionaryResultType:
      rows = try FetchedDictionaries(fetchRequest, managedObjectContext, sectionNameKeyPath, Self.check)
      core = nil
    default:
      throw HeartwoodError(
        .coreData,
        "a fetched results controller has objects or dictionaries: the resultType of its request for "
          + "\(fetchRequest.entityName ?? "?") is \(fetchRequest.resultType.name)")
    }
  }

  /// - Throws: `.coreData` for a result of another type, which the members would give as one of this type.
  private static func check(_ result: AnyObject) throws {
    guard !(result is ResultType) else { return }
    throw HeartwoodError(
      .coreData,
      "the controller is one of \(ResultType.self), and a result is \(type(of: result)): check the resultType of its request and the class "
        + "of the entity")
  }

  private final func fetchedObjects(of fetchRequest: NSFetchRequest<ResultType>) throws -> ResultsCore {
    let request = try fetchRequest.converted(in: managedObjectContext, as: ManagedObject.self)
    // An empty list is any order, which a controller keeps; without a list there is an error.
    if fetchRequest.sortDescriptors?.isEmpty == true { request.sortDescriptors = [NamedSort("objectID")] }
    let core = ResultsCore(request, managedObjectContext, sectionNameKeyPath)
    core.controller.refuseObjects(by: Self.check)
    core.setDelegate(delegate, self)
    try core.performFetch()
    return core
  }

  // The next members are used through controllers of any objects as well, whose results have the same form: one reference each.

  /// All objects in order; nil before the first fetch.
  @inline(never)
  open var fetchedObjects: [ResultType]? {
    rows.map { unsafeBitCast($0.all, to: [ResultType].self) }
      ?? core?.controller.fetchedObjects.map { unsafeBitCast($0, to: [ResultType].self) }
  }

  /// The sections, in order; nil before the first fetch.
  @inline(never)
  open var sections: [any NSFetchedResultsSectionInfo]? {
    rows?.sections ?? core?.controller.sections?.map { SectionInfo($0) }
  }

  /// The object at a place.
  ///
  /// - Precondition: There is such a place.
  @inline(never)
  open func object(at indexPath: IndexPath) -> ResultType {
    if let rows { return unsafeBitCast(rows.row(at: indexPath), to: ResultType.self) }
    guard let core else { programError("object(at:): the controller has no content before performFetch()") }
    return unsafeBitCast(core.controller.object(at: indexPath), to: ResultType.self)
  }

  /// The place of an object; nil if it is not among the fetched ones.
  @inline(never)
  open func indexPath(forObject object: ResultType) -> IndexPath? {
    if let rows { return rows.indexPath(of: object as AnyObject) }
    return (object as AnyObject as? ManagedObject).flatMap { core?.controller.indexPath(forObject: $0) }
  }

  /// The titles of the sections in an index.
  open var sectionIndexTitles: [String] { rows?.indexTitles ?? core?.controller.sectionIndexTitles ?? [] }

  /// The title of a section in an index: the first letter of its name.
  open func sectionIndexTitle(forSectionName sectionName: String) -> String? {
    sectionName.first.map { $0.uppercased() }
  }

  /// The section for a title in an index.
  open func section(forSectionIndexTitle title: String, at sectionIndex: Int) -> Int {
    rows?.section(for: title) ?? core?.controller.section(forSectionIndexTitle: title, at: sectionIndex) ?? 0
  }

  /// Does nothing: there are no caches of sections.
  open class func deleteCache(withName name: String?) {}
}

/// Heartwood's controller of a fetch, and what passes its reports on.
final class ResultsCore {
  let controller: FetchedResultsController<ManagedObject>
  private var forwarder: ResultsForwarder?

  private let computed: ComputedSection?

  init(_ request: FetchRequest<ManagedObject>, _ context: NSManagedObjectContext, _ section: String?) {
    computed = section.flatMap { ComputedSection($0, of: request.entity) }
    controller =
      computed.map {
        FetchedResultsController(
          fetchRequest: request, managedObjectContext: context, sectionName: \ManagedObject[section: $0])
      }
      ?? FetchedResultsController(
        fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: section)
  }

  func performFetch() throws {
    try controller.performFetch()
    try computed?.check()
  }

  func setDelegate(_ delegate: (any NSFetchedResultsControllerDelegate)?, _ owner: AnyObject) {
    forwarder = delegate.map { ResultsForwarder($0, owner) }
    controller.delegate = forwarder
  }
}

private final class ResultsForwarder: FetchedResultsControllerDelegate, FetchedResultsDifferenceFollower {
  typealias Object = ManagedObject
  private weak var delegate: (any NSFetchedResultsControllerDelegate)?
  private weak var owner: AnyObject?
  private var difference: CollectionDifference<NSManagedObjectID>?

  init(_ delegate: any NSFetchedResultsControllerDelegate, _ owner: AnyObject) {
    self.delegate = delegate
    self.owner = owner
  }

  private func tell(
    _ body: (any NSFetchedResultsControllerDelegate, NSFetchedResultsController<any NSFetchRequestResult>) ->
      Void
  ) {
    guard let delegate, let owner else { return }
    // The same instance; its members give references, whatever the class of the objects is.
    let address = Unmanaged.passUnretained(owner).toOpaque()
    body(
      delegate,
      Unmanaged<NSFetchedResultsController<any NSFetchRequestResult>>.fromOpaque(address)
        .takeUnretainedValue())
  }

  func controllerWillChangeContent(_ controller: FetchedResultsController<ManagedObject>) {
    difference = nil
    tell { $0.controllerWillChangeContent($1) }
  }

  func note(_ difference: CollectionDifference<ManagedObjectID>) { self.difference = difference }

  func controllerDidChangeContent(_ controller: FetchedResultsController<ManagedObject>) {
    tell { delegate, owner in
      if owner.sectionNameKeyPath == nil, let difference {
        delegate.controller(owner, didChangeContentWith: difference)
      }
      delegate.controllerDidChangeContent(owner)
    }
  }

  func controller(
    _ controller: FetchedResultsController<ManagedObject>, didChange object: ManagedObject,
    at indexPath: IndexPath?,
    for type: FetchedResultsChangeType, newIndexPath: IndexPath?
  ) {
    // Core Data gives an updated object its new place as well.
    let new = type == .update ? newIndexPath ?? indexPath : newIndexPath
    tell { $0.controller($1, didChange: object, at: indexPath, for: type, newIndexPath: new) }
  }

  func controller(
    _ controller: FetchedResultsController<ManagedObject>,
    didChange sectionInfo: FetchedResultsSectionInfo<ManagedObject>,
    atSectionIndex sectionIndex: Int, for type: FetchedResultsChangeType
  ) {
    let section = SectionInfo(sectionInfo, isGone: type == .delete)
    tell { $0.controller($1, didChange: section, atSectionIndex: sectionIndex, for: type) }
  }

  func controller(
    _ controller: FetchedResultsController<ManagedObject>, sectionIndexTitleForSectionName sectionName: String
  ) -> String? {
    var title: String?
    tell { title = $0.controller($1, sectionIndexTitleForSectionName: sectionName) }
    return title
  }
}
