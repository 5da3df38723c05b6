import Foundation
import GraphTestSupport
import Testing

@testable import Heartwood
@testable import HeartwoodModel

@Suite struct `Models` {
  @Test func `an inconsistent model is refused with entity and property named`() {
    expectFailure("two properties called name") { $0.employee.ownProperties.append(text("name")) }
    expectFailure("Employee.hash cannot be called so") { $0.employee.ownProperties.append(text("hash")) }
    expectFailure("\"a.b\" of Employee cannot be used") { $0.employee.ownProperties.append(text("a.b")) }
    expectFailure("\"a-b\" of Employee cannot be used") { $0.employee.ownProperties.append(text("a-b")) }
    expectFailure("a property of Employee has no name") { $0.employee.ownProperties.append(text("")) }
    expectFailure("inherits") { $0.manager.ownProperties.append(text("name")) }
    expectFailure("Employee.pay has no type") {
      $0.employee.ownProperties.append(AttributeDescription(name: "pay", type: .undefined))
    }
    expectFailure("the default value of Employee.pay is String (much)") {
      $0.employee.ownProperties.append(
        AttributeDescription(name: "pay", type: .double, defaultValue: "much"))
    }
    expectFailure("Employee.boss leads nowhere") {
      let boss = RelationshipDescription()
      boss.name = "boss"
      $0.employee.ownProperties.append(boss)
    }
    expectFailure("Employee.boss leads to Stranger, which is not in the model") {
      let stranger = EntityDescription(name: "Stranger")
      $0.employee.ownProperties.append(
        RelationshipDescription(name: "boss", destination: stranger, isToMany: false))
    }
    expectFailure("Employee.firm does not name Firm.staff as its inverse") {
      $0.firmOfEmployee.inverseRelationship = nil
    }
    expectFailure("no relationship of its destination") { $0.staff.inverseRelationship = $0.staff }
    expectFailure("Firm.staff needs at least 3 destinations, but may have only 2") {
      $0.staff.minCount = 3
      $0.staff.maxCount = 2
    }
    expectFailure("Employee.firm is ordered, but has one destination only") {
      $0.firmOfEmployee.isOrdered = true
    }
    expectFailure("names \"nme\", which is none of its properties: name") {
      $0.employee.uniquenessConstraints = [["nme"]]
    }
    expectFailure("is empty or names a property twice") {
      $0.employee.uniquenessConstraints = [["name", "name"]]
    }
    expectFailure("which is no property of that entity") {
      $0.firm.indexes = [index("odd", $0.employee.ownProperties[0])]
    }
    expectFailure("a to-many relationship needs no index") { $0.firm.indexes = [index("odd", $0.staff)] }
    expectFailure("two indexes of Firm") {
      let title = $0.firm.ownProperties[0]
      $0.firm.indexes = [index("same", title), index("same", title)]
    }
    expectFailure("inherits from itself") { $0.manager.subentities = [$0.employee] }
    expectFailure("two entities of the model are called Firm") { $0.manager.name = "Firm" }
    expectFailure("has no name") { $0.manager.name = nil }
    expectFailure("\"Big Firm\" cannot be used") { $0.firm.name = "Big Firm" }
  }

  @Test func `a model in use cannot be frozen differently, and has numbers, slots and defaults`() throws {
    let firm = FirmModel()
    firm.employee.ownProperties.append(
      AttributeDescription(name: "grade", type: .integer16, isOptional: false, defaultValue: 3))
    try firm.model.freeze()
    try firm.model.freeze()
    #expect(firm.employee.number != firm.firm.number)
    let slot = try #require(firm.manager.slot(named: "grade"))
    #expect(firm.manager.slot(named: "grade") == firm.employee.slot(named: "grade"))
    #expect(firm.manager.defaultValue(at: slot) == .int(3))
    #expect(firm.manager.attribute(at: slot)?.defaultValue as? Int16 == 3)
    #expect(try firm.employee.entity(numbered: firm.manager.number) === firm.manager)
    #expect(throws: HeartwoodError.self) { try firm.employee.entity(numbered: firm.firm.number) }
  }

  @Test func `the version hash follows what rows depend on, and nothing else`() throws {
    let plain = try hash { _ in }
    #expect(try hash { $0.employee.ownProperties.reverse() } == plain)
    #expect(try hash { $0.employee.userInfo = ["a": "b"] } == plain)
    #expect(try hash { $0.staff.deleteRule = .cascade } == plain)
    #expect(try hash { $0.employee.indexes = [index("byName", $0.employee.ownProperties[0])] } == plain)
    #expect(try hash { $0.employee.ownProperties[0].isOptional = false } != plain)
    #expect(try hash { $0.employee.ownProperties[0].versionHashModifier = "2" } != plain)
    #expect(try hash { $0.employee.uniquenessConstraints = [["name"]] } != plain)
    #expect(try hash { $0.employee.ownProperties.append(text("nick")) } != plain)
  }

