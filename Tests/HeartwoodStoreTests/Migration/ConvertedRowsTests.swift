import Foundation
import GraphTestSupport
import TestSupport
import Testing

@testable import Heartwood
@testable import HeartwoodModel

/// How long rows of a former model that were converted stay in memory.
@Suite struct ConvertedRowsTests {
  private let folder: TemporaryFolder
  private let count = 6000

  init() throws { folder = try TemporaryFolder() }

  private func model(isNew: Bool) -> ManagedObjectModel {
    let (node, place) = (EntityDescription(name: "Node"), EntityDescription(name: "Place"))
    node.properties = [
      AttributeDescription(name: "number", type: .integer64),
      AttributeDescription(name: "text", type: .string),
    ]
    place.properties = [
      AttributeDescription(name: "name", type: .string),
      AttributeDescription(name: "number", type: .integer64),
    ]
    node.ownProperties.append(RelationshipDescription(name: "place", destination: place, isToMany: false))
    if isNew {
      for entity in [node, place] {
        entity.ownProperties.insert(
          AttributeDescription(name: "extra", type: .string, defaultValue: "none"), at: 0)
      }
    }
    return ManagedObjectModel(entities: [node, place])
  }

  private func open(isNew: Bool) throws -> ManagedObjectContext {
    let coordinator = try PersistentStoreCoordinator(checking: model(isNew: isNew))
    try coordinator.addPersistentStore(with: PersistentStoreDescription(url: folder.store))
    return ManagedObjectContext(.privateQueue, coordinator: coordinator)
  }

  /// Objects whose rows have 400 bytes, each with a place of its own.
  private func fill() throws {
    let context = try open(isNew: false)
    let coordinator = try #require(context.persistentStoreCoordinator)
    let entities = coordinator.managedObjectModel.entitiesByName
    for number in 0..<count {
      let place = ManagedObject(entity: try #require(entities["Place"]), insertInto: context)
      place.setValue(String(repeating: "p", count: 400), forKey: "name")
      place.setValue(number, forKey: "number")
      let node = ManagedObject(entity: try #require(entities["Node"]), insertInto: context)
      node.setValue((number * 7919) % count, forKey: "number")
      node.setValue(String(repeating: "n", count: 400), forKey: "text")
      node.setValue(place, forKey: "place")
    }
    try context.save()
    try coordinator.close()
  }

  private func request(_ format: String? = nil, sort: String? = nil, limit: Int = 0) throws
    -> FetchRequest<ManagedObject>
  {
    let request = FetchRequest<ManagedObject>(entityName: "Node")
    request.predicate = try format.map { try FormatPredicate($0) }
    request.sortDescriptors = sort.map { [NamedSort($0, ascending: false)] }
    request.fetchLimit = limit
    return request
  }

  private func numbers(_ objects: [ManagedObject]) -> [Int] {
    objects.compactMap { ($0.value(forKey: "number") as? Int64).map(Int.init) }
  }

  // MIG-19
  @Test func `a view keeps no converted rows of objects that were read, sorted and followed`() throws {
    try fill()
    let context = try open(isNew: true)
    let view = try #require(try context.readingView() as? LogStoreView)
    #expect(view.convertsRows)
    #expect(numbers(try context.fetch(request(sort: "number", limit: 3))) == [5999, 5998, 5997])
    let sorted = numbers(try context.fetch(request(sort: "number")))
    #expect(sorted == Array((0..<count).reversed()))
    let behind = try context.fetch(request("place.number < 3", sort: "place.number"))
    #expect(numbers(behind) == [15838 % count, 7919 % count, 0])
    let child = ManagedObjectContext(.privateQueue)
    child.parent = context
    for node in try context.fetch(request()) {
      #expect((node.value(forKey: "place") as? ManagedObject)?.value(forKey: "extra") as? String == "none")
    }
    #expect(try child.fetch(request("number < 10")).count == 10)
    #expect(view.converted.size == 0)
    try context.persistentStoreCoordinator?.close()
  }

  // MIG-19
  @Test func `a fetch releases the rows behind its objects while it goes on`() throws {
    try fill()
    let context = try open(isNew: true)
    let view = try #require(try context.readingView().forOneReader() as? LogStoreView)
    let execution = try ObjectFetch(context).execution(
      ObjectFetch(context).resolve(request("place.number >= 0", sort: "place.number")), in: view)
    var greatest = 0
    var last = Int64.max
    let node = try #require(view.schema.model.entitiesByName["Node"])
    try execution.forEach { found in
      let read = try #require(try view.row(node, found.key))
      #expect(read.bytes.elementsEqual(found.row.bytes))
      last = min(last, Int64(found.key))
      greatest = max(greatest, view.converted.size)
      view.releaseRows()
      return true
    }
    // 6000 rows of 400 bytes are more than 2 MB.
    #expect(greatest > 0 && greatest < 3 << 19 && last == 1)
    try context.persistentStoreCoordinator?.close()
  }

  @Test(arguments: [
    (Double.nan, "NaN"), (.infinity, "Infinity"), (-.infinity, "-Infinity"), (0.1, "0.1"), (0, "0.0"),
  ])
  func `a number that becomes a text is written as in documents, and a date as its seconds`(
    number: Double, text: String
  ) {
    #expect(Value.double(number).converted(through: [.double, .string]) == .string(text))
    #expect(Value.double(number).converted(through: [.float, .string]) == .string(text))
    #expect(Value.date(number).converted(through: [.date, .string]) == .string(text))
  }
}
