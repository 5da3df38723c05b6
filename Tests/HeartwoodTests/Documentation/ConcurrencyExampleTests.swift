import Foundation
import Heartwood
import Observation
import Testing

final class Job: ManagedObject {
  @Attribute var title = ""
  @Attribute var isDone = false
}

actor Jobs: ModelActor {
  let modelExecutor: ContextExecutor
  init(_ container: PersistentContainer) { modelExecutor = ContextExecutor(container.newBackgroundContext()) }

  func finish(_ id: ManagedObjectID) throws -> ObjectSnapshot {
    let job: Job = try modelContext.existingObject(with: id)
    job.isDone = true
    try modelContext.save()
    return job.snapshot()
  }
}

@Suite struct `Examples of the article on concurrency` {
  private final class Changes: @unchecked Sendable { var count = 0 }

  @Test func `blocks, actors, snapshots, predicates and observation`() async throws {
    let container = try PersistentContainer(
      name: "Jobs", types: [Job.self], at: URL(fileURLWithPath: "/dev/null"))
    let background = container.newBackgroundContext()
    let id = try await background.perform {
      let task = Job(context: background)
      task.title = "Write"
      try background.save()
      return task.objectID
    }
    try await look(at: id, in: container)
    let jobs = Jobs(container)
    try await edit(id, of: jobs, in: container)
    try await predicates(background)
  }

  private func look(at id: ManagedObjectID, in container: PersistentContainer) async throws {
    let main = container.newBackgroundContext()
    let title = main.performAndWait { main.object(with: id, as: Job.self).title }
    let count = try await container.performBackgroundTask { context in try context.count(Job.self) }
    #expect(title == "Write" && count == 1)
  }

  private func edit(_ id: ManagedObjectID, of jobs: Jobs, in container: PersistentContainer) async throws {
    var draft = try await jobs.finish(id)
    draft[\Job.title] = "Write more"
    try await container.performBackgroundTask { [draft] main in
      try main.apply(draft)
      try main.save()
    }
  }

  private func predicates(_ background: ManagedObjectContext) async throws {
    let open = Where<Job> { !$0.isDone }
    let titles = try await background.perform {
      try background.fetch(open, sort: [.ascending(\.title)]).map(\.title)
    }
    #expect(titles.isEmpty)
  }

  @Test func `changes of a property are observed`() throws {
    let container = try PersistentContainer(
      name: "Jobs", types: [Job.self], at: URL(fileURLWithPath: "/dev/null"))
    let context = container.newBackgroundContext()
    context.isObservable = true
    let job = Job(context: context)
    let changes = Changes()
    withObservationTracking {
      _ = job.title
    } onChange: {
      changes.count += 1
    }
    job.title = "Write"
    #expect(changes.count == 1)
  }
}
