import Foundation
import GraphTestSupport
import Observation
import Synchronization
import TestSupport
import Testing

@testable import Heartwood
@testable import HeartwoodModel

private struct Position: CompositeValue {
  var latitude = 0.0
  var longitude = 0.0
  static let elements = [
    CompositeElement("latitude", \Position.latitude), CompositeElement("longitude", \Position.longitude),
  ]
}

private struct Address: CompositeValue {
  var street = ""
  var city = ""
  var zip: Int?
  var isPrivate = false
  var position = Position()
  static let elements = [
    CompositeElement("street", \Address.street),
    CompositeElement("city", \Address.city, validated: .length(...20)),
    CompositeElement("zip", \Address.zip), CompositeElement("isPrivate", \Address.isPrivate),
    CompositeElement("position", \Address.position),
  ]
}

private final class Contact: ManagedObject {
  @Attribute var name = ""
  @Attribute var address = Address(city: "Bern")
  @Attribute var work: Address?
  override class var uniquenessConstraints: [[String]] { [["name", "address.zip"]] }
  override class var compoundIndexes: [[String]] { [["address.city", "name"]] }
}

private final class Visit: ManagedObject {
  @Attribute var name = ""
  @Attribute(.preservesValueInHistoryOnDeletion) var address = Address(city: "Bern")
  @Attribute(.preservesValueInHistoryOnDeletion) var work: Address?
}

@Suite struct `Composite attributes` {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func makeContext() throws -> ManagedObjectContext {
    try PersistentContainer(name: "Contacts", types: [Contact.self], at: folder.store).newBackgroundContext()
  }

  private func makeContact(_ context: ManagedObjectContext, _ name: String, _ city: String, zip: Int? = nil)
    -> Contact
  {
    let contact = Contact(context: context)
    contact.name = name
    contact.address.city = city
    contact.address.zip = zip
    return contact
  }

  // MOD-49, HIS-07
  @Test func `a tombstone has composite values as a whole`() throws {
    let container = try PersistentContainer(name: "Visits", types: [Visit.self], at: folder.store)
    let context = container.newBackgroundContext()
    let visit = Visit(context: context)
    visit.address.position.latitude = 46.5
    try context.save()
    let names = (visit.value(forKey: "address") as? [String: Any])?.keys.sorted()
    context.delete(visit)
    try context.save()
    let tombstone = try #require(try container.history().last?.changes?.first?.tombstone)
    #expect(Array(tombstone.keys) == ["address"])
    let address = tombstone["address"] as? [String: Any]
    #expect(address?.keys.sorted() == names && address?["city"] as? String == "Bern")
    #expect((address?["position"] as? [String: Any])?["latitude"] as? Double == 46.5)
  }

  // MOD-49
  @Test func `a composite value is stored by element and read after reopening`() throws {
    do {
      let context = try makeContext()
      let contact = Contact(context: context)
      #expect(contact.address == Address(city: "Bern") && contact.work == nil)
      contact.address.position.latitude = 46.9
      contact.work = Address()
      try context.save()
      try context.persistentStoreCoordinator?.close()
    }
    let context = try makeContext()
    let contact = try #require(try context.fetch(Contact.self).first)
    #expect(contact.address == Address(city: "Bern", position: Position(latitude: 46.9)))
    #expect(contact.work == Address())
    contact.work = nil
    try context.save()
    #expect(contact.work == nil)
    #expect(try makeContext().fetch(Contact.self).first?.work == nil)
    #expect(try context.persistentStoreCoordinator?.verify().findings == [])
  }

