import Foundation
import GraphTestSupport
import Heartwood
import TestSupport
import Testing

/// Mapping models that Xcode has written.
@Suite struct `Mapping models of Xcode` {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private static func model(new: Bool) -> ManagedObjectModel {
    func attribute(_ name: String, _ type: AttributeType) -> AttributeDescription {
      AttributeDescription(name: name, type: type, isOptional: true)
    }
    let trip = EntityDescription(
      name: new ? "Journey" : "Trip",
      properties: [
        attribute("name", .string), attribute("code", .string), attribute(new ? "hours" : "days", .integer64),
        attribute(new ? "added" : "removed", .string),
      ])
    let stop = EntityDescription(name: "Stop", properties: [attribute("place", .string)])
    let stops = RelationshipDescription(name: "stops", destination: stop, isToMany: true)
    let back = RelationshipDescription(name: new ? "journey" : "trip", destination: trip, isToMany: false)
    (stops.inverseRelationship, back.inverseRelationship) = (back, stops)
    trip.properties += [stops]
    stop.properties += [back]
    return ManagedObjectModel(entities: [trip, stop])
  }

  /// `$source.days * 24`, in an archive as Foundation writes it.
  private static let hours = """
    YnBsaXN0MDDUAQIDBAUGBwpYJHZlcnNpb25ZJGFyY2hpdmVyVCR0b3BYJG9iamVjdHMSAAGGoF8QD05TS2V5ZWRBcmNoaXZlctEI\
    CVRyb290gBWvEBYLDBMWGRwfIiMkKywyMzQ5PkdIS0xQVSRudWxs0g0ODxBaJGNsYXNzbmFtZVgkY2xhc3Nlc18QGU5TQ29uc3Rh\
    bnRWYWx1ZUV4cHJlc3Npb26jDxESXE5TRXhwcmVzc2lvblhOU09iamVjdNINDhQVXxAUTlNWYXJpYWJsZUV4cHJlc3Npb26jFBES\
    0g0OFxhfEBNOU0tleVBhdGhFeHByZXNzaW9uoxcREtINDhobXxAcTlNLZXlQYXRoU3BlY2lmaWVyRXhwcmVzc2lvbqMaERLSDQ4d\
    Hl8QFE5TRnVuY3Rpb25FeHByZXNzaW9uox0REtINDiAhV05TQXJyYXmiIBJfEBROU1ByZWRpY2F0ZVV0aWxpdGllc1VDbGFzc9Ml\
    JicoKSpWJGNsYXNzXxAPTlNDb25zdGFudFZhbHVlXxAYTlNDb25zdGFudFZhbHVlQ2xhc3NOYW1lgAGAB4AIVnNvdXJjZdMlLS4v\
    MDFaTlNWYXJpYWJsZV8QEE5TRXhwcmVzc2lvblR5cGWAAoAKEAJfEBB2YWx1ZUZvcktleVBhdGg6VGRheXPTJTUuNjc4WU5TS2V5\
    UGF0aIAEgA0QCtIlOjs8Wk5TLm9iamVjdHOABqE9gA7VJT9AQS5CQ0RFRllOU09wZXJhbmReTlNTZWxlY3Rvck5hbWVbTlNBcmd1\
    bWVudHOAA4ALgAyADxADEBjTJSYuKElKgBEQAFxtdWx0aXBseTpieTrSJTo7TaJOT4AQgBLVJT9AQS5RUlNUVYAFgAmAE4AUEAQA\
    CAARABoAJAApADIANwBJAEwAUQBTAGwAcgB3AIIAiwCnAKsAuADBAMYA3QDhAOYA/AEAAQUBJAEoAS0BRAFIAU0BVQFYAW8BdQF8\
    AYMBlQGwAbIBtAG2Ab0BxAHPAeIB5AHmAegB+wIAAgcCEQITAhUCFwIcAicCKQIrAi0COAJCAlECXQJfAmECYwJlAmcCaQJwAnIC\
    dAKBAoYCiQKLAo0CmAKaApwCngKgAAAAAAAAAgEAAAAAAAAAVgAAAAAAAAAAAAAAAAAAAqI=
    """

