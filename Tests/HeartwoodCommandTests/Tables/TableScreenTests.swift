import Foundation
import Heartwood
import Testing

@testable import HeartwoodCommand

/// The screen of `heartwood table`: keys go in, and lines come out.
struct TableScreenTests {
  private let world: SmallWorld

  init() throws { world = try SmallWorld() }

  /// The lines after each of some sequences of keys, as a terminal sends them.
  private func screens(
    _ first: TableList.Content, _ keys: [String], width: Int = 100, height: Int = 10
  ) throws -> [[String]] {
    try CommandStore.with(world.path, for: .following, RecordingConsole()) { store in
      let completion = PropertyCompletion(model: store.model)
      var screen = try TableScreen(
        TableSource(store: BrowsedStore(store, generation: nil)), TableList(first), width: width,
        height: height
      ) { completion($1, $1.count, of: $0) }
      return keys.map { keys in
        var rest = Array(keys.utf8)[...]
        let decoder = KeyDecoder(hasMore: { !rest.isEmpty }) { rest.popFirst() }
        while let key = decoder.key() { _ = screen.handle(key) }
        return screen.lines(usesColors: false)
      }
    }
  }

  private func words(_ line: String) -> [String] { line.split(separator: " ").map(String.init) }

  private static let (up, down, right) = ("\u{1B}[A", "\u{1B}[B", "\u{1B}[C")
  private static let (pageDown, end, home) = ("\u{1B}[6~", "\u{1B}[F", "\u{1B}[H")

  @Test func `a store has its entities with their counts, and Enter opens one`() throws {
    let screens = try screens(.entities, ["", Self.down + Self.down + "\r", "u"])
    #expect(screens[0][2...4].map(words) == [[">", "City", "3"], ["Continent", "2"], ["Country", "4"]])
    #expect(screens[1][0] == "Country  1 to 4 of 4")
    #expect(words(screens[1][1]) == ["code", "name", "population", "continent", "capital"])
    #expect(screens[2][4].hasPrefix("> Country"), "back at the row that was opened")
    #expect(screens.allSatisfy { $0.count == 10 })
  }

  @Test func `Enter opens the object of a row, the one of a cell that leads to it, and its destinations`()
    throws
  {
    let screens = try screens(
      .objects(of: "Country"), ["\r", "u" + String(repeating: Self.right, count: 4) + "\r", "u" + "\r"])
    #expect(screens[0].contains { words($0).starts(with: ["name", "France"]) })
    #expect(screens[1][0].hasPrefix("Paris"))
    #expect(screens[2][0].hasPrefix("Paris"), "the cursor stays in its column")
    let list = try self.screens(.objects(of: "Continent"), ["\r", Self.end + "\r", "\r"])
    #expect(list[0].contains { $0.contains("Country") })
    #expect(list[1][0].contains(": countries"))
    #expect(list[2][0].contains(" of "))
  }

