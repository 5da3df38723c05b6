import CoreData
import CoreDataAccessed
import CoreDataTranslated
import Foundation

// The time of one access to a property by each way of the module CoreData, beside the wrappers of Heartwood: the least of several rounds,
// in nanoseconds, and as a ratio. The loops are in the modules of the classes.

let count = 1000
let passes = 200
let rounds = 7

func least(_ body: () -> Int64) -> Double {
  _ = body()
  return (0..<rounds).map { _ in
    let start = ContinuousClock.now
    for _ in 0..<passes { sum &+= body() }
    return (ContinuousClock.now - start) / .nanoseconds(1) / Double(count * passes)
  }.min() ?? .nan
}
nonisolated(unsafe) var sum: Int64 = 0

func attribute(_ name: String, _ type: NSAttributeType) -> NSAttributeDescription {
  let attribute = NSAttributeDescription()
  (attribute.name, attribute.attributeType, attribute.isOptional) = (name, type, true)
  return attribute
}

let model = NSManagedObjectModel()
model.entities = ["TranslatedNote", "AccessedNote"].map { name in
  let entity = NSEntityDescription()
  (entity.name, entity.managedObjectClassName) = (name, name)
  entity.properties = [
    attribute("number", .integer64AttributeType), attribute("isDone", .booleanAttributeType),
    attribute("text", .stringAttributeType), attribute("due", .dateAttributeType),
  ]
  return entity
}
let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
try coordinator.addPersistentStore(
  ofType: NSInMemoryStoreType, configurationName: nil, at: nil, options: nil)
let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
context.persistentStoreCoordinator = coordinator

let wrapped = try WrappedNotes(count)
try context.performAndWait {
  let translated = TranslatedNotes.make(count, in: context)
  let accessed = AccessedNotes.make(count, in: context)
  try context.save()
  let rows: [(name: String, wrapped: () -> Int64, translated: () -> Int64, accessed: () -> Int64)] = [
    (
      "read an Int64", { wrapped.readNumbers() }, { TranslatedNotes.readNumbers(translated) },
      { AccessedNotes.readNumbers(accessed) }
    ),
    (
      "read a Bool", { wrapped.readTruths() }, { TranslatedNotes.readTruths(translated) },
      { AccessedNotes.readTruths(accessed) }
    ),
    (
      "read a String", { wrapped.readTexts() }, { TranslatedNotes.readTexts(translated) },
      { AccessedNotes.readTexts(accessed) }
    ),
    (
      "read a Date", { wrapped.readDates() }, { TranslatedNotes.readDates(translated) },
      { AccessedNotes.readDates(accessed) }
    ),
    (
      "read by name", { wrapped.readByName() }, { TranslatedNotes.readByName(translated) },
      { AccessedNotes.readByName(accessed) }
    ),
    (
      "set an Int64", { wrapped.setNumbers() }, { TranslatedNotes.setNumbers(translated) },
      { AccessedNotes.setNumbers(accessed) }
    ),
  ]
  for row in rows {
    let base = wrapped.performing { least(row.wrapped) }
    let (translation, accessor) = (least(row.translated), least(row.accessed))
    let figures = [base, translation, accessor].map { String(format: "%6.1f ns", $0) }.joined(separator: "  ")
    let ratios = [translation, accessor].map { String(format: "%.2f", $0 / base) }
    print(
      "\(row.name): wrapper, translation, accessor \(figures); ratios \(ratios.joined(separator: " and "))")
  }
}
