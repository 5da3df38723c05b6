import Foundation
import GraphTestSupport
import Heartwood
import Testing

/// Release builds print nothing for a failed `precondition`; this suite holds in both configurations.
@Suite struct `Program errors` {
  private func text(_ result: ExitTest.Result?) -> String {
    String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
  }

  @Test func `a name that the entity does not have ends the process with the rule, the file and the names`()
    async
  {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let company = try makeContainer().newBackgroundContext().makeCompany("A")
      company.setValue(1, forKey: "colour")
    }
    #expect(text(result).contains("Heartwood: Company has no property called \"colour\"; it has"))
    #expect(text(result).contains("Heartwood/ManagedObject+Keys.swift:"))
  }

  @Test func `deleting through another context ends the process with the rule`() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let container = try makeContainer()
      let company = container.newBackgroundContext().makeCompany("A")
      container.newBackgroundContext().delete(company)
    }
    #expect(text(result).contains("Heartwood: Company cannot be deleted through a context"))
  }

  // REL-19
  @Test func `relating objects of two contexts ends the process with the relationship and the way out`() async
  {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let container = try makeContainer()
      let (here, there) = (container.newBackgroundContext(), container.newBackgroundContext())
      let company = there.makeCompany("A")
      here.makePerson("Ada").company = company
    }
    #expect(text(result).contains("Heartwood: Person.company: the destination belongs to another context"))
    #expect(text(result).contains("pass its objectID and ask for the object in this context"))
  }
}
