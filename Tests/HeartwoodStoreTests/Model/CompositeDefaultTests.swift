import Foundation
import GraphTestSupport
import LineStore
import TestSupport
import Testing

@testable import Heartwood

/// Optional composite attributes whose elements have defaults: without a value, they have no elements.
@Suite struct `Defaults of the elements of composite attributes` {
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
    PersistentStoreCoordinator.registerStoreClass(LineStore.self, type: LineStore.kind)
    PersistentStoreCoordinator.registerStoreClass(DictionaryStore.self, type: DictionaryStore.kind)
  }

  private static func model(indexed: Bool) -> ManagedObjectModel {
    let inner = CompositeAttributeDescription(
      name: "inner", elements: [AttributeDescription(name: "flag", type: .boolean, defaultValue: true)],
      isOptional: false)
    let place = CompositeAttributeDescription(
      name: "place",
      elements: [
        AttributeDescription(name: "x", type: .integer64, defaultValue: 0),
        AttributeDescription(name: "note", type: .string, defaultValue: "n"), inner,
      ])
    let visit = EntityDescription(
      name: "Visit", properties: [AttributeDescription(name: "number", type: .integer64), place])
    if indexed {
      visit.indexes = ["place.x", "place.note", "place.inner.flag"].map {
        FetchIndexDescription(
          name: $0, elements: [FetchIndexElementDescription($0, visit.columnsByName)])
      }
    }
    return ManagedObjectModel(entities: [visit])
  }

  private func open(_ kind: PersistentStore.StoreType, indexed: Bool) throws -> ManagedObjectContext {
    let coordinator = try PersistentStoreCoordinator(checking: Self.model(indexed: indexed))
    let place =
      kind == .inMemory
      ? URL(fileURLWithPath: "/dev/null")
      : kind == DictionaryStore.kind ? DictionaryStore.newPlace() : folder.store
    try coordinator.addPersistentStore(
      with: PersistentStoreDescription(type: kind, url: place, options: nil))
    return ManagedObjectContext(.privateQueue, coordinator: coordinator)
  }

  /// The values that a visit should have.
  private struct Place: Equatable {
    var x: Int64? = 0
    var note: String? = "n"
    var flag: Bool? = true
  }

  /// Each condition with what it means.
  private static let conditions: [(String, @Sendable (Place?) -> Bool)] = [
    ("place == nil", { $0 == nil }), ("place != nil", { $0 != nil }),
    ("place.x == 0", { $0?.x == 0 }), ("place.x == nil", { $0?.x == nil }),
    ("place.x < 2", { ($0?.x).map { $0 < 2 } ?? false }), ("place.x IN {0, 1}", { [0, 1].contains($0?.x) }),
    ("place.x + 1 == 1", { $0?.x == 0 }), ("place == nil AND place.x == 0", { _ in false }),
    ("place.note == 'n'", { $0?.note == "n" }), ("place.note BEGINSWITH[c] 'N'", { $0?.note == "n" }),
    ("place.note != nil", { $0?.note != nil }), ("place.inner.flag == YES", { $0?.flag == true }),
    ("place.inner.flag", { $0?.flag == true }), ("place.inner == nil", { $0?.flag == nil }),
    ("place.inner.flag != nil OR place.note == 'n'", { $0?.flag != nil || $0?.note == "n" }),
  ]

  private func check(
    _ context: ManagedObjectContext, _ expected: [Int64: Place?], _ step: String
  ) throws {
    let all = try context.fetch(FetchRequest<ManagedObject>(entityName: "Visit"))
    for (text, holds) in Self.conditions {
      let wanted = Set(expected.filter { holds($0.value) }.keys)
      let request = FetchRequest<ManagedObject>(entityName: "Visit")
      let predicate = try FormatPredicate(text)
      request.predicate = predicate
      #expect(Set(try context.fetch(request).map(number)) == wanted, "fetching \(text) after \(step)")
      #expect(
        Set(try all.filtered(using: predicate).map(number)) == wanted, "evaluating \(text) after \(step)")
      #expect(try context.count(for: request) == wanted.count, "counting \(text) after \(step)")
    }
    let sorted = FetchRequest<ManagedObject>(entityName: "Visit")
    sorted.sortDescriptors = [NamedSort("place.x", ascending: true), NamedSort("number", ascending: true)]
    let order = expected.sorted { ($0.value?.x ?? -1, $0.key) < ($1.value?.x ?? -1, $1.key) }
    #expect(try context.fetch(sorted).map(number) == order.map(\.key), "sorting after \(step)")
    for object in all {
      let place = expected[number(object)] ?? nil
      #expect(object.value(forKey: "place.x") as? Int64 == place?.x, "\(step)")
      #expect(object.value(forKey: "place.inner.flag") as? Bool == place?.flag, "\(step)")
      #expect((object.value(forKey: "place") as? [String: Any])?["note"] as? String == place?.note, "\(step)")
    }
  }

  private func number(_ object: ManagedObject) -> Int64 { object.value(forKey: "number") as? Int64 ?? -1 }

  private func visit(_ number: Int64, _ context: ManagedObjectContext) throws -> ManagedObject {
    let request = FetchRequest<ManagedObject>(entityName: "Visit")
    request.predicate = try FormatPredicate("number == %d", number)
    return try #require(try context.fetch(request).first)
  }

  @Test(
    arguments: [
      (.log, false), (.log, true), (.inMemory, true), (.binary, true), (.json, false), (.xml, false),
      (LineStore.kind, true), (DictionaryStore.kind, false),
    ] as [(PersistentStore.StoreType, Bool)], Array(([1, 2] as [UInt64]).sampled(every: 2)))
  func `conditions, orders and values agree that there are none without the whole`(
    store: (kind: PersistentStore.StoreType, isIndexed: Bool), seed: UInt64
  ) throws {
    var random = Randomness(seed: seed)
    let context = try open(store.kind, indexed: store.isIndexed)
    let hasBatches = store.kind != DictionaryStore.kind && store.kind != LineStore.kind
    var expected: [Int64: Place?] = [:]
    for step in 0..<60 {
      let chosen = Int64(random.below(6))
      let x = Int64(random.below(4))
      let known = expected[chosen]
      let kind = random.below(hasBatches ? 7 : 5)
      switch (known, kind) {
      case (nil, 5):
        try context.save()
        try context.execute(
          BatchInsertRequest(entityName: "Visit", objects: [["number": chosen], ["number": chosen + 6]]))
        try context.execute(
          BatchInsertRequest(entityName: "Visit", objects: [["number": chosen + 12, "place.x": x]]))
        for number in [chosen, chosen + 6] { expected[number] = .some(nil) }
        expected[chosen + 12] = Place(x: x)
      case (nil, _):
        let object = EntityDescription.insertNewObject(forEntityName: "Visit", into: context)
        object.setValue(chosen, forKey: "number")
        expected[chosen] = .some(nil)
      case (let place?, 0):
        try visit(chosen, context).setValue(x, forKey: "place.x")
        expected[chosen] = Place(x: x, note: place.map(\.note) ?? "n", flag: place.map(\.flag) ?? true)
      case (let place?, 1):
        try visit(chosen, context).setValue(false, forKey: "place.inner.flag")
        expected[chosen] = Place(x: place.map(\.x) ?? 0, note: place.map(\.note) ?? "n", flag: false)
      case (_?, 2):
        try visit(chosen, context).setValue(["x": x, "inner": ["flag": true]], forKey: "place")
        expected[chosen] = Place(x: x, note: nil, flag: true)
      case (_?, 3):
        try visit(chosen, context).setValue(nil, forKey: "place")
        try context.save()
        expected[chosen] = .some(nil)
      case (_?, 4):
        try context.save()
        context.reset()
      case (let place?, _):
        try context.save()
        let update = BatchUpdateRequest(entityName: "Visit")
        update.predicate = try FormatPredicate("number == %d", chosen)
        update.propertiesToUpdate =
          kind == 5 ? ["place.x": x] : ["place.x": try FormatExpression("place.x + 1")]
        try context.execute(update)
        context.reset()
        if kind == 5 {
          expected[chosen] = Place(x: x, note: place.map(\.note) ?? "n", flag: place.map(\.flag) ?? true)
        } else {
          expected[chosen] = .some(place.map { Place(x: $0.x.map { $0 + 1 }, note: $0.note, flag: $0.flag) })
        }
      }
      try check(context, expected, "step \(step), \(kind) of \(chosen)")
    }
    try context.save()
    if hasBatches { #expect(try context.persistentStoreCoordinator?.verify().findings == []) }
  }
}

