import Foundation
import Testing

@testable import CoreDataTranslation

@Suite struct `Mapping models for the program` {
  @Test func `a mapping model is put into the program without the archives of its models`() throws {
    let folder = FileManager.default.temporaryDirectory
      .appending(path: "\(UUID().uuidString)/Trips 1-2.xcmappingmodel")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder.deletingLastPathComponent()) }
    let file = folder.appending(path: "xcmapping.xml")
    let quotes = "\"\"\"#"
    try Data(
      """
      <database>
        <object type="XDDEVMAPPINGMODEL" id="z1">
          <attribute name="sourcemodelpath" type="string">App/Trips.xcdatamodel</attribute>
          <attribute name="sourcemodeldata" type="binary">YnBsaXN0
      MDDU</attribute><attribute name="note" type="string">\(quotes)</attribute>
          <attribute name="destinationmodeldata" type="binary">QUJD</attribute>
        </object>
      </database>
      """.utf8
    ).write(to: file)
    let text = try MappingFolder(path: folder.path).embedding
    #expect(text.contains("final class _EmbeddedMappingModel_Trips_1_2: CoreData._EmbeddedMappingModel"))
    #expect(text.contains("override class var name: String { #\"Trips 1-2\"# }"))
    #expect(text.contains("sourcemodelpath") && text.contains("name=\"note\""))
    #expect(!text.contains("modeldata") && !text.contains("QUJD") && !text.contains("MDDU"))
    #expect(text.contains("\"\"\"##"))

    try FileManager.default.removeItem(at: file)
    #expect(throws: TranslationError.self) { try MappingFolder(path: folder.path) }
  }
}
