import CoreData
import Foundation
import Testing

@Suite struct `Names in models` {
  @Test func `a renaming identifier that was not set is the name`() {
    let attribute = Library.attribute("title", .stringAttributeType)
    let entity = NSEntityDescription()
    entity.name = "Song"
    #expect(attribute.renamingIdentifier == "title" && entity.renamingIdentifier == "Song")
    (attribute.renamingIdentifier, entity.renamingIdentifier) = ("name", "Track")
    #expect(attribute.renamingIdentifier == "name" && entity.renamingIdentifier == "Track")
    (attribute.renamingIdentifier, entity.renamingIdentifier) = (nil, nil)
    #expect(attribute.renamingIdentifier == "title" && entity.renamingIdentifier == "Song")
  }
}
