import Foundation
import Heartwood
import TestSupport
import Testing

private final class Melody: ManagedObject {
  @Attribute var title = ""
}

private final class Sketch: ManagedObject {
  @Attribute var text = ""
}

@Suite struct `Examples of the article on several stores` {
  @Test func `a catalogue and sketches are in stores of their own`() throws {
    let folder = try TemporaryFolder()
    let catalogueURL = folder.url.appending(path: "Catalogue.heartwood")
    let localURL = folder.url.appending(path: "Local.heartwood")
    let model = try ManagedObjectModel(types: [Melody.self, Sketch.self]) { model in
      model.setEntities(model.entities.filter { $0.name == "Melody" }, forConfigurationName: "Catalogue")
      model.setEntities(model.entities.filter { $0.name == "Sketch" }, forConfigurationName: "Local")
    }

    let container = PersistentContainer(name: "Music", managedObjectModel: model)
    let catalogue = PersistentStoreDescription(url: catalogueURL)
    catalogue.configuration = "Catalogue"
    let local = PersistentStoreDescription(url: localURL)
    local.configuration = "Local"
    container.persistentStoreDescriptions = [catalogue, local]
    try container.loadPersistentStores()

    let context = container.newBackgroundContext()
    let archive = try container.persistentStoreCoordinator.addPersistentStore(
      type: .inMemory, configuration: "Catalogue", at: nil)
    Sketch(context: context).text = "la la"
    Melody(context: context).title = "First"
    let melody = Melody(context: context)
    context.assign(melody, to: archive)
    try context.save()
    #expect(melody.objectID.persistentStore === archive)
    let request = FetchRequest<Melody>()
    request.affectedStores = [archive]
    let old = try context.fetch(request)
    #expect(old == [melody])
    #expect(try context.count(Melody.self) == 2)
    #expect(try context.count(Sketch.self) == 1)
    try container.close()
  }
}