  // MOD-49
  @Test func `elements are used in conditions, sort orders, indexes and constraints`() throws {
    let context = try makeContext()
    let ada = makeContact(context, "Ada", "Bern", zip: 3000)
    let bea = makeContact(context, "Bea", "Genf", zip: 1200)
    bea.address.isPrivate = true
    bea.work = Address(city: "Bern", position: Position(longitude: 7))
    try context.save()
    #expect(try context.fetch(Contact.self, where: { $0.address.city == "Bern" }) == [ada])
    #expect(try context.fetch(Contact.self, where: { $0.address.zip < 2000 }) == [bea])
    #expect(try context.fetch(Contact.self, where: { $0.address.isPrivate }) == [bea])
    #expect(try context.fetch(Contact.self, where: { $0.work.position.longitude > 6 }) == [bea])
    #expect(try context.fetch(Contact.self, where: { $0.work == nil }) == [ada])
    let request = FetchRequest<Contact>(entityName: "Contact")
    request.predicate = try FormatPredicate(
      "address.city BEGINSWITH %@ AND work.position.longitude = 7", "Ge")
    #expect(try context.fetch(request) == [bea])
    #expect(try context.fetch(Contact.self, sort: [.ascending(\.address.zip)]) == [bea, ada])
    #expect(try context.fetch(Contact.self, sort: [.descending(\.address.city)]) == [bea, ada])
    request.predicate = nil
    request.sortDescriptors = [NamedSort("work.position.longitude", ascending: false)]
    #expect(try context.fetch(request).first == bea)
    _ = makeContact(context, "Ada", "Thun", zip: 3000)
    let error = heartwoodError { try context.save() }
    #expect(error?.code == .managedObjectConstraintMerge)
    #expect(error?.message.contains("address.zip") == true)
    context.rollback()
    #expect(
      heartwoodMessage {
        request.predicate = try FormatPredicate("address.town = 'x'")
        _ = try context.fetch(request)
      }?.contains("city") == true)
    #expect(
      heartwoodMessage { _ = try context.fetch(Contact.self, where: { $0.address == Address() }) }?
        .contains("compare its elements") == true)
  }

  // MOD-49
  @Test func `dictionaries have a composite value as a dictionary`() throws {
    let context = try makeContext()
    _ = makeContact(context, "Ada", "Bern", zip: 3000)
    for _ in 0..<2 {
      let request = FetchRequest<Contact>()
      let all = try #require(try context.fetchDictionaries(request).first)
      request.propertiesToFetch = ["address", "address.city", "work"]
      let named = try #require(try context.fetchDictionaries(request).first)
      for row in [all, named] {
        let address = try #require(row["address"] as? [String: Any])
        #expect(address["city"] as? String == "Bern" && address["zip"] as? Int64 == 3000)
        #expect((address["position"] as? [String: Any])?["latitude"] as? Double == 0)
        #expect(row["work"] == nil)
      }
      #expect(named["address.city"] as? String == "Bern" && named.count == 2)
      try context.save()
    }
  }

  // FET-17
  @Test func `groups, windows, orders and comparisons refuse a composite value and name its elements`() throws
  {
    let context = try makeContext()
    for city in ["Bern", "Bern", "Thun"] { _ = makeContact(context, city, city) }
    try context.save()
    func message(_ body: () throws -> Void) -> String? { heartwoodMessage(body) }
    let request = FetchRequest<Contact>()
    request.propertiesToFetch = ["address", try ExpressionDescription(name: "count", format: "@count")]
    request.propertiesToGroupBy = ["address"]
    #expect(
      message { _ = try context.fetchDictionaries(request) }?
        .contains("Contact.address is a composite value: group by its elements") == true)
    request.propertiesToFetch = ["address.city", try ExpressionDescription(name: "count", format: "@count")]
    request.propertiesToGroupBy = ["address.city"]
    #expect(Set(try context.fetchDictionaries(request).map { $0["count"] as? Int }) == [1, 2])
    #expect(
      message {
        _ = try context.fetchRows(
          Contact.self,
          columns: { RowFunction.number(partitionedBy: $0.address, orderedBy: .ascending($0.name)) })
      }?.contains("divide by its elements") == true)
    for format in ["@min.address", "@sum.address"] {
      request.propertiesToFetch = [try ExpressionDescription(name: "least", format: format)]
      request.propertiesToGroupBy = []
      #expect(message { _ = try context.fetchDictionaries(request) }?.contains("composite value") == true)
    }
    let objects = FetchRequest<Contact>()
    objects.predicate = try FormatPredicate("address == work")
    #expect(message { _ = try context.fetch(objects) }?.contains("compare its elements") == true)
    objects.predicate = try FormatPredicate("work == nil")
    #expect(try context.count(for: objects) == 3)
  }

  @Test func `by name a composite value is a dictionary, and its elements have full names`() throws {
    let context = try makeContext()
    let contact = makeContact(context, "Ada", "Bern", zip: 3000)
    try context.save()
    let whole = contact.value(forKey: "address") as? [String: Any]
    #expect(whole?["city"] as? String == "Bern" && whole?["zip"] as? Int64 == 3000)
    #expect((whole?["position"] as? [String: Any])?["latitude"] as? Double == 0)
    #expect(contact.value(forKey: "address.city") as? String == "Bern")
    #expect(contact.value(forKey: "work") == nil)
    contact.setValue(["city": "Thun", "street": "Lake"], forKey: "work")
    contact.setValue("Genf", forKey: "address.city")
    #expect(contact.address.city == "Genf" && contact.address.zip == 3000)
    #expect(Set(contact.changedValues().keys) == ["address", "work"])
    #expect(
      (contact.committedValues(forKeys: nil)["address"] as? [String: Any])?["city"] as? String == "Bern")
    #expect(heartwoodError { try contact.assign(["town": "x"], forKey: "address") }?.property == "address")
    #expect(heartwoodError { try contact.assign(["zip": "x"], forKey: "address") }?.property == "address.zip")
    contact.setValue(7.5, forKey: "work.position.longitude")
    try context.save()
    #expect(contact.value(forKey: "work.city") as? String == "Thun")
    let change = try context.execute(.fetchHistory(after: Date.distantPast)).transactions.last?.changes?.last
    let names = Set(change?.updatedProperties?.map(\.name) ?? [])
    #expect(names.isSuperset(of: ["address.city", "work", "work.position.longitude"]))
    #expect(!names.contains("address.zip"))
  }

  // MOD-49
  @Test func `edits of different elements are merged, undone and validated by element`() throws {
    let context = try makeContext()
    let contact = makeContact(context, "Ada", "Bern", zip: 3000)
    try context.save()
    let other = try makeContext()
    let theirs = try #require(try other.fetch(Contact.self).first)
    theirs.address.street = "Lake"
    try other.save()
    context.undoManager = UndoStack()
    contact.address.city = "Thun"
    context.mergePolicy = .mergeByPropertyObjectTrump
    try context.save()
    #expect(contact.address.city == "Thun" && contact.address.street == "Lake" && contact.address.zip == 3000)
    context.undo()
    #expect(contact.address.city == "Bern" && contact.address.street == "Lake")
    contact.address.city = String(repeating: "x", count: 21)
    let error = heartwoodError { try context.save() }
    #expect(error?.property == "address.city")
  }

  // MOD-49, OBJ-33
  @Test func `observers of a composite value see changes of single elements, whatever their origin`() throws {
    let context = try makeContext()
    context.isObservable = true
    let contact = makeContact(context, "Ada", "Bern", zip: 3000)
    contact.work = Address(city: "Thun")
    try context.save()
    let other = try makeContext()
    let theirs = try #require(try other.fetch(Contact.self).first)
    func sees(_ change: () throws -> Void) rethrows -> Bool {
      let isSeen = Mutex(false)
      withObservationTracking {
        _ = (contact.address, contact.work)
      } onChange: {
        isSeen.withLock { $0 = true }
      }
      try change()
      return isSeen.withLock { $0 }
    }
    func seesElsewhere(_ change: () -> Void) throws -> Bool {
      try sees {
        change()
        try other.save()
        context.refresh(contact, mergeChanges: true)
        _ = contact.name
      }
    }
    #expect(try seesElsewhere { theirs.address.zip = 4000 })
    #expect(try seesElsewhere { theirs.address.position.latitude = 47 })
    #expect(try seesElsewhere { theirs.work?.street = "Lake" })
    #expect(try !seesElsewhere { theirs.name = "Eva" })
    #expect(contact.address.zip == 4000 && contact.address.position.latitude == 47)
    #expect(contact.work?.street == "Lake")
    contact.address.position.longitude = 8
    #expect(sees { context.rollback() })
    #expect(contact.address.position.longitude == 0)
    #expect(sees { contact.setValue("Chur", forKey: "address.city") })
  }

  @Test
  func `an element that a batch update sets in an absent value has the defaults of the struct beside it`()
    throws
  {
    let context = try makeContext()
    let contact = makeContact(context, "Ada", "Bern")
    try context.save()
    let request = BatchUpdateRequest(entityName: "Contact")
    request.propertiesToUpdate = ["work.zip": 3000]
    _ = try context.execute(request)
    context.refreshAllObjects()
    #expect(contact.work == Address(zip: 3000))
    contact.name = "Eve"
    try context.save()
    let other = try PersistentContainer(name: "Contacts", types: [Contact.self], at: folder.store)
    let read = try #require(try other.newBackgroundContext().fetch(Contact.self).first)
    #expect(read.work == Address(zip: 3000) && read.name == "Eve")
    #expect(try other.persistentStoreCoordinator.verify().findings == [])
  }

  // MOD-49
  @Test func `a described composite attribute is part of the stored model and of the version hash`() throws {
    func makeModel(_ names: [String]) -> ManagedObjectModel {
      let inner = CompositeAttributeDescription(
        name: "inner", elements: [AttributeDescription(name: "flag", type: .boolean, defaultValue: true)],
        isOptional: false)
      let address = CompositeAttributeDescription(
        name: "address",
        elements: names.map { AttributeDescription(name: $0, type: .string, defaultValue: "?") } + [inner],
        isOptional: false)
      let entity = EntityDescription(name: "Contact", properties: [address])
      entity.indexes = [
        FetchIndexDescription(
          name: "byFlag", elements: [FetchIndexElementDescription(property: inner.elements[0])])
      ]
      return ManagedObjectModel(entities: [entity])
    }
    let model = makeModel(["city", "street"])
    let bytes = try model.encoded()
    let read = try bytes.withUnsafeBytes { try ManagedObjectModel(decoding: $0) }
    #expect(try read.encoded() == bytes)
    #expect(read.entityVersionHashesByName == model.entityVersionHashesByName)
    #expect(makeModel(["city"]).entityVersionHashesByName != model.entityVersionHashesByName)
    let address = read.entities[0].attributesByName["address"] as? CompositeAttributeDescription
    #expect(address?.elements.map(\.name) == ["city", "street", "inner"])
    let coordinator = PersistentStoreCoordinator(managedObjectModel: model)
    try coordinator.addPersistentStore(with: PersistentStoreDescription(url: folder.store))
    let context = ManagedObjectContext(.privateQueue, coordinator: coordinator)
    let contact = EntityDescription.insertNewObject(forEntityName: "Contact", into: context)
    try context.save()
    let whole = contact.value(forKey: "address") as? [String: Any]
    #expect(whole?["city"] as? String == "?" && (whole?["inner"] as? [String: Bool]) == ["flag": true])
    #expect(try coordinator.verify().findings == [])
    let empty = CompositeAttributeDescription(name: "address", elements: [])
    let broken = ManagedObjectModel(entities: [EntityDescription(name: "Contact", properties: [empty])])
    #expect(
      heartwoodMessage { _ = try PersistentStoreCoordinator(checking: broken) }?.contains("no elements")
        == true)
  }

  @Test(arguments: [PersistentStore.StoreType.log, .binary, .json, .xml])
  func
    `a store with an optional composite attribute without a value, whose elements have defaults, is read again`(
      kind: PersistentStore.StoreType
    ) throws
  {
    let inner = CompositeAttributeDescription(
      name: "inner", elements: [AttributeDescription(name: "flag", type: .boolean, defaultValue: true)],
      isOptional: false)
    let place = CompositeAttributeDescription(
      name: "place",
      elements: [AttributeDescription(name: "height", type: .double, defaultValue: 1.5), inner])
    let entity = EntityDescription(name: "Visit", properties: [place])
    let model = ManagedObjectModel(entities: [entity])
    let description = PersistentStoreDescription(url: folder.store)
    description.type = kind
    for round in 0..<2 {
      let coordinator = try PersistentStoreCoordinator(checking: model)
      try coordinator.addPersistentStore(with: description)
      let context = ManagedObjectContext(.privateQueue, coordinator: coordinator)
      try context.performAndWait {
        if round == 0 {
          _ = EntityDescription.insertNewObject(forEntityName: "Visit", into: context)
          try context.save()
        }
        let request = FetchRequest<ManagedObject>(entityName: "Visit")
        request.predicate = try FormatPredicate("place == nil")
        #expect(try context.fetch(request).map { $0.value(forKey: "place") == nil } == [true])
      }
      try coordinator.close()
    }
  }
}