  /// An expression that is a block of code.
  private static let block = """
    YnBsaXN0MDDUAQIDBAUGBwpYJHZlcnNpb25ZJGFyY2hpdmVyVCR0b3BYJG9iamVjdHMSAAGGoF8QD05TS2V5ZWRBcmNoaXZlctEI\
    CVRyb290gAKjCwwTVSRudWxs0g0ODxBaJGNsYXNzbmFtZVgkY2xhc3Nlc18QEU5TQmxvY2tFeHByZXNzaW9uow8RElxOU0V4cHJl\
    c3Npb25YTlNPYmplY3TRFBVWJGNsYXNzgAEIERokKTI3SUxRU1ddYm12io6bpKeuAAAAAAAAAQEAAAAAAAAAFgAAAAAAAAAAAAAA\
    AAAAALA=
    """

  /// A dictionary in an archive.
  private static let annotations = """
    YnBsaXN0MDDUAQIDBAUGBwpYJHZlcnNpb25ZJGFyY2hpdmVyVCR0b3BYJG9iamVjdHMSAAGGoF8QD05TS2V5ZWRBcmNoaXZlctEI\
    CVRyb290gASlCwwSExRVJG51bGzSDQ4PEFokY2xhc3NuYW1lWCRjbGFzc2VzXE5TRGljdGlvbmFyeaIPEVhOU09iamVjdFN3aHlX\
    cmVuYW1lZNMVFhcYGRtWJGNsYXNzV05TLmtleXNaTlMub2JqZWN0c4ABoRqAAqEcgAMIERokKTI3SUxRU1lfZG94hYiRlZ2kq7O+\
    wMLExgAAAAAAAAEBAAAAAAAAAB0AAAAAAAAAAAAAAAAAAADI
    """

  private func attribute(_ name: String, _ type: String, _ value: String) -> String {
    "<attribute name=\"\(name)\" type=\"\(type)\">\(value)</attribute>"
  }

  private func generated(_ name: String) -> [String] {
    [attribute("name", "string", name), attribute("autogenerateexpression", "bool", "1")]
  }

  /// The file of a mapping model.
  private func xml(
    hours: [String], code: [String], stops: [String]? = nil, predicate: String = "name != 'None'",
    policy: String? = nil
  ) -> String {
    var objects: [String] = []
    func add(_ type: String, _ id: String, _ contents: [String]) {
      objects.append("<object type=\"\(type)\" id=\"\(id)\">\(contents.joined())</object>")
    }
    func refer(_ name: String, _ type: String, _ ids: String) -> String {
      "<relationship name=\"\(name)\" type=\"0/0\" destination=\"\(type)\" idrefs=\"\(ids)\"></relationship>"
    }
    add("XDDEVATTRIBUTEMAPPING", "z110", generated("name"))
    add("XDDEVATTRIBUTEMAPPING", "z111", [attribute("name", "string", "hours")] + hours)
    add("XDDEVATTRIBUTEMAPPING", "z112", [attribute("name", "string", "code")] + code)
    add("XDDEVATTRIBUTEMAPPING", "z113", generated("added"))
    add(
      "XDDEVRELATIONSHIPMAPPING", "z114",
      stops ?? generated("stops") + [attribute("sourcemappingname", "string", "StopToStop")])
    add(
      "XDDEVENTITYMAPPING", "z120",
      [
        attribute("sourcename", "string", "Trip"), attribute("destinationname", "string", "Journey"),
        attribute("mappingnumber", "int16", "2"), attribute("mappingtypename", "string", "Undefined"),
        attribute("sourcefilterpredicatestring", "string", predicate),
        attribute("autogenerateexpression", "bool", "1"),
        attribute("userinfodata", "binary", Self.annotations),
        policy.map { attribute("migrationpolicyclassname", "string", $0) } ?? "",
        refer("attributemappings", "XDDEVATTRIBUTEMAPPING", "z110 z111 z112 z113"),
        refer("relationshipmappings", "XDDEVRELATIONSHIPMAPPING", "z114"),
      ])
    add("XDDEVATTRIBUTEMAPPING", "z130", generated("place"))
    add("XDDEVRELATIONSHIPMAPPING", "z131", generated("journey"))
    add(
      "XDDEVENTITYMAPPING", "z121",
      [
        attribute("sourcename", "string", "Stop"), attribute("destinationname", "string", "Stop"),
        attribute("mappingnumber", "int16", "1"), attribute("autogenerateexpression", "bool", "1"),
        refer("attributemappings", "XDDEVATTRIBUTEMAPPING", "z130"),
        refer("relationshipmappings", "XDDEVRELATIONSHIPMAPPING", "z131"),
      ])
    add(
      "XDDEVMAPPINGMODEL", "z101",
      [
        attribute("sourcemodelpath", "string", "App/Trips.xcdatamodeld/Trips.xcdatamodel"),
        attribute("destinationmodelpath", "string", "App/Trips.xcdatamodeld/Trips 2.xcdatamodel"),
        refer("entitymappings", "XDDEVENTITYMAPPING", "z120 z121"),
      ])
    return """
      <?xml version="1.0" standalone="yes"?>
      <!DOCTYPE database SYSTEM "file:///System/Library/DTDs/CoreData.dtd">

      <database>
          <databaseInfo><version>134481920</version><nextObjectID>140</nextObjectID></databaseInfo>
          \(objects.joined(separator: "\n    "))
      </database>
      """
  }

