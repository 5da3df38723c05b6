import Foundation
import Heartwood
import HeartwoodBrowser

@testable import HeartwoodCommand

/// The answers of the page about a store, without a server.
struct BrowsedWorld {
  let path: String
  private let generation: UInt64?

  init(_ path: String, generation: UInt64? = nil) { (self.path, self.generation) = (path, generation) }

  /// Opens the store for some requests.
  func open<Result>(_ body: (PageRoutes) throws -> Result) throws -> Result {
    try CommandStore.with(path, for: .following, RecordingConsole()) { store in
      let path = path
      let served = ServedStore(BrowsedStore(store, generation: generation)) { () throws(CommandFailure) in
        BrowsedStore(try CommandStore.following(path, model: nil), generation: nil)
      }
      return try body(PageRoutes(served: served, feed: ChangeFeed(store: served, signal: EventSignal())))
    }
  }

  /// The JSON that answers a request of a name and a query such as `entity=City&limit=2`.
  func json(_ name: String, _ query: [String: String] = [:]) throws -> JSONPlace {
    let (_, bytes) = try answer(name, query)
    return JSONPlace(path: "", value: try ImportDocument.parse(bytes))
  }

  func answer(_ name: String, _ query: [String: String] = [:]) throws -> (Response, [UInt8]) {
    try open { routes in
      let response = routes.response(["api", name], query)
      return (response, try Self.bytes(response))
    }
  }

  /// The content of an answer.
  static func bytes(_ response: Response) throws -> [UInt8] {
    switch response.body {
    case .bytes(let bytes): return bytes
    case .stream(let body):
      let written = Written()
      try body { (bytes) throws(ClientIsGone) in written.bytes += bytes }
      return written.bytes
    }
  }

  private final class Written { var bytes: [UInt8] = [] }
}

extension JSONPlace {
  /// The value at a path of names and numbers, such as `rows.0.id`, as text on one line; nil if there is none.
  func text(_ path: String) -> String? {
    var value: JSONValue? = self.value
    for part in path.split(separator: ".") {
      switch value {
      case .object(let object): value = object[String(part)]
      case .array(let list): value = Int(part).flatMap { list.indices.contains($0) ? list[$0] : nil }
      default: value = nil
      }
    }
    guard case .string(let text) = value else { return value.map(JSONWriter.line) }
    return text
  }

  func texts(_ path: String, _ member: String) -> [String] {
    var (found, number) = ([String](), 0)
    while let text = text("\(path).\(number).\(member)") {
      found.append(text)
      number += 1
    }
    return found
  }
}
