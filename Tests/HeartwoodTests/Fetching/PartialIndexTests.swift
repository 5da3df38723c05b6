import Foundation
import GraphTestSupport
import Heartwood
import HeartwoodFaults
import TestSupport
import Testing

/// Indexes that have some objects only: requests have the same result with and without them.
@Suite struct `Partial indexes` {
  // MOD-25
  @Test(
    arguments: [PersistentStore.StoreType.log, .json], Array(([1, 2, 3] as [UInt64]).sampled(every: 3)))
  func `requests have the same objects with and without partial indexes`(
    kind: PersistentStore.StoreType, seed: UInt64
  ) throws {
    var tasks = try TaskStores(seed: seed, kind)
    var (foundCount, servedCount) = (0, 0)
    for round in 1...12 {
      for _ in 0..<20 { try tasks.change() }
      if round % 2 == 0 { try tasks.save() }
      if round % 5 == 0 { try tasks.changeBatch() }
      if round % 4 == 0 { try tasks.reopen() }
      for _ in 0..<25 {
        let request = try tasks.request()
        let text = "\(request)"
        let plain = try tasks.numbers(request, in: tasks.contexts[1])
        #expect(try tasks.numbers(request, in: tasks.contexts[0]) == plain, "\(text)")
        for context in tasks.contexts { #expect(try context.count(for: request) == plain.count, "\(text)") }
        foundCount += plain.count
        if try tasks.contexts[0].plan(for: request).steps.contains(where: { $0.contains("Task[") }) {
          servedCount += 1
        }
      }
    }
    #expect(foundCount > 500 && servedCount > 20, "\(foundCount) found, \(servedCount) plans by an index")
    #expect(try tasks.verify() == [])
  }

  private static func words(_ count: Int) throws -> ManagedObjectContext {
    let context = try PersistentContainer(
      name: "Errands", types: [Errand.self], at: URL(fileURLWithPath: "/dev/null")
    ).newBackgroundContext()
    for number in 0..<count {
      let errand = Errand(context: context)
      errand.text = "errand \(number)"
      errand.isDone = number % 20 != 0
      errand.priority = Int64(number % 7)
      errand.due = number % 3 == 0 ? nil : Date(timeIntervalSinceReferenceDate: Double(number))
    }
    try context.save()
    return context
  }

  // MOD-25
  @Test func `a partial index serves requests that ask for no other objects`() throws {
    let context = try Self.words(4000)
    func plan(_ format: String, sort: String? = nil) throws -> [String] {
      let request = FetchRequest<Errand>()
      request.predicate = try FormatPredicate(format)
      if let sort { request.sortDescriptors = [try ComputedSort(sort, ascending: true)] }
      let steps = try context.plan(for: request).steps
      let wanted = try FormatPredicate(format)
      #expect(
        try context.fetch(request).count
          == context.fetch(FetchRequest<Errand>()).filter { try wanted.evaluate(with: $0) }.count)
      return steps
    }
    let open = "index: Errand[isDone == FALSE]."
    #expect(try plan("isDone == NO AND text == 'errand 40'")[0] == open + "text == \"errand 40\"")
    // All objects of the index: it has as many entries as there are results.
    #expect(try plan("isDone == NO") == [open + "text"])
    #expect(try plan("isDone == NO", sort: "text")[0] == open + "text")
    #expect(try plan("text == 'errand 40'")[0] == "scan: Errand")
    #expect(try plan("isDone == YES AND text == 'errand 41'")[0] == "scan: Errand")
    #expect(try plan("isDone IN {NO} AND text BEGINSWITH 'errand 4'")[0].hasPrefix(open))
    #expect(try plan("(isDone == NO AND text == 'a') OR text == 'b'")[0] == "scan: Errand")
    // It is also true of objects without a value.
    let late = "index: Errand[NOT isDone].due"
    #expect(try plan("NOT isDone AND text == 'errand 40'")[0].hasPrefix(late))
    #expect(try plan("NOT isDone AND due < CAST(1000, 'NSDate')")[0].hasPrefix(late))
    #expect(
      try context.plan(
        for: Errand.self, where: { !$0.isDone && $0.due < Date(timeIntervalSinceReferenceDate: 9) }
      )
      .steps[0].hasPrefix(late))
    let urgent = "index: Errand[priority > 3 AND due != "
    #expect(try plan("priority == 5 AND due < CAST(1000, 'NSDate')")[0].hasPrefix(urgent))
    #expect(try plan("priority >= 3 AND due > CAST(3900, 'NSDate')")[0].hasPrefix(urgent) == false)
    #expect(try plan("priority > 4 AND due > CAST(3900, 'NSDate')")[0].hasPrefix(urgent))
    #expect(try plan("priority > 3 AND due == nil")[0] == "scan: Errand")
    #expect(
      try plan("text CONTAINS 'x' AND due > CAST(3900, 'NSDate')")[0].hasPrefix("index: Errand[text CONTAINS")
    )
    #expect(try context.persistentStoreCoordinator?.verify().findings == [])
  }

  // MOD-25
  @Test func `a partial index has the objects for which its condition is true after each change`() throws {
    let folder = try TemporaryFolder()
    func open(_ condition: String?) throws -> ManagedObjectContext {
      let model = TaskStores.model(isIndexed: false)
      let task = try #require(model.entitiesByName["Task"])
      if let condition {
        let index = FetchIndexDescription(
          name: "some",
          elements: [FetchIndexElementDescription(property: try #require(task.propertiesByName["number"]))])
        index.partialIndexPredicate = try FormatPredicate(condition)
        task.indexes = [index]
      }
      let coordinator = try PersistentStoreCoordinator(checking: model)
      try coordinator.addPersistentStore(at: folder.store)
      return ManagedObjectContext(.privateQueue, coordinator: coordinator)
    }
    func indexed(_ context: ManagedObjectContext, _ condition: String) throws -> Int? {
      let request = FetchRequest<ManagedObject>(entityName: "Task")
      request.predicate = try FormatPredicate(condition)
      let plan = try context.plan(forCounting: request)
      return plan.steps[0].contains("Task[") ? try context.count(for: request) : nil
    }
    var context = try open("state == 'open'")
    let entity = try #require(context.persistentStoreCoordinator?.managedObjectModel.entitiesByName["Task"])
    for number in 0..<500 {
      let task = ManagedObject(entity: entity, insertInto: context)
      task.setValue(number, forKey: "number")
      task.setValue(number % 10 == 0 ? "open" : "done", forKey: "state")
    }
    try context.save()
    #expect(try indexed(context, "state == 'open'") == 50)
    for task in try context.fetch(FetchRequest<ManagedObject>(entityName: "Task")) {
      let number = task.value(forKey: "number") as? Int64 ?? 0
      if number == 3 { task.setValue("open", forKey: "state") }
      if number == 10 { task.setValue("done", forKey: "state") }
      if number == 20 { task.setValue(-1, forKey: "number") }
      if number == 30 { context.delete(task) }
    }
    try context.save()
    #expect(try indexed(context, "state == 'open'") == 49)
    #expect(try context.persistentStoreCoordinator?.verify().findings == [])
    // Another condition is another index, which is built when the store is opened.
    for (condition, count) in [("state == 'done'", 450), ("state != nil AND number >= 400", 100)] {
      try context.persistentStoreCoordinator?.close()
      context = try open(condition)
      #expect(try indexed(context, condition) == count, "\(condition)")
      #expect(try context.persistentStoreCoordinator?.verify().findings == [])
    }
    try context.persistentStoreCoordinator?.close()
    context = try open(nil)
    #expect(try indexed(context, "state == 'done'") == nil)
    #expect(try context.persistentStoreCoordinator?.verify().findings == [])
    try context.persistentStoreCoordinator?.close()
  }

  // MOD-25
  @Test func `what the condition of an index cannot have is refused with the index and the reason`() throws {
    for (text, reason) in [
      ("owner.name == 'x'", "more than attributes of the object itself"),
      ("owners.@count > 1", "more than attributes of the object itself"),
      ("nothing == 1", "no property 'nothing'"),
      ("due < now()", "other values at each time"), ("state == ", "column"),
      ("state == $STATE", "STATE"), ("priority == 'high'", "priority"),
      ("entity.name == 'Task'", "more than attributes of the object itself"),
      ("home == nil", "whether home, a composite value, is there"),
      ("home != nil AND number > 3", "compare an element of it"),
    ] {
      let model = TaskStores.model(isIndexed: false)
      let task = try #require(model.entitiesByName["Task"])
      task.properties.append(
        CompositeAttributeDescription(
          name: "home", elements: [AttributeDescription(name: "x", type: .double)]))
      let index = FetchIndexDescription(
        name: "wrong",
        elements: [FetchIndexElementDescription(property: try #require(task.propertiesByName["number"]))])
      task.indexes = [index]
      let message = heartwoodMessage {
        index.partialIndexPredicate = try? FormatPredicate(text)
        guard index.partialIndexPredicate != nil else { throw HeartwoodError(.coreData, "wrong, column") }
        _ = try PersistentStoreCoordinator(checking: model)
      }
      #expect(
        message?.contains("wrong") == true && message?.contains(reason) == true,
        "\(text): \(message ?? "none")")
    }
  }

  // MOD-25
  @Test
  func `the condition of an index is in the model of the store, and named where Xcode has no place for it`()
    throws
  {
    let folder = try TemporaryFolder()
    let model = TaskStores.model(isIndexed: true)
    let coordinator = try PersistentStoreCoordinator(checking: model)
    try coordinator.addPersistentStore(at: folder.store)
    try coordinator.close()
    let stored = try PersistentStoreCoordinator.managedObjectModel(ofStoreAt: folder.store)
    let file = folder.url.appending(path: "Tasks.json")
    try model.encodedDocument().write(to: file)
    for read in [stored, try ManagedObjectModel(contentsOf: file)] {
      let indexes = try #require(read.entitiesByName["Task"]?.indexes)
      #expect(
        indexes.map { $0.partialIndexPredicate.map { "\($0)" } }
          == model.entitiesByName["Task"]?.indexes.map { $0.partialIndexPredicate.map { "\($0)" } })
      #expect(indexes.contains { $0.partialIndexPredicate != nil })
    }
    var notes: [String] = []
    try model.writeXcodeModel(to: folder.url.appending(path: "Tasks.xcdatamodel")) { notes.append($0) }
    #expect(
      notes.contains { $0.contains("the index open of Task is written without its condition") }, "\(notes)")
  }
}

private final class Errand: ManagedObject {
  @Attribute var text = ""
  @Attribute var isDone = false
  @Attribute var priority: Int64 = 0
  @Attribute var due: Date?

  override class var partialIndexes: [PartialIndex] {
    [
      PartialIndex(on: ["text"], where: "isDone == NO"),
      PartialIndex(on: ["priority", "due"], where: "priority > 3 AND due != nil"),
      PartialIndex(on: ["due"], where: "text CONTAINS 'x'"),
      PartialIndex(on: ["due"], where: "NOT isDone"),
    ]
  }
}

/// The same tasks in a store with partial indexes and in one without any.
private struct TaskStores {
  private(set) var contexts: [ManagedObjectContext] = []
  private let kind: PersistentStore.StoreType
  private let folder: TemporaryFolder
  private var random: SplitMix64
  private var next: Int64 = 0

  init(seed: UInt64, _ kind: PersistentStore.StoreType) throws {
    random = SplitMix64(seed: seed)
    folder = try TemporaryFolder()
    self.kind = kind
    contexts = [try open(isIndexed: true), try open(isIndexed: false)]
  }

  static func model(isIndexed: Bool) -> ManagedObjectModel {
    func attribute(_ name: String, _ type: AttributeType) -> AttributeDescription {
      AttributeDescription(name: name, type: type, isOptional: true)
    }
    let (state, priority, place) = (
      attribute("state", .string), attribute("priority", .integer32), attribute("place", .double)
    )
    let (height, text) = (attribute("height", .double), attribute("text", .string))
    let number = attribute("number", .integer64)
    let task = EntityDescription(
      name: "Task",
      properties: [state, priority, place, height, text, number, attribute("due", .date)])
    let owner = EntityDescription(name: "Owner", properties: [attribute("name", .string)])
    let one = RelationshipDescription(name: "owner", destination: owner, isToMany: false)
    let back = RelationshipDescription(name: "tasks", destination: task, isToMany: true)
    (one.inverseRelationship, back.inverseRelationship) = (back, one)
    let many = RelationshipDescription(name: "owners", destination: owner, isToMany: true)
    task.properties += [one, many]
    owner.properties += [back]
    task.subentities = [EntityDescription(name: "Errand")]
    guard isIndexed else { return ManagedObjectModel(entities: [task, owner] + task.subentities) }
    func index(
      _ name: String, _ properties: [AttributeDescription], _ condition: String,
      _ collation: FetchIndexElementDescription.CollationType = .binary
    ) -> FetchIndexDescription {
      let index = FetchIndexDescription(
        name: name,
        elements: properties.map { FetchIndexElementDescription(property: $0, collationType: collation) })
      index.partialIndexPredicate = try? FormatPredicate(condition)
      return index
    }
    task.indexes = [
      index("open", [priority, number], "state == 'open'"),
      index("urgent", [state], "priority >= 3 OR owner != nil"),
      index("words", [text], "state != nil", .words),
      index("places", [place, height], "priority < 5", .rTree),
      index("odd", [number], "modulus(number, 2) == 1 AND NOT state == 'done'"),
    ]
    return ManagedObjectModel(entities: [task, owner] + task.subentities)
  }

  private func open(isIndexed: Bool) throws -> ManagedObjectContext {
    let coordinator = try PersistentStoreCoordinator(checking: Self.model(isIndexed: isIndexed))
    try coordinator.addPersistentStore(
      type: kind, at: folder.url.appending(path: isIndexed ? "indexed" : "plain"))
    return ManagedObjectContext(.privateQueue, coordinator: coordinator)
  }

  func save() throws { for context in contexts { try context.save() } }

  mutating func reopen() throws {
    try save()
    for (place, isIndexed) in [true, false].enumerated() {
      try contexts[place].persistentStoreCoordinator?.close()
      contexts[place] = try open(isIndexed: isIndexed)
    }
  }

  func verify() throws -> [String] {
    try contexts.flatMap { try $0.persistentStoreCoordinator?.verify().findings ?? [] }
  }

  private mutating func one<Element>(_ values: [Element]) -> Element {
    values[Int.random(in: 0..<values.count, using: &random)]
  }

  private mutating func values() -> [String: Any?] {
    [
      "state": one(["open", "done", "late", nil] as [String?]), "priority": one([nil, 0, 2, 3, 4, 5, 6]),
      "place": one([nil, -1, 0, 0.5, 2] as [Double?]), "height": one([nil, 0, 1, 3.5] as [Double?]),
      "text": one(["red apple", "green pear", "apple pie", "", nil] as [String?]),
    ]
  }

  private func task(_ number: Int64, in context: ManagedObjectContext) throws -> ManagedObject? {
    let request = FetchRequest<ManagedObject>(entityName: "Task")
    request.predicate = try FormatPredicate("number == %@", number)
    return try context.fetch(request).first
  }

  mutating func change() throws {
    let (values, kind, isErrand) = (values(), Int.random(in: 0..<10, using: &random), one([true, false]))
    let number = next == 0 ? 0 : Int64.random(in: 0..<next, using: &random)
    let hasOwner = one([true, false])
    for context in contexts {
      guard let model = context.persistentStoreCoordinator?.managedObjectModel.entitiesByName,
        let task = model[isErrand ? "Errand" : "Task"], let owner = model["Owner"]
      else { continue }
      var changed: ManagedObject?
      if kind < 6 {
        changed = ManagedObject(entity: task, insertInto: context)
        changed?.setValue(next, forKey: "number")
      } else {
        changed = try self.task(number, in: context)
      }
      guard let changed else { continue }
      if kind == 9 {
        context.delete(changed)
        continue
      }
      for (key, value) in values { changed.setValue(value, forKey: key) }
      changed.setValue(hasOwner ? ManagedObject(entity: owner, insertInto: context) : nil, forKey: "owner")
    }
    if kind < 6 { next += 1 }
  }

  mutating func changeBatch() throws {
    try save()
    let state = one(["open", "done"])
    for context in contexts {
      let request = BatchUpdateRequest(entityName: "Task")
      request.predicate = try FormatPredicate("modulus(number, 3) == 0")
      request.propertiesToUpdate = ["state": state]
      _ = try context.execute(request)
      context.refreshAllObjects()
    }
  }

  mutating func request() throws -> FetchRequest<ManagedObject> {
    let parts = [
      "state == 'open'", "state == 'done'", "state IN {'open', 'late'}", "state != nil", "priority >= 3",
      "priority == 4", "priority > 1", "priority < 5", "priority BETWEEN {2, 4}", "owner != nil",
      "(priority >= 3 OR owner != nil)", "text MATCHESWORDS 'apple'", "text MATCHESWORDS 'ap*'",
      "place BETWEEN {-1, 1}", "height BETWEEN {0, 2}", "number > 20", "number < 40",
      "modulus(number, 2) == 1", "NOT state == 'done'", "(state == 'open' OR priority == 4)",
    ]
    let count = Int.random(in: 1...3, using: &random)
    let chosen = (0..<count).map { _ in one(parts) }
    let request = FetchRequest<ManagedObject>(entityName: one(["Task", "Task", "Errand"]))
    request.predicate = try FormatPredicate(
      chosen.joined(separator: one([" AND ", " AND ", " OR "])))
    var order = one([[], ["number"], ["priority", "number"], ["state", "number"]] as [[String]])
    if order.isEmpty { order = ["number"] }
    let ascending = one([true, false])
    request.sortDescriptors = try order.map { try ComputedSort($0, ascending: ascending) }
    return request
  }

  func numbers(_ request: FetchRequest<ManagedObject>, in context: ManagedObjectContext) throws -> [Int64] {
    try context.fetch(request).compactMap { $0.value(forKey: "number") as? Int64 }
  }
}