  private func write(_ xml: String, _ name: String = "1to2") throws -> URL {
    let url = folder.url.appending(path: "mappings/\(name).xcmappingmodel")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    try Data(xml.utf8).write(to: url.appending(path: "xcmapping.xml"))
    return url
  }

  private func fill() throws {
    let coordinator = PersistentStoreCoordinator(managedObjectModel: Self.model(new: false))
    try coordinator.addPersistentStore(with: PersistentStoreDescription(url: folder.store))
    let context = ManagedObjectContext(.privateQueue, coordinator: coordinator)
    for (name, days) in [("Rome", 3), ("Oslo", 1), ("None", 9)] {
      let trip = try ManagedObject(entity: context.entity("Trip"), insertInto: context)
      trip.setValue(name, forKey: "name")
      trip.setValue(name.lowercased(), forKey: "code")
      trip.setValue(days, forKey: "days")
      for place in ["a", "b"] {
        let stop = try ManagedObject(entity: context.entity("Stop"), insertInto: context)
        stop.setValue(place + name, forKey: "place")
        stop.setValue(trip, forKey: "trip")
      }
    }
    try context.save()
    try coordinator.close()
  }

  // MIG-02, MIG-07, GEN-07
  @Test func `a store is migrated by a mapping model of Xcode, with archived and written expressions`() throws
  {
    try fill()
    let (former, newer) = (Self.model(new: false), Self.model(new: true))
    let url = try write(
      xml(
        hours: [attribute("valueexpressiondata", "binary", Self.hours)],
        code: [attribute("valueexpression", "string", "$source.code")]))
    let mapping = try MappingModel(contentsOf: url)
    #expect(mapping.entityMappings.map(\.name) == ["StopToStop", "TripToJourney"])
    let trip = mapping.entityMappings[1]
    #expect(trip.userInfo == ["why": "renamed"])
    #expect(
      trip.attributeMappings.map(\.valueExpression) == [nil, "($source.days * 24)", "$source.code", nil])
    #expect(trip.sourceEntityVersionHash == nil)
    let found = try #require(
      MappingModel.mappingModel(
        from: [url.deletingLastPathComponent()], forSourceModel: former, destinationModel: newer))
    #expect(
      MappingModel.mappingModel(
        from: [url.deletingLastPathComponent()], forSourceModel: newer, destinationModel: former) == nil)
    let bundle = try #require(Bundle(url: url.deletingLastPathComponent()))
    #expect(MappingModel(from: [bundle], forSourceModel: former, destinationModel: newer) != nil)
    #expect(MappingModel(from: [bundle], forSourceModel: former, destinationModel: former) == nil)

    let coordinator = PersistentStoreCoordinator(managedObjectModel: newer)
    let description = PersistentStoreDescription(url: folder.store)
    description.mappingModel = found
    try coordinator.addPersistentStore(with: description)
    defer { try? coordinator.close() }
    let context = ManagedObjectContext(.privateQueue, coordinator: coordinator)
    let journeys = try context.fetch(FetchRequest<ManagedObject>(entityName: "Journey")).map { journey in
      let stops = (journey.value(forKey: "stops") as? Set<ManagedObject>) ?? []
      let places = stops.compactMap { $0.value(forKey: "place") as? String }.sorted().joined()
      return ["name", "hours", "code", "added"].map { "\(journey.value(forKey: $0) ?? "-")" }.joined(
        separator: " ")
        + " " + places
    }
    #expect(journeys.sorted() == ["Oslo 24 oslo - aOslobOslo", "Rome 72 rome - aRomebRome"])
    #expect(try context.count(for: FetchRequest<ManagedObject>(entityName: "Stop")) == 6)
  }

  private func journeys(_ mapping: MappingModel) throws -> [String] {
    let coordinator = PersistentStoreCoordinator(managedObjectModel: Self.model(new: true))
    let description = PersistentStoreDescription(url: folder.store)
    description.mappingModel = mapping
    try coordinator.addPersistentStore(with: description)
    defer { try? coordinator.close() }
    let context = ManagedObjectContext(.privateQueue, coordinator: coordinator)
    return try context.fetch(FetchRequest<ManagedObject>(entityName: "Journey")).map { journey in
      let stops = (journey.value(forKey: "stops") as? Set<ManagedObject>) ?? []
      let places = stops.compactMap { $0.value(forKey: "place") as? String }.sorted().joined()
      return ["hours", "code"].map { "\(journey.value(forKey: $0) ?? "-")" }.joined(separator: " ") + " "
        + places
    }.sorted()
  }

  /// The attributes that a relationship's mapping may have beside its name: Xcode's editor writes each of
  /// them.
  private static let ways: [[(name: String, value: String)]] = [
    [("sourcekeypath", "$source.stops"), ("sourcemappingname", "StopToStop")],
    [("sourcekeypath", "stops"), ("sourcemappingname", "StopToStop")], [("sourcekeypath", "$source.stops")],
    [("sourcekeypath", "stops.trip.stops")],
    [
      (
        "valueexpression",
        #"FUNCTION($manager ,"destinationInstancesForEntityMappingNamed:sourceInstances:" , "StopToStop", $source.stops)"#
      )
    ],
    [
      (
        "valueexpression",
        #"FUNCTION($manager, "destinationInstancesForEntityMappingNamed:sourceInstances:", "StopToStop", $source.stops.@distinctUnionOfSets.trip.stops)"#
      )
    ],
    [
      (
        "valueexpression",
        #"FUNCTION($manager, "destinationInstancesForSourceRelationshipNamed:sourceInstances:", "stops", $source.stops)"#
      )
    ],
  ]

  // MIG-07
  @Test(arguments: 0..<ways.count) func `a relationship is mapped in each way that the editor has`(way: Int)
    throws
  {
    try fill()
    let stops =
      [attribute("name", "string", "stops")]
      + Self.ways[way].map { name, value in
        attribute(name, "string", value.replacing("\"", with: "&quot;"))
      }
    let text = xml(
      hours: [attribute("sourcekeypath", "string", "$source.days")],
      code: [attribute("sourcekeypath", "string", "$source.name")], stops: stops)
    #expect(
      try journeys(MappingModel(contentsOf: write(text))) == ["1 Oslo aOslobOslo", "3 Rome aRomebRome"])
  }

  // MIG-07
  @Test func `a property that Xcode maps without a source has its default where the former one does not fit`()
    throws
  {
    try fill()
    let newer = Self.model(new: true)
    let code = try #require(newer.entitiesByName["Journey"]?.attributesByName["code"])
    (code.type, code.defaultValue) = (.integer64, 7)
    let plain = generated("x").suffix(1).map { $0 }
    let mapping = try MappingModel(contentsOf: write(xml(hours: plain, code: plain)))
    let description = PersistentStoreDescription(url: folder.store)
    description.mappingModel = mapping
    let report = try PersistentStoreCoordinator.rehearseMigration(with: description, to: newer)
    #expect(report?.lostValues["Trip.code"] == 2)
    let coordinator = PersistentStoreCoordinator(managedObjectModel: newer)
    try coordinator.addPersistentStore(with: description)
    defer { try? coordinator.close() }
    let context = ManagedObjectContext(.privateQueue, coordinator: coordinator)
    let journeys = try context.fetch(FetchRequest<ManagedObject>(entityName: "Journey"))
    #expect(journeys.count == 2 && journeys.allSatisfy { $0.value(forKey: "code") as? Int64 == 7 })
  }

  @Test func `the versions of a mapping model of Xcode are those of the models where it says`() throws {
    let (former, newer) = (Self.model(new: false), Self.model(new: true))
    let models = folder.url.appending(path: "App/Trips.xcdatamodeld")
    try FileManager.default.createDirectory(at: models, withIntermediateDirectories: true)
    try former.writeXcodeModel(to: models.appending(path: "Trips.xcdatamodel"))
    try newer.writeXcodeModel(to: models.appending(path: "Trips 2.xcdatamodel"))
    let plain = generated("x").suffix(1).map { $0 }
    let mapping = try MappingModel(contentsOf: write(xml(hours: plain, code: plain)))
    let trip = mapping.entityMappings[1]
    #expect(trip.sourceEntityVersionHash == former.entityVersionHashesByName["Trip"])
    #expect(trip.destinationEntityVersionHash == newer.entityVersionHashesByName["Journey"])
    let again = folder.url.appending(path: "again.json")
    try mapping.encodedDocument().write(to: again)
    #expect(try MappingModel(contentsOf: again).encodedDocument() == mapping.encodedDocument())
  }

  @Test(arguments: [
    #"days \u3c00 9 AND name != \u2200Oslo\u2200"#, #"days \u003c 9 \u2600\u2600 name != 'Oslo'"#,
  ])
  func `characters that XML has for itself are read where Xcode writes them as code units`(predicate: String)
    throws
  {
    try fill()
    let plain = [attribute("autogenerateexpression", "bool", "1")]
    let mapping = try MappingModel(contentsOf: write(xml(hours: plain, code: plain, predicate: predicate)))
    let journeys = try journeys(mapping)
    #expect(journeys.count == 1 && journeys[0].hasSuffix("aRomebRome"), "\(journeys)")
    let url = try write(
      xml(hours: plain, code: plain, predicate: #"name == '\u12' OR name == '\uZZZZ'"#), "2")
    #expect(
      heartwoodError { _ = try MappingModel(contentsOf: url) }?.message.contains("\\u needs four") == true)
  }

  @Test func `what is not understood in a mapping model of Xcode is named in an error`() throws {
    func message(_ xml: String, _ policies: [String: EntityMigrationPolicy] = [:]) throws -> String {
      let url = try write(xml)
      return heartwoodError { _ = try MappingModel(contentsOf: url, policies: policies) }?.message ?? ""
    }
    let plain = generated("x").suffix(1).map { $0 }
    // As Apple's tools compile it: an archive counts also where the editor is said to have generated it, if it is understood.
    let both = plain + [attribute("valueexpressiondata", "binary", Self.hours)]
    let mapping = try MappingModel(contentsOf: write(xml(hours: both, code: plain)))
    #expect(mapping.entityMappings[1].attributeMappings[1].valueExpression == "($source.days * 24)")
    let stale = plain + [attribute("valueexpressiondata", "binary", Self.block)]
    #expect(try message(xml(hours: stale, code: plain)) == "")
    let archived = try message(
      xml(hours: [attribute("valueexpressiondata", "binary", Self.block)], code: plain))
    #expect(archived.contains("the mapping TripToJourney has a value for hours"), "\(archived)")
    #expect(archived.contains("NSBlockExpression"), "\(archived)")
    let written = try message(
      xml(hours: [attribute("valueexpression", "string", "$source.days *")], code: plain))
    #expect(written.contains("TripToJourney has a value for hours"), "\(written)")
    let noData = try message(xml(hours: [attribute("valueexpressiondata", "binary", "???")], code: plain))
    #expect(noData.contains("no data in Base64"), "\(noData)")
    #expect(
      try message(xml(hours: plain, code: plain, predicate: "name ==")).contains(
        "selects objects by \"name ==\""))
    let policed = xml(hours: plain, code: plain, policy: "App.Greeting")
    #expect(try message(policed).contains("has the policy App.Greeting, which is not given"))
    #expect(try message(policed, ["Greeting": EntityMigrationPolicy()]) == "")
    #expect(
      try message(xml(hours: plain, code: plain).replacing("idrefs=\"z110 ", with: "idrefs=\"z999 "))
        .contains("names z999"))
    #expect(try message("<model/>").contains("<model> in place of <database>"))
    #expect(try message("<database>").contains("is no XML"))
    #expect(try message("<database/>").contains("0 objects of the type XDDEVMAPPINGMODEL"))
    let nowhere = folder.url.appending(path: "none.xcmappingmodel/xcmapping.xml")
    #expect(
      heartwoodError { _ = try MappingModel(contentsOf: nowhere) }?.message.contains("cannot be read") == true
    )
  }
}
