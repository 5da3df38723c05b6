import Foundation
import Heartwood
import HeartwoodBrowser
import HeartwoodFiles
import TestSupport
import Testing

@testable import HeartwoodCommand

/// The command itself, and pages of stores that are being written.
struct BrowseCommandTests {
  @Test func `the page is told of what other programs save`() throws {
    let world = try SmallWorld()
    try BrowsedWorld(world.path).open { routes in
      let observation = routes.feed.start()
      defer { NotificationCenter.default.removeObserver(observation) }
      let saved = try Program.run(
        "update", world.path, "Country", "--where", "code == 'FR'", "--set", "name = 'Gaul'")
      #expect(saved.status == 0)
      #expect((routes.feed.signal.wait(after: 0, nanoseconds: 60_000_000_000) ?? 0) > 0)
      let object = try BrowsedWorld.bytes(routes.response(["api", "object"], ["id": "Country/p1"]))
      #expect(String(decoding: object, as: UTF8.self).contains("Gaul"))
    }
  }

  @Test func `the address is printed, and an interruption ends the command`() throws {
    let world = try SmallWorld()
    let run = try Program.shell(
      """
      PATH=/usr/bin:/bin
      $heartwood browse '\(world.path)' --no-open >'\(world.path).address' &
      while ! grep -q / '\(world.path).address'; do :; done
      kill -INT $!
      wait $!
      """)
    #expect(run.status == 0)
    let address = try String(contentsOfFile: world.path + ".address", encoding: .utf8)
    #expect(address.wholeMatch(of: #/http:\/\/127\.0\.0\.1:\d+\/[0-9a-f]{32}\/\n/#) != nil, "\(address)")
  }

  @Test func `a store that is deleted is said to be, and one that is made at its path is shown`() throws {
    let world = try SmallWorld()
    let other = try SmallStore(
      #""Town": {"attributes": {"name": {"type": "string"}}}"#, #"{"@id": "Town/1", "name": "Ulm"}"#)
    let files = FileManager.default
    func store(_ routes: PageRoutes) throws -> JSONPlace {
      JSONPlace(
        path: "", value: try ImportDocument.parse(BrowsedWorld.bytes(routes.response(["api", "store"], [:]))))
    }
    try BrowsedWorld(world.path).open { routes in
      let first = try store(routes)
      #expect(first.text("absence") == "null" && first.text("number") == "0")
      try files.moveItem(atPath: world.path, toPath: world.path + ".moved")
      #expect(try store(routes).text("absence") == "the store was deleted")
      try files.moveItem(atPath: world.path + ".moved", toPath: world.path)
      #expect(try store(routes).text("absence") == "null")
      #expect(try store(routes).text("number") == "0")
      try files.removeItem(atPath: world.path)
      #expect(try store(routes).text("absence") == "the store was deleted")
      try Data("text".utf8).write(to: URL(fileURLWithPath: world.path))
      #expect(try store(routes).text("absence")?.contains("this file is no store") == true)
      try files.removeItem(atPath: world.path)
      try files.copyItem(atPath: other.path, toPath: world.path)
      let second = try store(routes)
      #expect(second.text("number") == "1" && second.text("absence") == "null")
      #expect(second.texts("entities", "name") == ["Town"])
      #expect(second.text("uuid") != first.text("uuid"))
      // The new one is followed, too.
      let observation = routes.feed.start()
      defer { NotificationCenter.default.removeObserver(observation) }
      #expect(
        try Program.run("update", world.path, "Town", "--where", "TRUEPREDICATE", "--set", "name = 'Bonn'")
          .status == 0)
      #expect((routes.feed.signal.wait(after: 0, nanoseconds: 60_000_000_000) ?? 0) > 0)
      let rows = try BrowsedWorld.bytes(routes.response(["api", "rows"], ["entity": "Town"]))
      #expect(String(decoding: rows, as: UTF8.self).contains("Bonn"))
      // Its files are deleted, and others are put into the same folder.
      for name in try files.contentsOfDirectory(atPath: world.path) {
        try files.removeItem(atPath: world.path + "/" + name)
      }
      #expect(try store(routes).text("absence") == "the store was deleted")
      let again = try world.directory.file("again.json", SmallWorld.document)
      #expect(CommandRun("import", world.path, again).status == .success)
      #expect(try store(routes).text("number") == "2")
    }
  }

