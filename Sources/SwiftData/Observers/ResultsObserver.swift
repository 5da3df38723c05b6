import Foundation
import Heartwood
import Observation

/// The models that a fetch returns, as they change: with changes of the context, with what other contexts and other processes save.
///
/// It is used where its context is. Changes show when the context processes them: those of the main context once the main actor is free, those of other
/// contexts at `processPendingChanges()`, `save()` and, in a model actor, at each suspension.
public final class ResultsObserver<Element: PersistentModel, SectionTitle: Hashable>: Observable {
  /// The context.
  public let modelContext: ModelContext
  /// The property that names the section of a model; nil without sections.
  public let sectionBy: (PartialKeyPath<Element> & Sendable)?
  private let title: ((Element) -> SectionTitle?)?
  private let registrar = ObservationRegistrar()
  private var live: LiveObjects<ManagedObject>
  private var given: FetchDescriptor<Element>

  private init(
    _ descriptor: FetchDescriptor<Element>, _ sectionBy: (PartialKeyPath<Element> & Sendable)?,
    _ sort: SortDescriptor<Element>?, _ title: ((Element) -> SectionTitle?)?, _ context: ModelContext
  ) throws {
    modelContext = context
    self.sectionBy = sectionBy
    self.title = title
    given = descriptor
    sectionSort = sort
    live = try Self.follow(descriptor, sort, context)
  }

  private let sectionSort: SortDescriptor<Element>?

  private static func follow(
    _ descriptor: FetchDescriptor<Element>, _ sort: SortDescriptor<Element>?, _ context: ModelContext
  ) throws -> LiveObjects<ManagedObject> {
    context.objects.mergeReceived()
    let request = try ModelFetch(sorted(descriptor, sort), in: context).request(ManagedObject.self)
    return try ModelErrors.translating { try LiveObjects(request, in: context.objects) }
  }

  private static func sorted(_ descriptor: FetchDescriptor<Element>, _ sort: SortDescriptor<Element>?)
    -> FetchDescriptor<Element>
  {
    var sorted = descriptor
    if let sort { sorted.sortBy.insert(sort, at: 0) }
    return sorted
  }

  // MARK: Results

  /// The models, in order.
  public var results: FetchResultsCollection<Element> { FetchResultsCollection(models) }

  private var models: [Element] {
    registrar.access(self, keyPath: \.results)
    let models = live.objects.compactMap {
      ($0 as? _ModelObject).flatMap { modelContext.objects.model(of: $0) as? Element }
    }
    let fetch = ModelFetch(Self.sorted(given, sectionSort), in: modelContext)
    return fetch.leavesOut ? (try? fetch.models()) ?? models : models
  }

  /// The sections, in the order of their first models; nil without `sectionBy`.
  public var sections: SectionedResults<Element, SectionTitle>? {
    title.map { SectionedResults(models, by: $0) }
  }

  /// Why the last change does not show; nil if it does.
  public var fetchError: (any Error)? { live.error }

  // MARK: The fetch

  /// The description of the fetch. Setting it fetches again; an error keeps the former results and is `fetchError` of the next change.
  public var fetchDescriptor: FetchDescriptor<Element> {
    get { given }
    set {
      guard let made = try? Self.follow(newValue, sectionSort, modelContext) else { return }
      registrar.withMutation(of: self, keyPath: \.results) {
        given = newValue
        live = made
      }
    }
  }

  /// The condition.
  public var filterBy: Predicate<Element>? {
    get { given.predicate }
    set { fetchDescriptor.predicate = newValue }
  }

  /// The order, after that of the sections.
  public var sortBy: [SortDescriptor<Element>] {
    get { given.sortBy }
    set { fetchDescriptor.sortBy = newValue }
  }
}

extension ResultsObserver where SectionTitle == Never {
  /// Follows a fetch.
  ///
  /// - Throws: As `ModelContext.fetch(_:)`.
  public convenience init(
    fetchDescriptor: FetchDescriptor<Element> = FetchDescriptor(), modelContext: ModelContext,
    isolation: isolated (any Actor)? = #isolation
  ) throws { try self.init(fetchDescriptor, nil, nil, nil, modelContext) }

  /// Follows the models that satisfy a predicate.
  public convenience init(
    filterBy: Predicate<Element>?, sortBy: [SortDescriptor<Element>] = [], modelContext: ModelContext,
    isolation: isolated (any Actor)? = #isolation
  ) throws {
    try self.init(FetchDescriptor(predicate: filterBy, sortBy: sortBy), nil, nil, nil, modelContext)
  }

  /// Follows a fetch, with a context of its own.
  public convenience init(
    fetchDescriptor: FetchDescriptor<Element>, modelContainer: ModelContainer,
    isolation: isolated (any Actor)? = #isolation
  ) throws { try self.init(fetchDescriptor, nil, nil, nil, ModelContext(modelContainer)) }

