import Foundation
import GraphTestSupport
import Heartwood
import HeartwoodFaults
import Testing

/// 900 random changes in `swift test`, a million with `HEARTWOOD_LONG`.
@Suite struct `Random work on live results` {
  private static let isLong = ProcessInfo.processInfo.environment["HEARTWOOD_LONG"] != nil

  @Test(arguments: Array(1...(isLong ? 2000 : 3)) as [UInt64])
  func `what controllers report makes what a fetch from scratch returns`(seed: UInt64) throws {
    let container = try makeContainer()
    var work = LiveWork(seed: seed, container)
    do {
      try work.run(steps: Self.isLong ? 500 : 150)
    } catch {
      Issue.record("seed \(seed): \(error)\n\(work.log.suffix(60).joined(separator: "\n"))")
    }
  }
}

/// Random changes in two contexts and a child, beside controllers in the first and in the child.
private struct LiveWork {
  var random: SplitMix64
  let here: ManagedObjectContext
  let there: ManagedObjectContext
  let child: ManagedObjectContext
  let saves: Heard
  var mergedCount = 0
  var passedOver = false
  var number = 0
  var log: [String] = []
  var people: [Followed<Person>] = []
  var companies: [Followed<Company>] = []
  var lists: [IdentifierCopy] = []

  init(seed: UInt64, _ container: PersistentContainer) {
    random = SplitMix64(seed: seed)
    here = container.newBackgroundContext()
    there = container.newBackgroundContext()
    child = ManagedObjectContext(.privateQueue, parent: here)
    saves = Heard(there, .managedObjectContextDidSave)
    here.undoManager = UndoStack()
    for context in [here, there] {
      context.mergePolicy = .mergeByPropertyObjectTrump
    }
  }

  mutating func run(steps: Int) throws {
    for _ in 0..<10 { try edit(there) }
    try save(there)
    try follow()
    for step in 0..<steps {
      try self.step()
      if step % 3 == 0 { try compare("step \(step)") }
    }
    try compare("the end")
  }

  private mutating func step() throws {
    switch Int.random(in: 0..<24, using: &random) {
    case 0...9: try edit(here)
    case 10...12: try edit(there)
    case 13: try save(there)
    case 14, 15: try save(here)
    case 16: undo()
    case 17: try merge()
    case 18: try edit(child)
    case 19: try save(child)
    case 20: refresh()
    case 21: rollback()
    case 22: try obtainIdentifiers()
    default: try startAnew()
    }
  }

  // MARK: Steps

  private mutating func edit(_ context: ManagedObjectContext) throws {
    log.append("in \(context === here ? "here" : context === there ? "there" : "child")")
    for _ in 0..<Int.random(in: 1...4, using: &random) { try editOnce(context) }
    context.processPendingChanges()
  }

  private mutating func editOnce(_ context: ManagedObjectContext) throws {
    let all = try context.fetch(Person.self, sort: [.ascending(\.name)])
    let firms = try context.fetch(Company.self, sort: [.ascending(\.code)])
    let (person, company) = (all.randomElement(using: &random), firms.randomElement(using: &random))
    let value = Int64.random(in: 0..<40, using: &random)
    number += 1
    switch Int.random(in: 0..<14, using: &random) {
    case 0, 1:
      log.append("insert P\(number)")
      _ = context.makePerson("P\(number)", age: value, in: company)
    case 2 where firms.count < 6:
      log.append("insert C\(number)")
      context.makeCompany("C\(number)").size = value
    case 3...5:
      log.append("age of \(person?.name ?? "") is \(value)")
      person?.age = value
    case 6:
      person?.nick = value % 3 == 0 ? nil : value % 2 == 0 ? "n\(value % 5)" : "N\(value % 5)"
      log.append("nick of \(person?.name ?? "") is \(person?.nick ?? "nil")")
    case 7, 8:
      log.append("\(person?.name ?? "") joins \(company?.code ?? "")")
      person?.company = value % 4 == 0 ? nil : company
    case 9:
      log.append("\(company?.code ?? "") is called \(value)")
      company?.name = "\(value)"
    case 10:
      company?.size = value % 3 == 0 ? nil : value
    case 11:
      guard let person, let club = try club(context) else { return }
      log.append("\(person.name) in club \(value % 2)")
      if value % 2 == 0 { person.clubs.insert(club) } else { person.clubs.remove(club) }
    case 12:
      log.append("delete \(person?.name ?? "")")
      if let person { context.delete(person) }
    case 13 where firms.count > 3 && value % 2 == 0:
      log.append("delete \(company?.code ?? "")")
      if let company { context.delete(company) }
    default:
      person?.name += "x"
      log.append("rename to \(person?.name ?? "")")
    }
  }

