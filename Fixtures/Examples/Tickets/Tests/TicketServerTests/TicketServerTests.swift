import Foundation
import Hummingbird
import HummingbirdTesting
import Testing

@testable import TicketServer

@Suite struct `A server of tickets` {
  private let server: Server

  init() throws { server = try Server(storeAt: URL(fileURLWithPath: "/dev/null")) }

  private func test(_ body: @escaping @Sendable (any TestClientProtocol) async throws -> Void) async throws {
    try await server.application(port: 0).test(.router, body)
  }

  private static func body(_ title: String) -> ByteBuffer { ByteBuffer(string: #"{"title": "\#(title)"}"#) }
  private static let json: HTTPFields = [.contentType: "application/json"]

  private static func add(_ title: String, _ client: any TestClientProtocol) async throws -> TestResponse {
    try await client.execute(
      uri: "/tickets", method: .post, headers: json, body: body(title))
  }

  private static func change(_ title: String, from tag: String?, _ client: any TestClientProtocol)
    async throws -> HTTPResponse.Status
  {
    var headers = json
    headers[.ifMatch] = tag
    return try await client.execute(uri: "/tickets/1", method: .put, headers: headers, body: body(title))
      .status
  }

  @Test func `a ticket is added, read, and not sent again to who has it`() async throws {
    try await test { client in
      let added = try await Self.add("Printer", client)
      #expect(added.status == .created && added.headers[.location] == "/tickets/1")
      let read = try await client.execute(uri: "/tickets/1", method: .get)
      let ticket = try JSONDecoder().decode(TicketBody.self, from: Data(buffer: read.body))
      #expect(ticket.title == "Printer" && ticket.isOpen && read.headers[.eTag] == "\"1\"")
      let again = try await client.execute(
        uri: "/tickets/1", method: .get, headers: [.ifNoneMatch: "\"1\""])
      #expect(again.status == .notModified && again.body.readableBytes == 0)
      #expect(try await client.execute(uri: "/tickets/2", method: .get).status == .notFound)
    }
  }

  @Test func `of changes to one version one wins`() async throws {
    try await test { client in
      _ = try await Self.add("Printer", client)
      #expect(try await Self.change("x", from: nil, client) == .preconditionRequired)
      #expect(try await Self.change("x", from: "\"7\"", client) == .preconditionFailed)
      let statuses = try await withThrowingTaskGroup(of: HTTPResponse.Status.self) { group in
        for number in 0..<8 {
          group.addTask { try await Self.change("change \(number)", from: "\"1\"", client) }
        }
        return try await group.reduce(into: []) { $0.append($1) }
      }
      #expect(statuses.count { $0 == .ok } == 1 && statuses.count { $0 == .preconditionFailed } == 7)
      let deleted = try await client.execute(
        uri: "/tickets/1", method: .delete, headers: [.ifMatch: "\"2\""])
      #expect(deleted.status == .noContent)
    }
  }

  @Test func `the number and the ETag of a deleted ticket mean no other one`() async throws {
    try await test { client in
      _ = try await Self.add("Coffee is out", client)
      _ = try await client.execute(uri: "/tickets/1", method: .delete, headers: [.ifMatch: "\"1\""])
      let next = try await Self.add("Printer is on fire", client)
      #expect(next.headers[.location] == "/tickets/2")
      #expect(try await Self.change("Coffee is there", from: "\"1\"", client) == .notFound)
    }
  }

  @Test func `pages follow one another, and numbers are given once`() async throws {
    try await test { client in
      try await withThrowingTaskGroup(of: Void.self) { group in
        for number in 0..<25 { group.addTask { _ = try await Self.add("ticket \(number)", client) } }
        try await group.waitForAll()
      }
      var (numbers, next): ([Int64], String?) = ([], "/tickets?limit=10")
      while let uri = next {
        let body = try await client.execute(uri: uri, method: .get).body
        let page = try JSONDecoder().decode(TicketPage.self, from: Data(buffer: body))
        numbers += page.tickets.map(\.number)
        next = page.next
      }
      #expect(numbers == Array(1...25))
    }
  }

  @Test func `health and metrics tell of the store`() async throws {
    try await test { client in
      _ = try await Self.add("Printer", client)
      let health = try await client.execute(uri: "/health", method: .get)
      #expect(health.status == .ok && String(buffer: health.body).hasPrefix("generation "))
      let metrics = String(buffer: try await client.execute(uri: "/metrics", method: .get).body)
      #expect(metrics.contains("heartwood_saves 1\n"), "\(metrics)")
      #expect(metrics.contains("heartwood_save_duration_seconds_count 1\n"))
    }
  }
}