  /// Follows the models that satisfy a predicate, with a context of its own.
  public convenience init(
    filterBy: Predicate<Element>? = nil, sortBy: [SortDescriptor<Element>] = [],
    modelContainer: ModelContainer,
    isolation: isolated (any Actor)? = #isolation
  ) throws {
    try self.init(
      FetchDescriptor(predicate: filterBy, sortBy: sortBy), nil, nil, nil, ModelContext(modelContainer))
  }
}

extension ResultsObserver where SectionTitle == String {
  /// Follows a fetch in sections.
  public convenience init(
    fetchDescriptor: FetchDescriptor<Element> = FetchDescriptor(),
    sectionBy: KeyPath<Element, String> & Sendable,
    modelContext: ModelContext, isolation: isolated (any Actor)? = #isolation
  ) throws {
    try self.init(
      fetchDescriptor, sectionBy, SortDescriptor(sectionBy), { $0[keyPath: sectionBy] }, modelContext)
  }

  /// Follows a fetch in sections. Models without a title are in the section of the empty text.
  public convenience init(
    fetchDescriptor: FetchDescriptor<Element> = FetchDescriptor(),
    sectionBy: KeyPath<Element, String?> & Sendable,
    modelContext: ModelContext, isolation: isolated (any Actor)? = #isolation
  ) throws {
    try self.init(
      fetchDescriptor, sectionBy, SortDescriptor(sectionBy), { $0[keyPath: sectionBy] ?? "" }, modelContext)
  }

  /// Follows the models that satisfy a predicate, in sections.
  public convenience init(
    filterBy: Predicate<Element>? = nil, sortBy: [SortDescriptor<Element>] = [],
    sectionBy: KeyPath<Element, String> & Sendable, modelContext: ModelContext,
    isolation: isolated (any Actor)? = #isolation
  ) throws {
    try self.init(
      fetchDescriptor: FetchDescriptor(predicate: filterBy, sortBy: sortBy), sectionBy: sectionBy,
      modelContext: modelContext)
  }

  /// Follows the models that satisfy a predicate, in sections.
  public convenience init(
    filterBy: Predicate<Element>? = nil, sortBy: [SortDescriptor<Element>] = [],
    sectionBy: KeyPath<Element, String?> & Sendable, modelContext: ModelContext,
    isolation: isolated (any Actor)? = #isolation
  ) throws {
    try self.init(
      fetchDescriptor: FetchDescriptor(predicate: filterBy, sortBy: sortBy), sectionBy: sectionBy,
      modelContext: modelContext)
  }

  /// Follows a fetch in sections, with a context of its own.
  public convenience init(
    fetchDescriptor: FetchDescriptor<Element>, sectionBy: KeyPath<Element, String> & Sendable,
    modelContainer: ModelContainer, isolation: isolated (any Actor)? = #isolation
  ) throws {
    try self.init(
      fetchDescriptor: fetchDescriptor, sectionBy: sectionBy, modelContext: ModelContext(modelContainer))
  }

  /// Follows a fetch in sections, with a context of its own.
  public convenience init(
    fetchDescriptor: FetchDescriptor<Element>, sectionBy: KeyPath<Element, String?> & Sendable,
    modelContainer: ModelContainer, isolation: isolated (any Actor)? = #isolation
  ) throws {
    try self.init(
      fetchDescriptor: fetchDescriptor, sectionBy: sectionBy, modelContext: ModelContext(modelContainer))
  }

  /// Follows the models that satisfy a predicate, in sections, with a context of its own.
  public convenience init(
    filterBy: Predicate<Element>? = nil, sortBy: [SortDescriptor<Element>] = [],
    sectionBy: KeyPath<Element, String> & Sendable, modelContainer: ModelContainer,
    isolation: isolated (any Actor)? = #isolation
  ) throws {
    try self.init(
      filterBy: filterBy, sortBy: sortBy, sectionBy: sectionBy, modelContext: ModelContext(modelContainer))
  }

  /// Follows the models that satisfy a predicate, in sections, with a context of its own.
  public convenience init(
    filterBy: Predicate<Element>? = nil, sortBy: [SortDescriptor<Element>] = [],
    sectionBy: KeyPath<Element, String?> & Sendable, modelContainer: ModelContainer,
    isolation: isolated (any Actor)? = #isolation
  ) throws {
    try self.init(
      filterBy: filterBy, sortBy: sortBy, sectionBy: sectionBy, modelContext: ModelContext(modelContainer))
  }
}

@available(*, unavailable, message: "an observer is used where its context is")
extension ResultsObserver: Sendable {}