  private func club(_ context: ManagedObjectContext) throws -> Club? {
    if let club = try context.fetch(Club.self).first { return club }
    let club = Club(context: context)
    club.title = "K"
    return club
  }

  private mutating func save(_ context: ManagedObjectContext) throws {
    log.append("save \(context === here ? "here" : context === there ? "there" : "child")")
    do {
      try context.save()
    } catch let error as HeartwoodError {
      log.append("failed, taken back: \(error)")
      context.rollback()
      if context === child { child.refreshAllObjects() }
    }
  }

  private mutating func undo() {
    log.append("undo")
    guard let stack = here.undoManager else { return }
    if Bool.random(using: &random), stack.canRedo { here.redo() } else if stack.canUndo { here.undo() }
    refreshThosePassedOver()
  }

  private mutating func merge() throws {
    log.append("merge")
    here.undoManager?.removeAllActions()
    for notification in saves.notifications.dropFirst(mergedCount) {
      here.mergeChanges(fromContextDidSave: notification)
      // A merge passes over deleted objects, which show their former values when they come back.
      passedOver = passedOver || !here.deletedObjects.isEmpty
    }
    mergedCount = saves.notifications.count
  }

  private mutating func refresh() {
    let all = here.registeredObjects.sorted { $0.objectID.description < $1.objectID.description }
    guard let object = all.randomElement(using: &random) else { return }
    log.append("refresh \(object.objectID)")
    here.undoManager?.removeAllActions()
    here.refresh(object, mergeChanges: Bool.random(using: &random))
    here.processPendingChanges()
  }

  private mutating func rollback() {
    let context = Bool.random(using: &random) ? here : there
    log.append("rollback \(context === here)")
    if context === here { child.rollback() }
    context.rollback()
    guard context === here else { return }
    passedOver = false
    child.refreshAllObjects()
  }

  private mutating func refreshThosePassedOver() {
    if passedOver { here.refreshAllObjects() }
    passedOver = !here.deletedObjects.isEmpty && passedOver
    child.refreshAllObjects()
  }

  private mutating func obtainIdentifiers() throws {
    log.append("obtain identifiers")
    try here.obtainPermanentIDs(for: here.insertedObjects.sorted { $0.objectID.key < $1.objectID.key })
  }

  private mutating func startAnew() throws {
    guard Int.random(in: 0..<4, using: &random) == 0 else { return }
    log.append("reset")
    child.reset()
    here.reset()
    try people.forEach { try $0.fetch() }
    try companies.forEach { try $0.fetch() }
    try lists.forEach { try $0.fetch() }
  }

  // MARK: Controllers

  private mutating func follow() throws {
    for context in [here, child] {
      for request in requests() {
        people.append(
          Followed(FetchedResultsController(fetchRequest: request, managedObjectContext: context)))
      }
      people.append(
        Followed(
          FetchedResultsController(
            fetchRequest: request([.descending(\.company?.name), .ascending(\.age)]),
            managedObjectContext: context, sectionNameKeyPath: "company.name")))
      people.append(
        Followed(
          FetchedResultsController(
            fetchRequest: request([.ascending(\.nick), .descending(\.age)]), managedObjectContext: context,
            sectionNameKeyPath: "nick")))
      people.append(
        Followed(
          FetchedResultsController(
            fetchRequest: request([.ascending(\.age)]), managedObjectContext: context, sectionName: \.decade))
      )
      let staffed = FetchRequest<Company>(
        where: { $0.people.count > 1 }, sort: [.descending(\.size), .ascending(\.name)])
      companies.append(
        Followed(FetchedResultsController(fetchRequest: staffed, managedObjectContext: context)))
      let rich = FetchRequest<Company>(where: { $0.size > 10 }, sort: [.ascending(\.size)])
      companies.append(Followed(FetchedResultsController(fetchRequest: rich, managedObjectContext: context)))
      let bySize = FetchRequest<Company>()
      bySize.sortDescriptors =
        [
          .descending { $0.people.count }, .ascending { $0.name.lowercased() },
        ] as [Sort<Company>]
      companies.append(
        Followed(FetchedResultsController(fetchRequest: bySize, managedObjectContext: context)))
    }
    try people.forEach { try $0.fetch() }
    try companies.forEach { try $0.fetch() }
    lists = (requests() + [request([.ascending(\.company?.name)])]).map { IdentifierCopy($0, here) }
    try lists.forEach { try $0.fetch() }
  }