  @Test func `a store that another program migrates is shown with its new model`() throws {
    let world = try SmallWorld()
    let model = try world.directory.file(
      "model.json",
      SmallWorld.model.replacing(
        #""code": {"#, with: #""area": {"type": "double", "default": 7}, "code": {"#))
    try BrowsedWorld(world.path).open { routes in
      func json(_ name: String, _ query: [String: String] = [:]) throws -> JSONPlace {
        JSONPlace(
          path: "",
          value: try ImportDocument.parse(BrowsedWorld.bytes(routes.response(["api", name], query))))
      }
      let before = try json("store").text("generation")
      #expect(CommandRun("migrate", world.path, model).status == .success)
      #expect(try json("rows", ["entity": "Country"]).texts("columns", "name").contains("area"))
      let after = try json("store")
      #expect(after.text("number") == "1" && after.text("absence") == "null")
      // A generation from before the migration has the former model: no other store is opened for it.
      let past = try json("rows", ["entity": "Country", "at": try #require(before)])
      #expect(past.text("error")?.contains("before the store was migrated") == true)
      #expect(try json("store").text("number") == "1")
    }
  }

  @Test func `a page of one generation shows no other store`() throws {
    let world = try SmallWorld()
    let served = try CommandStore.with(world.path, for: .following, RecordingConsole()) {
      ServedStore(BrowsedStore($0, generation: 1))
    }
    try FileManager.default.removeItem(atPath: world.path)
    #expect(served.present.absence == "the store was deleted")
    let again = try world.directory.file("again.json", SmallWorld.document)
    #expect(CommandRun("import", world.path, again).status == .success)
    #expect(served.present.absence == "another store is at its path")
    #expect(served.present.number == 0)
  }

  @Test func `a scan for a client that is gone ends`() throws {
    let world = try SmallWorld()
    // A text and an expression that take long, with as many states as characters.
    let text = String(repeating: "a", count: 20_000)
    #expect(
      world.run("update", "City", "--where", "name == 'Lyon'", "--set", "name = '\(text)'").status == .success
    )
    try BrowsedWorld(world.path).open { routes in
      let (asked, answered) = (EventSignal(), EventSignal())
      let answer = Guarded<[UInt8]>([])
      let server = try PageServer(port: 0, token: "t") { path, query, client in
        asked.raise()
        let response = routes.response(path, query, client)
        answer.withLock { $0 = (try? BrowsedWorld.bytes(response)) ?? [] }
        answered.raise()
        return response
      }
      server.start()
      defer { server.stop() }
      let port = try #require(
        UInt16(server.admission.address.split(separator: ":")[2].prefix { $0.isNumber }))
      let client = try TestClient(port: port)
      let condition = "name%20MATCHES%20%22(a%3F)%7B9000%7Db%22"
      client.send(
        "GET /t/api/count?entity=City&where=\(condition) HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\n\r\n")
      #expect(asked.wait(after: 0, nanoseconds: 60_000_000_000) == 1)
      client.end()
      #expect(answered.wait(after: 0, nanoseconds: 600_000_000_000) == 1)
      let text = answer.withLock { String(decoding: $0, as: UTF8.self) }
      #expect(text.contains("CancellationError"), "\(text)")
    }
  }

  @Test func `a session answers until it is stopped`() throws {
    let world = try SmallWorld()
    try CommandStore.with(world.path, for: .following, RecordingConsole()) { store in
      let session = try BrowserSession(ServedStore(BrowsedStore(store, generation: nil)), port: 0)
      session.start()
      let port = try #require(UInt16(session.address.split(separator: ":")[2].prefix { $0.isNumber }))
      let failed = failure(.unavailable) {
        _ = try BrowserSession(ServedStore(BrowsedStore(store, generation: nil)), port: port)
      }
      #expect(failed.contains("another program uses it"))
      session.stop()
    }
  }

  @Test func `stores of one file are shown, without a history`() throws {
    let world = try SmallWorld()
    let file = world.directory.path("copy.json")
    #expect(world.run("copy", file, "--type", "json").status == .success)
    let page = BrowsedWorld(file)
    let store = try page.json("store")
    #expect(store.text("kind") == "json")
    #expect(store.text("hasGenerations") == "false")
    let rows = try page.json("rows", ["entity": "Country", "sort": "-name", "limit": "1", "offset": "1"])
    #expect(rows.text("rows.0.cells.1") == "Luxembourg")
    #expect(try page.json("transactions").texts("transactions", "number") == [])
    #expect(try page.json("generations").texts("generations", "0") == [])
    #expect(try page.answer("changes").0.status == .notFound)
  }

  @Test func `a port or a generation that cannot be is refused`() throws {
    let world = try SmallWorld()
    #expect(world.run("browse", "--port", "70000").status == .usage)
    #expect(world.run("browse", "--port", "x").status == .usage)
    #expect(world.run("browse", "--at", "99").status == .noInput)
    #expect(CommandRun("browse", world.directory.path("none")).status == .noInput)
  }
}