extension `Defaults of the elements of composite attributes` {
  @Test func `a nested composite that is set makes the one around it have a value with its defaults`() throws
  {
    let context = try open(.log, indexed: true)
    let ways: [(ManagedObject) throws -> Void] = [
      { $0.setValue(["flag": false], forKey: "place.inner") },
      { $0.setPrimitiveValue(["flag": false], forKey: "place.inner") },
      {
        $0.setValue(nil, forKey: "place")
        try context.save()
        $0.setValue(["flag": false], forKey: "place.inner")
      },
    ]
    for (number, way) in ways.enumerated() {
      let object = ManagedObject(entity: try context.entity("Visit"), insertInto: context)
      object.setValue(Int64(number), forKey: "number")
      try way(object)
    }
    try context.save()
    let inserted: [String: Any] = ["number": Int64(ways.count), "place.inner": ["flag": false]]
    try context.execute(BatchInsertRequest(entityName: "Visit", objects: [inserted]))
    context.reset()
    let place = Place(x: 0, note: "n", flag: false)
    let expected = (0...ways.count).map { (Int64($0), Optional(place)) }
    try check(context, Dictionary(uniqueKeysWithValues: expected), "setting place.inner")
    #expect(try context.persistentStoreCoordinator?.verify().findings == [])
  }

  @Test func `elements of a model in use have their defaults`() throws {
    let model = Self.model(indexed: false)
    _ = try PersistentStoreCoordinator(checking: model)
    let place = model.entitiesByName["Visit"]?.attributesByName["place"] as? CompositeAttributeDescription
    #expect(place?.elements.first { $0.name == "x" }?.defaultValue as? Int64 == 0)
    #expect(place?.elements.first { $0.name == "note" }?.defaultValue as? String == "n")
    let inner = place?.elements.first { $0.name == "inner" } as? CompositeAttributeDescription
    #expect(inner?.elements.first?.defaultValue as? Bool == true)
  }
}