  @Test func `a model is decoded from its bytes unchanged`() throws {
    for model in [try ManagedObjectModel(types: declaredTypes), try FirmModel().frozen()] {
      let bytes = try model.encoded()
      let read = try bytes.withUnsafeBytes { try ManagedObjectModel(decoding: $0) }
      #expect(try read.encoded() == bytes)
      #expect(read.entityVersionHashesByName == model.entityVersionHashesByName)
      #expect(model.firstDifference(from: read) == nil)
      for entity in model.entities {
        let twin = try #require(read.entitiesByName[entity.displayName])
        #expect(twin.number == entity.number)
        #expect(
          twin.slots.map { twin.property(at: $0).name } == entity.slots.map { entity.property(at: $0).name })
        #expect(twin.compiled.defaults == entity.compiled.defaults)
        #expect(twin.indexes.map(\.name) == entity.indexes.map(\.name))
      }
    }
  }

  @Test func `bytes that are not a model are refused, and never cause a trap`() throws {
    let bytes = try FirmModel().frozen().encoded()
    var random = Randomness(seed: 0x5EED_0020)
    for length in stride(from: 0, to: bytes.count, by: 7) { #expect(!reads(Array(bytes.prefix(length)))) }
    for _ in 0..<120 {
      var damaged = bytes
      damaged[random.below(bytes.count)] = UInt8(truncatingIfNeeded: random.next())
      _ = reads(damaged)
    }
    let missing = String(decoding: bytes, as: UTF8.self).replacing(
      "\"destination\":\"Firm\"", with: "\"destination\":\"Form\"")
    #expect(
      heartwoodMessage {
        _ = try Array(missing.utf8).withUnsafeBytes { try ManagedObjectModel(decoding: $0) }
      }?
      .contains("Employee.firm names \"Form\", which is not in the model") == true)
  }

  @Test func `a model in bytes whose entity inherits from itself is refused`() throws {
    let bytes = try FirmModel().frozen().encoded()
    let circular = String(decoding: bytes, as: UTF8.self).replacing(
      "\"superentity\":\"Employee\"", with: "\"superentity\":\"Manager\"")
    #expect(circular.utf8.count < bytes.count)
    #expect(
      heartwoodMessage {
        _ = try Array(circular.utf8).withUnsafeBytes { try ManagedObjectModel(decoding: $0) }
      }?
      .contains("Manager inherits from itself") == true)
  }

  @Test func `a composite attribute is not computed, and not stored outside of rows`() {
    func message(
      isOfStore: Bool = false, _ change: (CompositeAttributeDescription) -> AttributeDescription
    ) -> String? {
      let place = CompositeAttributeDescription(
        name: "place", elements: [AttributeDescription(name: "x", type: .double)])
      let visit = EntityDescription(name: "Visit", properties: [change(place)])
      let model = ManagedObjectModel(entities: [visit])
      model.isReadFromStore = isOfStore
      return heartwoodMessage { try model.freeze() }
    }
    func outside(_ place: CompositeAttributeDescription) -> AttributeDescription {
      place.allowsExternalBinaryDataStorage = true
      return place
    }
    #expect(message { $0 } == nil)
    #expect(message(outside)?.contains("Visit.place is composite: its elements are in the row") == true)
    // Stores were made of such models.
    #expect(message(isOfStore: true, outside) == nil)
    let derived = message { _ in
      DerivedAttributeDescription(name: "place", type: .composite, derivationExpression: "other")
    }
    #expect(derived?.contains("Visit.place is derived: an attribute of type composite cannot be") == true)
  }

  @Test func `the differences between two models are described in words`() throws {
    let stored = try FirmModel().frozen()
    func difference(_ change: (FirmModel) -> Void) throws -> String? {
      let changed = FirmModel()
      change(changed)
      return try changed.frozen().firstDifference(from: stored)
    }
    #expect(try difference { _ in } == nil)
    #expect(
      try difference { $0.employee.ownProperties.append(text("nick")) }
        == "Employee.nick is in the model, but not in the store")
    #expect(
      try difference { ($0.employee.ownProperties[0] as? AttributeDescription)?.type = .integer64 }
        == "Employee.name is optional integer64 in the model, but optional string in the store")
    #expect(
      try difference { $0.model.entities.append(EntityDescription(name: "Guest")) }
        == "the model has an entity Guest, which the store does not have")
  }

  private func hash(_ change: (FirmModel) -> Void) throws -> [String: Data] {
    let firm = FirmModel()
    change(firm)
    return try firm.frozen().entityVersionHashesByName
  }

  private func reads(_ bytes: [UInt8]) -> Bool {
    (try? bytes.withUnsafeBytes { try ManagedObjectModel(decoding: $0) }) != nil
  }

  private func expectFailure(
    _ words: String, sourceLocation: SourceLocation = #_sourceLocation, _ change: (FirmModel) -> Void
  ) {
    let firm = FirmModel()
    change(firm)
    let message = heartwoodMessage { try firm.model.freeze() }
    #expect(message?.contains(words) == true, "\(message ?? "nothing")", sourceLocation: sourceLocation)
  }
}

private func text(_ name: String) -> AttributeDescription { AttributeDescription(name: name, type: .string) }

private func index(_ name: String, _ property: PropertyDescription) -> FetchIndexDescription {
  FetchIndexDescription(name: name, elements: [FetchIndexElementDescription(property: property)])
}