  @Test func `texts that no terminal has room for are cut where they are read`() throws {
    let text = String(repeating: "a", count: 1_000_000)
    for value in [text, "e" + String(repeating: "\u{301}", count: 500_000)] {
      #expect(
        world.run("update", "City", "--where", "name != ''", "--set", "name = '\(value)'").status == .success)
      try CommandStore.with(world.path, for: .following, RecordingConsole()) { store in
        let source = TableSource(store: BrowsedStore(store, generation: nil))
        for content in [
          TableList.Content.objects(of: "City"), .objects(of: "Country"), .object("City/p1"),
        ] {
          let page = try source.page(TableList(content), from: 0, most: 10)
          let sizes = page.rows.flatMap(\.cells).map(\.text.utf8.count) + [page.title.utf8.count]
          #expect((sizes.max() ?? 0) < 10_000, "\(content)")
        }
      }
    }
    #expect(try screens(.objects(of: "City"), [""]).first?[2].contains("\u{2026}") == true)
  }

  @Test func `a store that is deleted, and another one in its place, are said to be until it is back`() throws
  {
    try CommandStore.with(world.path, for: .following, RecordingConsole()) { store in
      var screen = try TableScreen(
        TableSource(store: BrowsedStore(store, generation: nil)), TableList(.entities), width: 100, height: 10
      ) { _, _ in LineEditor.Completion(start: 0, candidates: []) }
      func last() -> String? { screen.lines(usesColors: false).last }
      screen.look()
      #expect(last()?.hasPrefix("arrows move") == true)
      let former = world.path + ".former"
      try FileManager.default.moveItem(atPath: world.path, toPath: former)
      screen.look()
      #expect(last() == "the store was deleted", "without a key")
      _ = screen.handle(.text("r"))
      #expect(screen.page.total == 3)
      #expect(last() == "the store was deleted")
      let document = try world.directory.file("other.json", SmallWorld.document)
      #expect(CommandRun("import", world.path, document).status == .success)
      _ = screen.handle(.down)
      screen.look()
      #expect(last() == "another store is at its path")
      _ = screen.handle(.up)
      #expect(last() == "another store is at its path", "after a key, too")
      try FileManager.default.removeItem(atPath: world.path)
      try FileManager.default.moveItem(atPath: former, toPath: world.path)
      screen.look()
      #expect(last()?.hasPrefix("arrows move") == true)
    }
  }

  @Test func `Escape gives a condition up, and goes back`() throws {
    let screens = try screens(.entities, [Self.end + "\r", "/abc\u{1B}", "\u{1B}", "\u{1B}"])
    #expect(screens[0][0].hasPrefix("Country"))
    #expect(screens[1] == screens[0])
    #expect(screens[2][2...4].map(words) == [["City", "3"], ["Continent", "2"], [">", "Country", "4"]])
    #expect(screens[3] == screens[2])
  }

  @Test func `a terminal gets another size, and loses its store, while no key is pressed`() throws {
    let terminal = try TerminalProgram("table", world.path, columns: 80, rows: 10)
    try terminal.wait(for: "arrows move")
    try terminal.resize(columns: 30, rows: 6)
    try terminal.wait(for: "\u{2026}")
    try FileManager.default.removeItem(atPath: world.path)
    try terminal.wait(for: "the store was deleted")
    terminal.type("q")
    #expect(terminal.status() == 0)
  }

  @Test func `the cursor moves by rows and pages, and stays in the list`() throws {
    let screens = try screens(
      .objects(of: "Country"), [Self.up, Self.pageDown, Self.end, Self.down, Self.home], height: 5)
    func current(_ lines: [String]) -> String? { lines.first { $0.hasPrefix("> ") }.map { words($0)[1] } }
    #expect(screens.map { current($0) } == ["FR", "LU", "PT", "PT", "FR"])
    #expect(screens[0][0] == "Country  1 to 2 of 4")
    #expect(screens[1][0] == "Country  2 to 3 of 4")
    #expect(screens[2][0] == "Country  3 to 4 of 4")
  }

  @Test func `a list is sorted by the column of the cursor: ascending, descending, not`() throws {
    let screens = try screens(.objects(of: "Country"), [Self.right + "s", "s", "s"])
    func names(_ lines: [String]) -> [String] { lines[2...5].map { words($0).first { $0.count > 2 } ?? "" } }
    #expect(names(screens[0]) == names(screens[0]).sorted())
    #expect(names(screens[1]) == names(screens[0]).reversed())
    #expect(screens[1][0].hasSuffix("by -name"))
    #expect(!screens[2][0].contains("by"))
  }

  @Test func `a condition is written with completion, filters, and is taken back if it is wrong`() throws {
    let screens = try screens(
      .objects(of: "Country"),
      ["/popu\t", "> 60000000\r", "/\u{15}nothing == 1\r", "/\u{15}\r", "/abc\u{03}"])
    #expect(screens[0].last == "/population ")
    #expect(screens[1][0] == "Country  1 to 2 of 2  where population > 60000000")
    #expect(screens[2][0] == screens[1][0])
    #expect(screens[2].last?.contains("nothing") == true)
    #expect(screens[3][0] == "Country  1 to 4 of 4")
    #expect(screens[4].last == screens[3].last)
  }

  @Test func `what another program deletes is gone when the store is read again`() throws {
    try CommandStore.with(world.path, for: .following, RecordingConsole()) { store in
      var screen = try TableScreen(
        TableSource(store: BrowsedStore(store, generation: nil)), TableList(.objects(of: "City")), width: 80,
        height: 10
      ) { _, _ in LineEditor.Completion(start: 0, candidates: []) }
      _ = screen.handle(.end)
      #expect(world.run("delete", "City", "--where", "name != ''").status == .success)
      _ = screen.handle(.text("r"))
      #expect(screen.lines(usesColors: false)[0] == "City  0")
      #expect(screen.handle(.enter) == .showing)
      #expect(screen.handle(.text("q")) == .ended)
    }
  }

  @Test(arguments: [(20, 4), (1, 1), (40, 6), (200, 50)])
  func `no line is wider than the terminal, and the column of the cursor is shown`(width: Int, height: Int)
    throws
  {
    let keys = String(repeating: Self.right, count: 4)
    for lines in try screens(.objects(of: "Country"), ["", keys], width: width, height: height) {
      #expect(lines.allSatisfy { TextWidth.columns(of: $0) <= max(width, 2) }, "\(lines)")
      #expect(lines.count == max(height, 4))
    }
    let last = try screens(.objects(of: "Country"), [keys], width: 40, height: 6)[0]
    #expect(last[1].contains("capital"))
  }
}
