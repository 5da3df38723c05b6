import Testing

@testable import HeartwoodBrowser

/// The page, as texts.
struct PageFilesTests {
  private static let files = ["", "page.css", "page.js", "icon.svg"]

  private func text(_ name: String) throws -> String {
    let response = try #require(PageFiles.response([name]))
    guard case .bytes(let bytes) = response.body else { return "" }
    return String(decoding: bytes, as: UTF8.self)
  }

  @Test func `the page is less than 300 KB`() throws {
    let sizes = try Self.files.map { try text($0).utf8.count }
    #expect(sizes.allSatisfy { $0 > 100 })
    #expect(sizes.reduce(0, +) < 300_000)
  }

  @Test func `nothing is loaded from elsewhere`() throws {
    for name in Self.files {
      for address in try text(name).matches(of: #/(?:https?:)?\/\/[\w.]+\.\w+/#).map({ String($0.output) }) {
        // The name of the format of images, which is never asked for.
        #expect(address == "http://www.w3.org", "\(name): \(address)")
      }
      #expect(try !text(name).contains("@import"))
    }
  }

  @Test func `the script sets texts as texts, and runs none`() throws {
    let script = try text("page.js")
    for way in [
      "innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "new Function", "DOMParser",
      "srcdoc",
    ] {
      #expect(!script.contains(way), "\(way)")
    }
  }

  @Test func `the document has no script or style of its own`() throws {
    let document = try text("")
    #expect(document.matches(of: #/<script(?! src="page.js" defer>)/#).isEmpty)
    #expect(document.matches(of: #/<style|\sstyle=|\son\w+=/#).isEmpty)
  }

  @Test func `there are no other files`() {
    for path in [[], ["x"], ["", ""], ["page.js", ""], ["..", "page.js"], ["api"]] as [ArraySlice<String>] {
      #expect(PageFiles.response(path)?.type == nil)
    }
  }
}
