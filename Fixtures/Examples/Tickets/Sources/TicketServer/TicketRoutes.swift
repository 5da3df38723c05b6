import Hummingbird

/// The tickets over HTTP.
struct TicketRoutes: Sendable {
  let store: TicketStore

  func add(to router: Router<BasicRequestContext>) {
    let group = router.group("tickets")
    group.get { request, _ in try await page(request) }
    group.post { request, context in try await add(request, context) }
    group.get(":number") { request, context in try await ticket(request, context) }
    group.put(":number") { request, context in try await change(request, context) }
    group.delete(":number") { request, context in try await delete(request, context) }
  }

  private func page(_ request: Request) async throws -> TicketPage {
    let parameters = request.uri.queryParameters
    let limit = min(max(parameters.get("limit", as: Int.self) ?? 20, 1), 100)
    let after = parameters.get("after", as: Int64.self) ?? 0
    // One more than the page says whether there is a next one.
    let found = try await store.page(after: after, limit: limit + 1)
    let page = Array(found.prefix(limit))
    let next = found.count > limit ? page.last.map { "/tickets?after=\($0.number)&limit=\(limit)" } : nil
    return TicketPage(tickets: page, next: next)
  }

  private func add(_ request: Request, _ context: BasicRequestContext) async throws -> EditedResponse<
    TicketBody
  > {
    let ticket = try await store.add(request.decode(as: TicketChange.self, context: context))
    var response = tagged(ticket, .created)
    response.headers[.location] = "/tickets/\(ticket.number)"
    return response
  }

  private func ticket(_ request: Request, _ context: BasicRequestContext) async throws -> Response {
    let ticket = try await answering { try await store.ticket(try number(context)) }
    let response = tagged(ticket, .ok)
    guard request.headers[.ifNoneMatch] == response.headers[.eTag] else {
      return try response.response(from: request, context: context)
    }
    return Response(status: .notModified, headers: response.headers)
  }

  private func change(
    _ request: Request, _ context: BasicRequestContext
  ) async throws -> EditedResponse<TicketBody> {
    let change = try await request.decode(as: TicketChange.self, context: context)
    return try await answering {
      tagged(try await store.change(try number(context), version: try version(request), to: change), .ok)
    }
  }

  private func delete(_ request: Request, _ context: BasicRequestContext) async throws -> HTTPResponse.Status
  {
    try await answering { try await store.delete(try number(context), version: try version(request)) }
    return .noContent
  }

  private func number(_ context: BasicRequestContext) throws -> Int64 {
    try context.parameters.require("number", as: Int64.self)
  }

  /// The version that the client has read.
  private func version(_ request: Request) throws -> Int64 {
    guard let tag = request.headers[.ifMatch] else {
      throw HTTPError(.preconditionRequired, message: "give the ETag of the ticket as If-Match")
    }
    guard let version = Int64(tag.trimmingPrefix("\"").prefix { $0 != "\"" }) else {
      throw HTTPError(.preconditionFailed)
    }
    return version
  }

  private func tagged(_ ticket: TicketBody, _ status: HTTPResponse.Status) -> EditedResponse<TicketBody> {
    EditedResponse(status: status, headers: [.eTag: "\"\(ticket.version)\""], response: ticket)
  }

  /// Refusals of the store as statuses.
  private func answering<Result>(_ body: () async throws -> Result) async throws -> Result {
    do {
      return try await body()
    } catch TicketStore.Refusal.notFound {
      throw HTTPError(.notFound)
    } catch TicketStore.Refusal.isNewer {
      throw HTTPError(.preconditionFailed, message: "the ticket has changed: read it again")
    }
  }
}
