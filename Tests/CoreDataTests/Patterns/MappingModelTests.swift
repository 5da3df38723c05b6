import CoreData
import Foundation
import Testing

/// As the plugin writes it for a folder with three versions.
final class _EmbeddedModel_Ferry: CoreData._EmbeddedModel {
  override class var name: String { "Ferry" }
  override class var currentVersion: String { "Ferry 2" }
  override class var versions: [(name: String, contents: String)] {
    func attribute(_ name: String, _ type: String) -> String {
      "<attribute name=\"\(name)\" optional=\"YES\" attributeType=\"\(type)\"/>"
    }
    func model(_ name: String, _ attributes: [String]) -> String {
      """
      <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
      <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0" sourceLanguage="Swift">
        <entity name="Crossing" representedClassName="NSManagedObject" syncable="YES">\(attributes.joined())</entity>
      </model>
      """
    }
    return [
      ("Ferry", model("1", [attribute("route", "String"), attribute("minutes", "Integer 64")])),
      (
        "Ferry 2",
        model(
          "2", [attribute("from", "String"), attribute("to", "String"), attribute("hours", "Double")])
      ),
      ("Ferry 3", model("3", [attribute("from", "String"), attribute("hours", "Double")])),
    ]
  }
}

/// As the plugin writes it for `Ferry1to2.xcmappingmodel`.
final class _EmbeddedMappingModel_Ferry1to2: CoreData._EmbeddedMappingModel {
  override class var name: String { "Ferry1to2" }
  override class var contents: String { XcodeMappings.ferry(to: "Ferry 2", policy: "CrossingPolicy") }
}

/// A mapping model whose policy is no class of the program.
final class _EmbeddedMappingModel_Ferry2to3: CoreData._EmbeddedMappingModel {
  override class var name: String { "Ferry2to3" }
  override class var contents: String {
    XcodeMappings.ferry(from: "Ferry 2", to: "Ferry 3", policy: "App.LostPolicy", hours: nil)
  }
}

enum XcodeMappings {
  /// The file that Xcode writes.
  static func ferry(
    from source: String = "Ferry", to destination: String, policy: String,
    hours: String? = "$source.minutes / 60.0"
  ) -> String {
    func attribute(_ name: String, _ type: String, _ value: String) -> String {
      "<attribute name=\"\(name)\" type=\"\(type)\">\(value)</attribute>"
    }
    let value =
      hours.map {
        attribute("valueexpression", "string", $0) + attribute("autogenerateexpression", "bool", "0")
      }
      ?? attribute("autogenerateexpression", "bool", "1")
    return """
      <?xml version="1.0"?>
      <!DOCTYPE database SYSTEM "file:///System/Library/DTDs/CoreData.dtd">

      <database>
          <databaseInfo>
              <version>134481920</version>
              <UUID>46F9C1B2-9D86-4F3F-9B7E-5B6A0E3C2D11</UUID>
              <nextObjectID>106</nextObjectID>
          </databaseInfo>
          <object type="XDDEVATTRIBUTEMAPPING" id="z104">
              \(attribute("name", "string", "hours"))\(value)
          </object>
          <object type="XDDEVENTITYMAPPING" id="z103">
              \(attribute("migrationpolicyclassname", "string", policy))
              \(attribute("sourcename", "string", "Crossing"))
              \(attribute("mappingtypename", "string", "Undefined"))
              \(attribute("mappingnumber", "int16", "1"))
              \(attribute("destinationname", "string", "Crossing"))
              \(attribute("autogenerateexpression", "bool", "1"))
              <relationship name="attributemappings" type="0/0" destination="XDDEVATTRIBUTEMAPPING" idrefs="z104"></relationship>
              <relationship name="relationshipmappings" type="0/0" destination="XDDEVRELATIONSHIPMAPPING"></relationship>
          </object>
          <object type="XDDEVMAPPINGMODEL" id="z102">
              \(attribute("sourcemodelpath", "string", "Ferries/Ferry.xcdatamodeld/\(source).xcdatamodel"))
              \(attribute("destinationmodelpath", "string", "Ferries/Ferry.xcdatamodeld/\(destination).xcdatamodel"))
              <relationship name="entitymappings" type="0/0" destination="XDDEVENTITYMAPPING" idrefs="z103"></relationship>
          </object>
      </database>
      """
  }
}

/// Splits a route in two.
final class CrossingPolicy: NSEntityMigrationPolicy, @unchecked Sendable {
  override func createDestinationInstances(
    forSource sInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
  ) throws {
    try super.createDestinationInstances(forSource: sInstance, in: mapping, manager: manager)
    let made = manager.destinationInstances(
      forEntityMappingName: mapping.name, sourceInstances: [sInstance])
    let parts = (sInstance.value(forKey: "route") as? String ?? "").components(separatedBy: "-")
    made.first?.setValue(parts.first, forKey: "from")
    made.first?.setValue(parts.last, forKey: "to")
  }
}

@Suite struct `Mapping models in the program` {
  private let folder: URL
  private var url: URL { folder.appending(path: "Ferry.sqlite") }

