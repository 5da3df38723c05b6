import Foundation
import Heartwood
import HeartwoodObservability
import Hummingbird
import Logging

/// The store, its figures, and what answers requests.
struct Server {
  let store: TicketStore
  let metrics = TextMetrics()
  let logger: Logger

  init(storeAt url: URL, logger: Logger = Logger(label: "tickets")) throws {
    self.logger = logger
    store = try TicketStore(at: url, observer: .observability(logger: logger, metrics: metrics))
  }

  func application(port: Int) -> some ApplicationProtocol {
    let router = Router()
    router.get("health") { [store, logger] _, _ -> EditedResponse<String> in
      do {
        return EditedResponse(response: "generation \(try store.generation())\n")
      } catch {
        logger.error("the store cannot be read", metadata: ["error": "\(error)"])
        return EditedResponse(status: .serviceUnavailable, response: "the store cannot be read\n")
      }
    }
    router.get("metrics") { [metrics] _, _ in metrics.text }
    TicketRoutes(store: store).add(to: router)
    return Application(
      router: router, configuration: ApplicationConfiguration(address: .hostname("127.0.0.1", port: port)),
      logger: logger)
  }
}

@main
struct Main {
  static func main() async throws {
    let environment = ProcessInfo.processInfo.environment
    let place = environment["TICKETS"] ?? "tickets.heartwood"
    let server = try Server(storeAt: URL(fileURLWithPath: place))
    // Returns once SIGTERM or SIGINT has come and the requests that ran are answered.
    try await server.application(port: environment["PORT"].flatMap(Int.init) ?? 8080).runService()
    try server.store.close()
  }
}
