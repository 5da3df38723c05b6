import Testing
import Workload

@Suite struct TransactionsTests {
  @Test func `the same seed makes the same transactions and another makes others`() {
    let (one, same, other) = (Transactions(seed: 1), Transactions(seed: 1), Transactions(seed: 2))
    #expect((1...50).allSatisfy { one.changes(of: $0) == same.changes(of: $0) })
    #expect((1...50).contains { one.changes(of: $0) != other.changes(of: $0) })
  }

  @Test func `the state after transactions is what their changes leave`() {
    let transactions = Transactions(seed: 3)
    var state = transactions.state(after: 40)
    for change in transactions.changes(of: 41) { state[change.key] = change.value }
    #expect(state == transactions.state(after: 41))
    #expect(transactions.state(after: 0).isEmpty)
  }

  @Test func `two puts have different bytes`() {
    let values = (1...20).flatMap { transaction in
      (0..<5).map { ValueRecipe(transaction: transaction, index: $0, length: 33).bytes }
    }
    #expect(Set(values).count == values.count)
    #expect(values.allSatisfy { $0.count == 33 })
  }

  @Test func `a counter is read as it was written, and nothing else is read as one`() {
    #expect(Transactions.number(in: Transactions.counter(1234)) == 1234)
    #expect(Transactions.number(in: Array("12x".utf8)) == nil)
  }
}