  init() throws {
    folder = FileManager.default.temporaryDirectory.appending(path: "ferry-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  }

  private static func model(_ version: String) throws -> NSManagedObjectModel {
    let place = try #require(Bundle.main.url(forResource: "Ferry", withExtension: "momd"))
    return try #require(NSManagedObjectModel(contentsOf: place.appendingPathComponent("\(version).mom")))
  }

  /// Makes a store of the first version.
  private func fill() throws {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: try Self.model("Ferry"))
    let store = try coordinator.addPersistentStore(
      ofType: NSSQLiteStoreType, configurationName: nil, at: url, options: nil)
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    try context.performAndWait {
      for (route, minutes) in [("Oslo-Kiel", 1200), ("Bodø-Moskenes", 210)] {
        let crossing = NSEntityDescription.insertNewObject(forEntityName: "Crossing", into: context)
        crossing.setValue(route, forKey: "route")
        crossing.setValue(minutes, forKey: "minutes")
      }
      try context.save()
    }
    try coordinator.remove(store)
  }

  /// The names that a container of a version of the model finds in the store.
  private func open(_ version: String, infers: Bool) throws -> [String] {
    let container = NSPersistentContainer(name: "Ferry", managedObjectModel: try Self.model(version))
    let description = NSPersistentStoreDescription(url: url)
    description.shouldInferMappingModelAutomatically = infers
    container.persistentStoreDescriptions = [description]
    var failure: (any Error)?
    container.loadPersistentStores { _, error in failure = error }
    if let failure { throw failure }
    defer {
      for store in container.persistentStoreCoordinator.persistentStores {
        try? container.persistentStoreCoordinator.remove(store)
      }
    }
    let context = container.newBackgroundContext()
    return try context.performAndWait {
      let request = NSFetchRequest<NSManagedObject>(entityName: "Crossing")
      request.sortDescriptors = [NSSortDescriptor(key: "hours", ascending: true)]
      return try context.fetch(request).map { crossing in
        let names = ["from", "to"].map { crossing.value(forKey: $0) as? String ?? "?" }
        return "\(names[0]) \(names[1]) \(crossing.value(forKey: "hours") as? Double ?? 0)"
      }
    }
  }

  @Test func `a container migrates its store by the mapping model of the program, with its policies`() throws
  {
    defer { try? FileManager.default.removeItem(at: folder) }
    try fill()
    #expect(try open("Ferry 2", infers: false) == ["Bodø Moskenes 3.5", "Oslo Kiel 20.0"])
    #expect(try open("Ferry 2", infers: false).count == 2)
  }

  @Test func `a mapping model of the program goes before what can be inferred`() throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    try fill()
    #expect(try open("Ferry 2", infers: true) == ["Bodø Moskenes 3.5", "Oslo Kiel 20.0"])
  }

  @Test func `a mapping model is found by the version hashes of its models`() throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    let (first, second, third) = (
      try Self.model("Ferry"), try Self.model("Ferry 2"), try Self.model("Ferry 3")
    )
    let found = try #require(NSMappingModel(from: nil, forSourceModel: first, destinationModel: second))
    #expect(found.entityMappings.map(\.entityMigrationPolicyClassName) == ["CrossingPolicy"])
    #expect(found.entityMappings.first?.mappingType == .customEntityMappingType)
    #expect(NSMappingModel(from: [.main], forSourceModel: first, destinationModel: second) != nil)
    #expect(NSMappingModel(from: nil, forSourceModel: first, destinationModel: third) == nil)
    #expect(NSMappingModel(from: nil, forSourceModel: second, destinationModel: first) == nil)
    #expect(NSMappingModel(from: nil, forSourceModel: nil, destinationModel: second) == nil)

    let place = try #require(Bundle.main.url(forResource: "Ferry1to2", withExtension: "cdm"))
    let read = try #require(NSMappingModel(contentsOf: place))
    #expect(read.entityMappings.first?.attributeMappings?.map(\.name) == ["hours"])
    #expect(NSMappingModel(contentsOf: nil) == nil)
    #expect(NSMappingModel(contentsOf: folder.appending(path: "none.xcmappingmodel")) == nil)
  }

  @Test func `without a mapping model and inference a store is not migrated`() throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    try fill()
    do {
      _ = try open("Ferry 3", infers: false)
      Issue.record("the store was migrated")
    } catch let error as NSError {
      #expect(error.code == NSMigrationMissingMappingModelError)
    }
  }

  @Test func `a policy that no class of the program has is an error that names it`() throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    try fill()
    _ = try open("Ferry 2", infers: false)
    do {
      _ = try open("Ferry 3", infers: true)
      Issue.record("the store was migrated")
    } catch let error as NSError {
      #expect("\(error) \(error.userInfo)".contains("App.LostPolicy"))
    }
    #expect(try open("Ferry 2", infers: false).count == 2)

    // It can be read all the same; a migration with it fails.
    let place = try #require(
      Bundle.main._urls(forResourcesWithExtension: "cdm", subdirectory: nil)?.first {
        $0.lastPathComponent == "Ferry2to3.cdm"
      })
    let mapping = try #require(NSMappingModel(contentsOf: place))
    let manager = NSMigrationManager(
      sourceModel: try Self.model("Ferry 2"), destinationModel: try Self.model("Ferry 3"))
    let error = #expect(throws: (any Error).self) {
      try manager.migrateStore(
        from: self.url, sourceType: NSSQLiteStoreType, options: nil, with: mapping,
        toDestinationURL: folder.appending(path: "third"), destinationType: NSSQLiteStoreType,
        destinationOptions: nil)
    }
    #expect("\(error as Any)".contains("App.LostPolicy"))
  }

  @Test func `a mapping model among the resources of a bundle is found`() throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    let mapping = folder.appending(path: "Way.xcmappingmodel")
    try FileManager.default.createDirectory(at: mapping, withIntermediateDirectories: true)
    try Data(XcodeMappings.ferry(to: "Ferry 3", policy: "").utf8)
      .write(to: mapping.appending(path: "xcmapping.xml"))
    let bundle = try #require(Bundle(url: folder))
    let (first, third) = (try Self.model("Ferry"), try Self.model("Ferry 3"))
    let found = NSMappingModel(from: [bundle], forSourceModel: first, destinationModel: third)
    #expect(found?.entityMappings.count == 1)
    #expect(NSMappingModel(contentsOf: mapping)?.entityMappings.count == 1)
  }
}
