import CoreData
import Foundation
import Testing

/// Composite attributes by key-value coding.
@Suite struct `Composite attributes by names` {
  private func make() throws -> (NSManagedObjectContext, NSEntityDescription) {
    let position = NSCompositeAttributeDescription()
    position.name = "position"
    position.elements = [
      Library.attribute("latitude", .doubleAttributeType),
      Library.attribute("longitude", .doubleAttributeType),
    ]
    let place = NSCompositeAttributeDescription()
    place.name = "place"
    place.elements = [Library.attribute("city", .stringAttributeType), position]
    place.isOptional = true
    let entity = NSEntityDescription()
    entity.name = "Event"
    entity.properties = [Library.attribute("name", .stringAttributeType), place]
    let next = Library.relationship("next", entity, many: false, .nullifyDeleteRule)
    entity.properties += [next]
    let model = NSManagedObjectModel()
    model.entities = [entity]
    return (try Library.makeContext(model), entity)
  }

  @Test func `elements are set by paths, also of a composite without a value`() throws {
    let (context, entity) = try make()
    let event = NSManagedObject(entity: entity, insertInto: context)
    event.setValue("Bern", forKeyPath: "place.city")
    event.setValue(46.9, forKeyPath: "place.position.latitude")
    let other = NSManagedObject(entity: entity, insertInto: context)
    other.setValue(event, forKey: "next")
    other.setValue(7.4, forKeyPath: "next.place.position.longitude")
    #expect(event.value(forKeyPath: "place.position.longitude") as? Double == 7.4)
    try context.save()
    context.refreshAllObjects()
    let whole = try #require(event.value(forKey: "place") as? [String: Any])
    #expect(whole["city"] as? String == "Bern")
    #expect(whole["position"] as? [String: Double] == ["latitude": 46.9, "longitude": 7.4])
    event.setValue(["city": "Thun"], forKey: "place")
    event.setValue(["latitude": 1.5], forKeyPath: "place.position")
    #expect(event.value(forKeyPath: "place.position.latitude") as? Double == 1.5)
    try context.save()
    let request = NSFetchRequest<NSManagedObject>(entityName: "Event")
    request.predicate = NSPredicate(format: "place.city == %@ AND place.position.latitude < 2", "Thun")
    #expect(try context.fetch(request) == [event])
  }
}
