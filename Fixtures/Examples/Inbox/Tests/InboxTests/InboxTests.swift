import Foundation
import Heartwood
import InboxModel
import Testing

@Suite struct `An application and its extension` {
  private let place = FileManager.default.temporaryDirectory.appending(path: "inbox-\(UUID())").path

  /// Starts one of the two programs, which are built beside the tests.
  private func start(_ program: String, _ words: String...) throws -> Process {
    let process = Process()
    process.executableURL = try #require(Self.folder).appending(path: program)
    process.arguments = words
    process.environment = ["INBOX": place]
    process.standardOutput = FileHandle.nullDevice
    try process.run()
    return process
  }

  private static let folder: URL? = CommandLine.arguments.lazy
    .map { URL(fileURLWithPath: $0).deletingLastPathComponent() }
    .flatMap { sequence(first: $0) { $0.pathComponents.count > 1 ? $0.deletingLastPathComponent() : nil } }
    .first { FileManager.default.isExecutableFile(atPath: $0.appending(path: "inbox-app").path) }

  private func wait(for processes: [Process]) {
    for process in processes { process.waitUntilExit() }
  }

  @Test func `every link is filed once, by whichever application runs then`() throws {
    defer { try? FileManager.default.removeItem(atPath: place) }
    var extensions: [Process] = []
    for number in 0..<6 {
      extensions.append(try start("inbox-extension", "https://swift.org/\(number)", "page \(number)"))
      if number == 3 { wait(for: [try start("inbox-app")]) }
    }
    wait(for: extensions)
    #expect(extensions.allSatisfy { $0.terminationStatus == 0 })
    let last = try start("inbox-app")
    wait(for: [last])
    #expect(last.terminationStatus == 0)

    let container = try Inbox.open(at: place)
    let context = container.newBackgroundContext()
    let links = try context.fetch(Link.self)
    #expect(links.count == 6 && links.allSatisfy { $0.filings == 1 && $0.site?.host == "swift.org" })
    #expect(try context.fetch(Site.self).map(\.linkCount) == [6])
    try container.close()
  }

  @Test func `applications that run at once file every link once, and none fails`() throws {
    defer { try? FileManager.default.removeItem(atPath: place) }
    for number in 0..<4 { wait(for: [try start("inbox-extension", "https://swift.org/\(number)", "page")]) }
    let applications = try (0..<6).map { _ in try start("inbox-app") }
    wait(for: applications)
    #expect(applications.allSatisfy { $0.terminationStatus == 0 })

    let container = try Inbox.open(at: place)
    let context = container.newBackgroundContext()
    #expect(try context.fetch(Link.self).map(\.filings) == [1, 1, 1, 1])
    #expect(try context.fetch(Site.self).map(\.linkCount) == [4])
    try container.close()
  }

  @Test(.timeLimit(.minutes(1)))
  func `an application that waits files what comes, and may be killed`() async throws {
    defer { try? FileManager.default.removeItem(atPath: place) }
    let container = try Inbox.open(at: place)
    let watcher = try container.historyConsumer("test", startingAt: .oldest)
    let application = try start("inbox-app", "--follow")
    wait(for: [try start("inbox-extension", "https://swift.org", "Swift")])
    let context = container.newBackgroundContext()
    for try await batch in watcher.batches() {
      let filed = try await context.perform {
        try context.complete(batch)
        try context.save()
        return try context.count(Link.self, where: { $0.filings == 1 })
      }
      if filed == 1 { break }
    }
    kill(application.processIdentifier, SIGKILL)
    wait(for: [application, try start("inbox-app")])
    let filings = try await context.perform { try context.fetch(Link.self).map(\.filings) }
    #expect(filings == [1])
    try container.close()
  }
}
