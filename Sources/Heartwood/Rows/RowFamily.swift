/// The entities of a root entity's family with their layouts, found by the number that every row begins with.
///
/// It is never deallocated, like the models that it is made for: rows are validated by the million, and
/// counting references to their layouts would cost more than the validation.
struct RowFamily: @unchecked Sendable {
  private struct Member {
    let number: UInt16
    let entity: Unmanaged<EntityDescription>
    let layout: Unmanaged<RowLayout>
  }

  /// By number, ascending.
  private let members: UnsafeBufferPointer<Member>

  init(_ members: [(entity: EntityDescription, layout: RowLayout)]) {
    let table = UnsafeMutableBufferPointer<Member>.allocate(capacity: members.count)
    let sorted = members.sorted { $0.layout.entityNumber < $1.layout.entityNumber }
    for (place, member) in sorted.enumerated() {
      table.initializeElement(
        at: place,
        to: Member(
          number: member.layout.entityNumber, entity: .passRetained(member.entity),
          layout: .passRetained(member.layout)))
    }
    self.members = UnsafeBufferPointer(table)
  }

  var entities: [EntityDescription] { members.map { $0.entity.takeUnretainedValue() } }

  /// The layout of rows with this entity number; nil if the family has no such entity.
  @inline(__always)
  func layout(_ number: UInt16) -> Unmanaged<RowLayout>? {
    place(of: number).map { members[$0].layout }
  }

  @inline(__always)
  func entity(_ number: UInt16) -> EntityDescription? {
    place(of: number).map { members[$0].entity.takeUnretainedValue() }
  }

  @inline(__always)
  private func place(of number: UInt16) -> Int? {
    if members.count == 1 { return members[0].number == number ? 0 : nil }
    return searched(number)
  }

  private func searched(_ number: UInt16) -> Int? {
    var low = 0
    var high = members.count
    while low < high {
      let middle = (low + high) / 2
      if members[middle].number < number { low = middle + 1 } else { high = middle }
    }
    return low < members.count && members[low].number == number ? low : nil
  }
}
