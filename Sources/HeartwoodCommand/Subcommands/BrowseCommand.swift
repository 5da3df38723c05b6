import Dispatch
import Foundation
import Heartwood
import HeartwoodBrowser

/// Shows a store as a page in the browser.
enum BrowseCommand: Subcommand {
  static let syntax = SubcommandSyntax(
    name: "browse",
    summary: "look at a store in the browser: tables, objects, history, the model",
    arguments: [.store],
    options: [
      SubcommandSyntax.Option(
        name: "port", value: "number", summary: "where the page is served (default: a port that is free)"),
      SubcommandSyntax.Option(name: "no-open", summary: "print the address, and open no browser"),
      .moment, .model,
    ],
    discussion: """
      The page is served at 127.0.0.1, to this computer only, and under an address with a random part: no other page can
      read it, and it loads nothing from elsewhere. It changes nothing. While another program writes to the store, the
      page follows it; if the store is deleted it says so, and shows the one that is made at the path. Control-C ends
      the command and the page. Other users of the computer may see the address in the command line of a browser that is
      opened: with --no-open they do not.
      In the page, ? lists the keys, and / is for a condition in the language of fetch --where.
      """,
    examples: [
      SubcommandSyntax.Example(
        line: "heartwood browse world.heartwood", meaning: "opens the page; the address is printed too"),
      SubcommandSyntax.Example(
        line: "heartwood browse world.heartwood --port 8080 --no-open",
        meaning: "for a browser on another computer, through ssh -t -L 8080:127.0.0.1:8080"),
      SubcommandSyntax.Example(
        line: "heartwood browse world.heartwood --at 12", meaning: "the store as it was at generation 12"),
    ])

  static func run(_ arguments: ParsedArguments, console: any Console) throws(CommandFailure) -> ExitCode {
    let port = try port(arguments)
    let moment = arguments.moment()
    let (path, model) = (arguments.argument(0) ?? "", arguments.value("model"))
    try CommandStore.with(path, for: .following, model: model, console) { store in
      let generation = try moment.map { try store.number(of: $0) }
      try store.pin(to: moment)
      let reopen = { @Sendable () throws(CommandFailure) -> BrowsedStore in
        BrowsedStore(try CommandStore.following(path, model: model), generation: nil)
      }
      let served = ServedStore(
        BrowsedStore(store, generation: generation), reopen: generation == nil ? reopen : nil)
      let session = try BrowserSession(served, port: port)
      let interruption = Interruption()
      session.start()
      try console.writeLine(session.address)
      try console.flush()
      if !arguments.has("no-open") { openBrowser(session.address, console) }
      interruption.wait()
      session.stop()
    }
    return .success
  }

  private static func port(_ arguments: ParsedArguments) throws(CommandFailure) -> UInt16 {
    guard let number = try arguments.count("port") else { return 0 }
    guard let port = UInt16(exactly: number) else {
      throw .usage("--port is a number up to 65535, not \(number)")
    }
    return port
  }

  /// Opens the address where there is a display; the address that is printed is for all others.
  private static func openBrowser(_ address: String, _ console: any Console) {
    #if canImport(Darwin)
      let program = "/usr/bin/open"
    #else
      let environment = ProcessInfo.processInfo.environment
      guard environment["DISPLAY"] != nil || environment["WAYLAND_DISPLAY"] != nil else { return }
      let program = "/usr/bin/xdg-open"
    #endif
    let process = Process()
    process.executableURL = URL(fileURLWithPath: program)
    process.arguments = [address]
    process.standardOutput = FileHandle.nullDevice
    process.standardError = FileHandle.nullDevice
    do {
      try process.run()
    } catch {
      console.writeNote("heartwood: note: no browser was opened: open the address above\n")
    }
  }
}

/// Waits for the signals by which users and systems end a program.
private struct Interruption {
  private static let signals = [SIGINT, SIGTERM, SIGHUP]
  private let arrived = DispatchSemaphore(value: 0)
  private let sources: [any DispatchSourceSignal]

  init() {
    sources = Self.signals.map { number in
      signal(number, SIG_IGN)
      return DispatchSource.makeSignalSource(signal: number, queue: .global())
    }
    for source in sources {
      source.setEventHandler { [arrived] in arrived.signal() }
      source.resume()
    }
  }

  /// Waits for the first signal. A second one ends the program at once.
  func wait() {
    arrived.wait()
    for source in sources { source.cancel() }
    for number in Self.signals { signal(number, SIG_DFL) }
  }
}
