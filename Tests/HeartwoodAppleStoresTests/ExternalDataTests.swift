import Foundation
import TestSupport
import Testing

@testable import HeartwoodAppleStores

@Suite struct `External data` {
  @Test func `only files in the folder beside the store are read, no links and no pipes`() throws {
    let folder = try TemporaryFolder()
    let store = folder.url.appending(path: "App.sqlite")
    let external = ExternalData(besideStoreAt: store)
    try FileManager.default.createDirectory(atPath: external.path, withIntermediateDirectories: true)
    let place = URL(fileURLWithPath: external.path)
    let secret = folder.url.appending(path: "secret")
    try Data("secret".utf8).write(to: secret)
    let names = (0..<4).map { _ in UUID().uuidString }
    let files = names.map { place.appending(path: $0) }
    try Data("own".utf8).write(to: files[0])
    try FileManager.default.createSymbolicLink(at: files[1], withDestinationURL: secret)
    #expect(mkfifo(files[2].path, 0o600) == 0)
    let found = names.map { name -> String in
      switch external.data(of: Data([2]) + Data(name.utf8) + [0]) {
      case .data(let data): String(decoding: data, as: UTF8.self)
      case .missing: "missing"
      }
    }
    #expect(found == ["own", "missing", "missing", "missing"])
  }
}
