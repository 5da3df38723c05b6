import Foundation
import Heartwood
import Testing

@testable import HeartwoodPostgres

/// A network that loses what is sent, and ends no connection.
@Suite struct `A network that loses bytes` {
  /// At which message of a save nothing arrives any more.
  enum Moment: String, CaseIterable {
    case begin, statement, commit
    /// The answer to the commit.
    case answer

    /// Whether a save is there: it was committed, or its commit was sent and has not arrived, and it is tried again.
    var isSaved: Bool { self == .commit || self == .answer }
  }

  /// Meets the message of a moment once.
  private final class Meeting: @unchecked Sendable {
    private let moment: Moment
    private var hasBegun = false
    private(set) var isMet = false

    init(_ moment: Moment) { self.moment = moment }

    func isNow(_ message: WireProxy.Message) -> Bool {
      if message.type == "Q", message.text.hasPrefix("BEGIN") { hasBegun = true }
      let isNow =
        switch moment {
        case .begin: message.type == "Q" && message.text.hasPrefix("BEGIN")
        case .statement: hasBegun && message.type == "B"
        case .commit: message.type == "Q" && message.text.contains("; COMMIT")
        case .answer: !message.isFromClient && message.type == "C" && message.text.hasPrefix("COMMIT")
        }
      guard isNow, !isMet else { return false }
      isMet = true
      return true
    }
  }

  @Test(arguments: Moment.allCases)
  func `a save ends within its limits: with an error of its own, or there once`(moment: Moment) throws {
    let cut = try CutWorld(["statement_limit": "2", "reconnect_limit": "20"])
    defer { cut.proxy.close() }
    let context = cut.world.context()
    _ = context.makePerson("a")
    let meeting = Meeting(moment)
    cut.proxy.setRule { meeting.isNow($0) ? .stall : .pass }
    let error = heartwoodError { try context.save() }
    cut.proxy.clear()
    #expect(meeting.isMet)
    #expect((error == nil) == moment.isSaved, "\(String(describing: error))")
    if let error {
      #expect(error.code == .persistentStoreTimeout && !error.isOutcomeUnknown, "\(error)")
      #expect(try cut.direct.context().count(Person.self) == 0)
      try context.save()
    }
    #expect(try cut.direct.context().count(Person.self) == 1)
  }

  @Test func `without any network a save has an unknown outcome, which is asked when there is one again`()
    throws
  {
    let cut = try CutWorld(["statement_limit": "2", "reconnect_limit": "1", "connect_timeout": "2"])
    defer { cut.proxy.close() }
    let store = try cut.world.store
    for moment in [Moment.commit, .answer] {
      let context = cut.world.context()
      _ = context.makePerson(moment.rawValue)
      let meeting = Meeting(moment)
      cut.proxy.setRule { [proxy = cut.proxy] message in
        guard meeting.isNow(message) else { return .pass }
        proxy.stallConnectionsFromRule()
        return .stall
      }
      let error = heartwoodError { try context.save() }
      #expect(error?.isOutcomeUnknown == true, "\(String(describing: error))")
      let id = try #require(error?.postgresTransaction)
      #expect(try store.outcome(of: id) == .unknown)
      // A read ends, too.
      let reading = heartwoodError { _ = try cut.world.context().count(Person.self) }
      #expect(
        reading?.code == .persistentStoreTimeout || reading?.code == .persistentStoreOperation,
        "\(String(describing: reading))")
      cut.proxy.clear()
      #expect(try store.outcome(of: id) == (moment == .answer ? .committed : .aborted))
      let count = try cut.direct.context().count(Person.self, where: { $0.name == moment.rawValue })
      #expect(count == (moment == .answer ? 1 : 0))
    }
  }

  @Test func `a fetch whose answer does not come ends with an error of its own, or with its task`()
    async throws
  {
    let cut = try CutWorld(["statement_limit": "2"])
    defer { cut.proxy.close() }
    // Once, it is tried again on another connection.
    let place = Place()
    cut.proxy.setRule { !$0.isFromClient && $0.type == "D" && place.isAt(1) ? .stall : .pass }
    #expect(try cut.world.context().fetch(Company.self).count == 2)
    #expect(place.isMet)
    cut.proxy.setRule { !$0.isFromClient && $0.type == "D" ? .stall : .pass }
    let error = heartwoodError { _ = try cut.world.context().fetch(Company.self) }
    cut.proxy.clear()
    #expect(error?.code == .persistentStoreTimeout, "\(String(describing: error))")

    let unlimited = try CutWorld([:])
    defer { unlimited.proxy.close() }
    let context = unlimited.world.context()
    let (stalls, stalled) = AsyncStream.makeStream(of: Void.self)
    unlimited.proxy.setRule { message in
      guard !message.isFromClient, message.type == "D" else { return .pass }
      stalled.yield()
      return .stall
    }
    let task = Task { try await context.perform { try context.fetch(Company.self).count } }
    for await _ in stalls { break }
    task.cancel()
    await #expect(throws: CancellationError.self) { _ = try await task.value }
    unlimited.proxy.clear()
    #expect(try unlimited.world.context().fetch(Company.self).count == 2)
  }

  @Test func `without a word of the URL, TCP connections are given up in about a minute`() throws {
    let one = try PostgresAddress(#require(URL(string: "postgres://db.example.org/shop")))
    let several = try PostgresAddress(#require(URL(string: "postgres:///shop?host=a,b&tcp_user_timeout=1")))
    func value(_ name: String, _ address: PostgresAddress) -> [String] {
      address.parameters.filter { $0.name == name }.map(\.value)
    }
    #expect(value("connect_timeout", one) == ["30"] && value("connect_timeout", several) == ["5"])
    #expect(value("tcp_user_timeout", one) == ["60000"] && value("tcp_user_timeout", several) == ["1"])
    #expect(value("keepalives_idle", one) == ["30"] && value("target_session_attrs", one) == [])
  }
}
