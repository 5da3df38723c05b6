import Foundation
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
}

@Suite struct `Examples of attributes` {
  @Test func `the examples of the article about attributes work`() throws {
    let context = try PersistentContainer(
      name: "Artworks", types: [Artwork.self], at: URL(fileURLWithPath: "/dev/null")
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
    #expect(artwork.palette.colours == ["ochre"] && artwork.preview?.pixels == [1])
  }
}
