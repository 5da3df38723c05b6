import Foundation
import GraphTestSupport
import Heartwood
import Testing

enum Motif: String, AttributeValue { case portrait, landscape }

struct Preview: TransientValue { var pixels: [UInt8] }

struct Palette: Codable, TransformableValue { var colours: [String] = [] }

struct Frame: CompositeValue {
  var material = ""
  var width = 0
  static let elements = [
    CompositeElement("material", \Frame.material), CompositeElement("width", \Frame.width),
  ]
}

final class Artwork: ManagedObject {
  @Attribute(.unique) var number = 0
  @Attribute([.indexed, .preservesValueInHistoryOnDeletion]) var title = ""
  @Attribute var motif = Motif.portrait
  @Attribute(.transient) var isSelected = false
  @Attribute(.transient) var preview: Preview?
  @Attribute var palette = Palette()
  @Attribute var frame = Frame()
  @Relationship(inverse: { $0.artworks }) var gallery: Gallery?
}

final class Scan: ManagedObject {
  @Attribute(.allowsExternalStorage) var picture: Data?
}

final class Gallery: ManagedObject {
  @Attribute var name = ""
  @Attribute(.indexed, derived: "canonical:(name)") var searchName = ""
  @Attribute(derived: "artworks.@count") var artworkCount: Int64 = 0
  @Attribute(derived: "artworks.@max.number") var newest: Int?
  @Attribute(derived: "city.name") var cityName: String?
  @Attribute(derived: "now()") var saved: Date?
  @Relationship(inverse: { $0.gallery }) var artworks: Set<Artwork>
  @Relationship(inverse: { $0.galleries }) var city: Location?
}

final class Location: ManagedObject {
  @Attribute var name = ""
  @Relationship(inverse: { $0.city }) var galleries: Set<Gallery>
}

@Suite struct `Examples of attributes` {
  @Test func `the examples of the article about attributes work`() throws {
    let context = try PersistentContainer(
      name: "Artworks", types: [Artwork.self, Gallery.self, Location.self],
      at: URL(fileURLWithPath: "/dev/null")
    ).newBackgroundContext()
    let artwork = Artwork(context: context)
    artwork.frame = Frame(material: "oak", width: 6)
    artwork.preview = Preview(pixels: [1])
    try context.save()
    artwork.palette.colours.append("ochre")
    #expect(artwork.hasPersistentChangedValues)
    try context.save()
    let wide = try context.fetch(
      Artwork.self, where: { $0.frame.width > 5 }, sort: [.ascending(\.frame.material)])
    #expect(wide == [artwork])
    let gallery = Gallery(context: context)
    (gallery.name, gallery.city, artwork.gallery) = ("Musée", Location(context: context), gallery)
    gallery.city?.name = "Lyon"
    try context.save()
    #expect(gallery.searchName == "musee" && gallery.artworkCount == 1 && gallery.newest == 0)
    #expect(gallery.cityName == "Lyon" && gallery.saved != nil)
    #expect(artwork.palette.colours == ["ochre"] && artwork.preview?.pixels == [1])
  }
}
