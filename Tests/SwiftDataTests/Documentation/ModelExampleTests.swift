import Foundation
import SwiftData
import TestSupport
import Testing

@Suite struct `Examples of the article on models` {
  @Test func `models that others lead to are saved with them`() throws {
    let folder = try TemporaryFolder()
    let url = folder.url.appending(path: "Projects.store")
    do {
      let container = try ModelContainer(for: Project.self, configurations: ModelConfiguration(url: url))
      let context = ModelContext(container)
      let project = Project(key: "P")
      let ticket = Ticket(project, 1)
      context.insert(ticket)
      try context.save()
    }
    let container = try ModelContainer(for: Project.self, configurations: ModelConfiguration(url: url))
    #expect(try ModelContext(container).fetch(FetchDescriptor<Project>()).map(\.key) == ["P"])
  }
}