  private func requests() -> [FetchRequest<Person>] {
    let saved = request([.descending(\.age)])
    saved.includesPendingChanges = false
    let limited = FetchRequest<Person>(where: { $0.age > 5 }, sort: [.ascending(\.age)])
    limited.fetchLimit = 6
    let shifted = request([.ascending(\.name)])
    (shifted.fetchLimit, shifted.fetchOffset) = (5, 2)
    let first = request([.descending(\.nick), .ascending(\.age)])
    first.fetchLimit = 3
    let organised = FetchRequest<Person>(where: { $0.clubs.count > 0 }, sort: [.ascending(\.age)])
    organised.fetchLimit = 2
    return [
      saved, limited, shifted, first, organised, request([.ascending(\.age)]),
      request([.ascending(\.nick, .caseInsensitive)]),
      FetchRequest(where: { $0.age < 20 && $0.nick != nil }, sort: [.descending(\.age), .ascending(\.name)]),
      FetchRequest(where: { $0.company.size > 10 }, sort: [.ascending(\.name)]),
      FetchRequest(where: { $0.clubs.count > 0 }, sort: [.descending(\.name)]),
      request([.ascending(\.company?.size), .ascending(\.age)]),
      request([.descending { $0.age % 7 }, .ascending(\.name)]),
    ]
  }

  private func request(_ sort: [Sort<Person>]) -> FetchRequest<Person> {
    let request = FetchRequest<Person>()
    request.sortDescriptors = sort
    return request
  }

  private mutating func compare(_ place: String) throws {
    here.processPendingChanges()
    try merge()
    child.refreshAllObjects()
    for (index, followed) in people.enumerated() { try followed.compare("\(place), people \(index)") }
    for (index, followed) in companies.enumerated() { try followed.compare("\(place), companies \(index)") }
    for (index, list) in lists.enumerated() { try list.compare("\(place), list \(index)") }
  }
}

/// A controller with the copy that its delegate makes.
private struct Followed<Object: ManagedObject> {
  let controller: FetchedResultsController<Object>
  let copy = ContentCopy<Object>(Followed.text)

  init(_ controller: FetchedResultsController<Object>) {
    self.controller = controller
    controller.delegate = copy
  }

  func fetch() throws {
    try controller.performFetch()
    copy.take(controller)
  }

  func compare(_ place: String) throws {
    let fetched = try controller.managedObjectContext.fetch(controller.fetchRequest)
    guard copy.errors.isEmpty else { throw copy.errors[0] }
    guard let objects = controller.fetchedObjects, objects == fetched else {
      throw Disagreement(
        what:
          "\(place): \((controller.fetchedObjects ?? []).map(Self.detail)), not \(fetched.map(Self.detail))")
    }
    guard copy.sections.flatMap(\.objects) == fetched else { throw Disagreement(what: "\(place): the copy") }
    guard copy.sections == controller.sections.map(ContentCopy.sections) else {
      throw Disagreement(what: "\(place): the sections")
    }
    for (index, section) in copy.sections.enumerated() {
      for (item, object) in section.objects.enumerated() {
        guard controller.indexPath(forObject: object) == IndexPath(item: item, section: index) else {
          throw Disagreement(what: "\(place): the path of \(Self.text(object))")
        }
        guard copy.shown[object] == Self.text(object) else {
          throw Disagreement(
            what: "\(place): \(Self.text(object)) was last reported as \(copy.shown[object] ?? "nothing")")
        }
      }
    }
  }

  private static func detail(_ object: Object) -> String {
    "\(text(object)) \(object.objectID.key) \(object.managedObjectContext == nil ? "without context" : "") \(object.hasChanges) \(object.committedValues(forKeys: ["age"]))"
  }

  private static func text(_ object: Object) -> String {
    switch object {
    case let person as Person: "\(person.name) \(person.age) \(person.nick ?? "-")"
    case let company as Company: "\(company.code) \(company.name) \(company.size ?? -1)"
    default: ""
    }
  }
}

/// A list of identifiers that is made by differences only, and live objects beside it.
private final class IdentifierCopy: FetchedResultsDifferenceDelegate {
  typealias Object = Person
  let controller: FetchedResultsController<Person>
  private var live: LiveObjects<Person>?
  private var list: [ManagedObjectID] = []

  init(_ request: FetchRequest<Person>, _ context: ManagedObjectContext) {
    controller = FetchedResultsController(fetchRequest: request, managedObjectContext: context)
    controller.delegate = self
  }

  func fetch() throws {
    try controller.performFetch()
    list = (controller.fetchedObjects ?? []).map(\.objectID)
    if live == nil { live = try LiveObjects(controller.fetchRequest, in: controller.managedObjectContext) }
  }

  func controller(
    _ controller: FetchedResultsController<Person>,
    didChangeContentWith difference: CollectionDifference<ManagedObjectID>
  ) { list = list.applying(difference) ?? [] }

  func compare(_ place: String) throws {
    let fetched = try controller.managedObjectContext.fetch(controller.fetchRequest)
    guard list == fetched.map(\.objectID) else {
      throw Disagreement(what: "\(place): \(list), not \(fetched.map(\.objectID))")
    }
    guard live?.objects == fetched else { throw Disagreement(what: "\(place): live objects") }
  }
}
