import GraphTestSupport
import Testing

@testable import Heartwood

/// Expects that threads that save objects of their own, one by one, and refused ones between them, find all in the store that is opened
/// again.
///
/// - Parameter open: Opens the store, of the entities of `companyTypes`.
func expectSavesOfThreadsAreKept(_ open: () throws -> PersistentContainer) async throws {
  let container = try open()
  let (threads, saves) = (4, 20)
  try await withThrowingTaskGroup(of: Void.self) { group in
    for thread in 0..<threads {
      group.addTask {
        let context = container.newBackgroundContext()
        for number in 0..<saves {
          try context.performAndWait {
            _ = context.makeCompany("\(thread)-\(number)")
            try context.save()
            // Refused, as another has the code.
            _ = context.makeCompany("\(thread)-0")
            #expect(heartwoodError { try context.save() } != nil)
            context.rollback()
          }
        }
      }
    }
    try await group.waitForAll()
  }
  try container.close()
  let again = try open()
  #expect(try again.newBackgroundContext().count(for: FetchRequest<Company>()) == threads * saves)
  try again.close()
}
