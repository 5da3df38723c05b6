import Heartwood
import HeartwoodBrowser

/// Answers the requests of a page about a store.
struct PageRoutes: Sendable {
  let served: ServedStore
  let feed: ChangeFeed

  /// - Parameters:
  ///   - path: The parts behind the token.
  ///   - client: Who asks. If it is gone before it is answered, the scans for it end.
  func response(
    _ path: ArraySlice<String>, _ query: [String: String], _ client: RequestClient? = nil
  ) -> Response {
    if let file = PageFiles.response(path) { return file }
    guard path.count == 2, path.first == "api", let name = path.last else { return Self.missing }
    let present = served.present
    // Events are written until the client is gone.
    if name == "changes" { return present.store.hasGenerations ? feed.response : Self.missing }
    let control = ScanControl()
    client?.whenGone { control.cancel() }
    return control.during { (answer(name, PageQuery(query), present) ?? Self.missing).ended(by: control) }
  }

  /// - Parameter isFirst: Whether the store is opened again if another program has migrated it.
  private func answer(
    _ name: String, _ query: PageQuery, _ present: ServedStore.Present, isFirst: Bool = true
  ) -> Response? {
    do throws(CommandFailure) {
      return try response(name, query, present)
    } catch {
      if isFirst, error.isOfFormerModel, let newer = served.renewed(present) {
        return answer(name, query, newer, isFirst: false)
      }
      guard let absence = present.absence else { return Self.failure(error) }
      return Self.failure(CommandFailure(.noInput, "\(absence): \(error.message)"))
    }
  }

  private static let missing = Response(Refusal(.notFound, "there is nothing here"))

  private func response(
    _ name: String, _ query: PageQuery, _ present: ServedStore.Present
  ) throws(CommandFailure) -> Response? {
    let store = present.store
    switch name {
    case "value": return try ValueDownload(store: store).response(query)
    case "download": return try RowsDownload(store: store).response(query)
    case "diagram.svg": return DiagramPage(store: store).image
    case "store": return Self.json(try StoreOverview(present).json(at: query.generation()))
    default: return try json(name, query, store).map { Self.json($0) }
    }
  }

  private func json(
    _ name: String, _ query: PageQuery, _ store: BrowsedStore
  ) throws(CommandFailure) -> JSONValue? {
    switch name {
    case "rows": try RowsPage(store: store).json(query)
    case "count": try RowsPage(store: store).count(query)
    case "analysis": try RowsPage(store: store).analysis(query)
    case "object": try ObjectPage(store: store).json(query)
    case "related": try RelatedPage(store: store).related(query)
    case "referrers": try RelatedPage(store: store).referrers(query)
    case "completion": try ConditionCompletion(model: store.model).json(query)
    case "transactions": try HistoryPage(store: store).transactions(query)
    case "generations": try HistoryPage(store: store).generations(query)
    case "differences": try HistoryPage(store: store).differences(query)
    case "diagram": DiagramPage(store: store).places
    default: nil
    }
  }

  private static func json(_ value: JSONValue, _ status: Status = .ok) -> Response {
    Response(status, type: "application/json; charset=utf-8", text: JSONWriter.line(value))
  }

  private static func failure(_ failure: CommandFailure) -> Response {
    let status: Status =
      switch failure.code {
      case .noInput: .notFound
      case .usage: .badRequest
      default: .internalError
      }
    let column = failure.message.firstMatch(of: #/at column (\d+)/#).flatMap { Int64($0.output.1) }
    let error = JSONObject([
      ("error", .string(failure.message)), ("column", column.map(JSONValue.integer) ?? .null),
    ])
    return json(.object(error), status)
  }
}

extension Response {
  /// The same answer, in which scans end that a control cancels.
  fileprivate func ended(by control: ScanControl) -> Response {
    guard case .stream(let body) = body else { return self }
    var response = Response(status, type: type, .stream { write in try control.during { try body(write) } })
    response.fields = fields
    return response
  }
}
