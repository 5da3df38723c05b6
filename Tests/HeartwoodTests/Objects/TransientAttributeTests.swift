import Foundation
import GraphTestSupport
import TestSupport
import Testing

@testable import Heartwood

/// A value of a type that no store can keep.
private struct Thumbnail: TransientValue, Equatable {
  var pixels: [UInt8]
}

private final class Photo: ManagedObject {
  @Attribute var title = ""
  @Attribute(.transient) var isSelected = false
  @Attribute(.transient, validated: .range(0...5)) var stars: Int? = 3
  @Attribute(.transient) var note: String?
  @Attribute(.transient) var thumbnail: Thumbnail?
}

private final class KeptUndefined: ManagedObject {
  @Attribute var thumbnail: Thumbnail?
}

private final class UniqueTransient: ManagedObject {
  @Attribute([.transient, .unique]) var code = ""
}

@Suite struct `Transient attributes` {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func makeContext() throws -> ManagedObjectContext {
    try PersistentContainer(name: "Photos", types: [Photo.self], at: folder.store).newBackgroundContext()
  }

  private func makePhoto(_ context: ManagedObjectContext, _ title: String = "Lake") throws -> Photo {
    let photo = Photo(context: context)
    photo.title = title
    try context.save()
    return photo
  }

  // MOD-34, OBJ-06
  @Test func `a transient value is a change, but none that a save would write`() throws {
    let context = try makeContext()
    let photo = try makePhoto(context)
    photo.isSelected = true
    #expect(photo.hasChanges && photo.isUpdated)
    #expect(!photo.hasPersistentChangedValues)
    #expect(photo.changedValues() as? [String: Bool] == ["isSelected": true])
    let (version, token) = (
      photo.rowVersion, context.persistentStoreCoordinator?.currentPersistentHistoryToken()
    )
    try context.save()
    #expect(!photo.hasChanges && photo.changedValues().isEmpty)
    #expect(photo.rowVersion == version)
    #expect(context.persistentStoreCoordinator?.currentPersistentHistoryToken() == token)
    photo.isSelected = false
    photo.title = "Sea"
    #expect(photo.hasPersistentChangedValues)
    try context.save()
    #expect(photo.rowVersion == version + 1)
    let change = try context.execute(.fetchHistory(after: Date.distantPast)).transactions.last?.changes?.last
    #expect(change?.updatedProperties?.map(\.name) == ["title"])
  }

  // MOD-34
  @Test func `a transient value survives saves and is the default again after the object was a fault`() throws
  {
    let context = try makeContext()
    let photo = try makePhoto(context)
    #expect(photo.stars == 3)
    photo.stars = nil
    photo.note = "blurred"
    photo.thumbnail = Thumbnail(pixels: [1, 2])
    photo.isSelected = true
    try context.save()
    photo.title = "Sea"
    try context.save()
    #expect(photo.stars == nil && photo.note == "blurred" && photo.isSelected && photo.title == "Sea")
    #expect(photo.thumbnail == Thumbnail(pixels: [1, 2]))
    #expect(photo.value(forKey: "thumbnail") as? Thumbnail == Thumbnail(pixels: [1, 2]))
    context.refresh(photo, mergeChanges: false)
    #expect(photo.stars == 3 && photo.note == nil && !photo.isSelected && photo.title == "Sea")
    #expect(photo.thumbnail == nil)
  }

  // MOD-34
  @Test func `no other context and no reopened store has a transient value`() throws {
    let context = try makeContext()
    let photo = try makePhoto(context)
    photo.note = "blurred"
    photo.stars = 5
    photo.title = "Sea"
    try context.save()
    let other = try makeContext()
    let again = try #require(try other.fetch(Photo.self).first)
    #expect(again.title == "Sea" && again.note == nil && again.stars == 3 && !again.isSelected)
    let report = try other.persistentStoreCoordinator?.verify()
    #expect(report?.findings.isEmpty == true)
  }

  // MOD-34
  @Test func `a transient value is undone, redone and rolled back`() throws {
    let context = try makeContext()
    let photo = try makePhoto(context)
    context.undoManager = UndoStack()
    photo.note = "one"
    context.processPendingChanges()
    photo.note = "two"
    photo.thumbnail = Thumbnail(pixels: [7])
    context.undo()
    #expect(photo.note == "one" && photo.thumbnail == nil)
    context.redo()
    #expect(photo.note == "two" && photo.thumbnail == Thumbnail(pixels: [7]))
    try context.save()
    photo.note = "three"
    context.rollback()
    #expect(photo.note == "two")
  }

  // MOD-34
  @Test func `a transient value is validated at a save`() throws {
    let context = try makeContext()
    let photo = try makePhoto(context)
    photo.stars = 6
    let error = heartwoodError { try context.save() }
    #expect(error?.code == .validationNumberTooLarge && error?.property == "stars")
    photo.stars = 5
    try context.save()
    #expect(photo.stars == 5)
  }

  // MOD-34, T44
  @Test func `a fetch by a transient attribute is refused with its name before anything is fetched`() throws {
    let context = try makeContext()
    _ = try makePhoto(context)
    let refusals = [
      heartwoodMessage { _ = try context.fetch(Photo.self, where: { $0.isSelected }) },
      heartwoodMessage { _ = try context.fetch(Photo.self, where: { $0.note == "x" }) },
      heartwoodMessage { _ = try context.fetch(Photo.self, sort: [.ascending(\.note)]) },
      heartwoodMessage {
        let request = FetchRequest<Photo>(entityName: "Photo")
        request.predicate = try FormatPredicate("stars > 2 OR title == 'Lake'")
        _ = try context.count(for: request)
      },
    ]
    for refusal in refusals { #expect(refusal?.contains("is transient and not stored") == true) }
    #expect(refusals[1]?.contains("Photo.note") == true)
  }

  // MOD-34
  @Test func `the edits of a merged object keep its transient values`() throws {
    let context = try makeContext()
    let photo = try makePhoto(context)
    photo.note = "mine"
    try context.save()
    photo.stars = 1
    let other = try makeContext()
    let theirs = try #require(try other.fetch(Photo.self).first)
    theirs.title = "Sea"
    try other.save()
    context.refresh(photo, mergeChanges: true)
    #expect(photo.title == "Sea" && photo.note == "mine" && photo.stars == 1)
    try context.save()
    #expect(photo.note == "mine" && photo.stars == 1)
  }

  // MOD-34, MOD-38
  @Test func `an undefined type is for transient attributes only, and an index is for stored ones`() throws {
    let undefined = modelError([KeptUndefined.self])
    #expect(undefined?.contains("KeptUndefined.thumbnail has no type that can be stored") == true)
    #expect(modelError([UniqueTransient.self])?.contains("transient") == true)
    let attribute = AttributeDescription(name: "cache", type: .undefined)
    attribute.isTransient = true
    let entity = EntityDescription(name: "Page", properties: [attribute])
    let coordinator = PersistentStoreCoordinator(managedObjectModel: ManagedObjectModel(entities: [entity]))
    try coordinator.addPersistentStore(with: PersistentStoreDescription())
    let context = ManagedObjectContext(.privateQueue, coordinator: coordinator)
    let page = EntityDescription.insertNewObject(forEntityName: "Page", into: context)
    page.setValue(["any": [1, 2]], forKey: "cache")
    try context.save()
    #expect(page.value(forKey: "cache") as? [String: [Int]] == ["any": [1, 2]])
  }
}
